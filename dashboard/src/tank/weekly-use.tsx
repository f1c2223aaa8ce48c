// What was used in each of the last weeks, as bars: how far the level fell, plus what was filled in.

import { useMemo, useState } from "preact/hooks";
import type { FleetTank, Refill } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { NotLoaded } from "../components/states.tsx";
import { date, percent, volume } from "../format.ts";
import { useLive } from "../live.ts";
import { WEEK_MS, type Week, weeklyUse } from "./weekly.ts";

const WEEKS = 26;
const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone;

type Props = { readonly entry: FleetTank; readonly refills: readonly Refill[] };

export function WeeklyUse({ entry, refills }: Props) {
  const { tank } = entry;
  const { data, error, refresh } = useLive(`weeks ${tank.id}`, (signal) => {
    const from = new Date(Math.floor(Date.now() / WEEK_MS - WEEKS) * WEEK_MS).toISOString();
    return api.insight.tanks.series(tank.id, { from, step: "1w", timezone, signal });
  });
  const weeks = useMemo(() => data && weeklyUse(data.buckets, refills, Date.now()), [data, refills]);
  const most = Math.max(0.1, ...(weeks ?? []).map(({ used }) => used ?? 0));
  const [chosen, setChosen] = useState<string>();
  const shown = weeks?.find(({ start }) => start === chosen) ?? weeks?.at(-1);
  const words = (used: number) => volume({ volume: (used * tank.capacity) / 100, unit: tank.capacity_unit });
  const inWords = ({ start, used }: Week) =>
    `Week from ${date(start)}: ${used === null ? "not known" : `${words(used)} (${percent(used)})`}`;
  return (
    <section class="card" aria-labelledby="use">
      <div class="card-head">
        <h2 id="use">Use per week</h2>
        {weeks === undefined || weeks.length === 0 ? null : <span class="dim">up to {words(most)}</span>}
      </div>
      {weeks === undefined ? <NotLoaded live={{ error, refresh }} /> : null}
      {weeks?.length === 0 ? <p class="dim">Bars appear after two weeks of readings.</p> : null}
      {weeks === undefined || weeks.length === 0 ? null : (
        <>
          <div class="bars" role="radiogroup" aria-labelledby="use">
            {weeks.map((week, index) => (
              <label
                key={week.start}
                class={week.used === null ? "unknown" : index === weeks.length - 1 ? "current" : undefined}
                style={{ "--part": String((week.used ?? 0) / most) }}
                title={inWords(week)}
              >
                <input
                  type="radio"
                  name="week"
                  aria-label={inWords(week)}
                  checked={week === shown}
                  onChange={() => setChosen(week.start)}
                />
              </label>
            ))}
          </div>
          <p class="bars-axis dim">
            <span>{date(weeks[0]?.start ?? "")}</span>
            <span>this week so far</span>
          </p>
          {shown === undefined ? null : <p class="strong">{inWords(shown)}</p>}
          <p class="dim">How far the level fell from one Sunday to the next, plus what was filled in.</p>
        </>
      )}
    </section>
  );
}
