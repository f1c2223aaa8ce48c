// What was used in each of the last weeks, as bars: how far the level fell, plus what was filled in.

import { useMemo } from "preact/hooks";
import type { FleetTank, Refill, Series } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { ErrorState, Loading } from "../components/states.tsx";
import { date, percent, volume } from "../format.ts";
import { useLive } from "../live.ts";

const WEEKS = 26;
const WEEK_MS = 7 * 86_400_000;
const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone;

type Week = { readonly start: string; readonly used: number | null };

/** A rise that is more than noise and not among the refills yet: the use is not known. */
const NOISE = 1;

/** In percentage points; null where it cannot be known. The first week has none before it. */
export function weeklyUse(buckets: Series["buckets"], refills: readonly Refill[]): Week[] {
  return buckets.slice(1).map(({ start, last }, index) => {
    const before = buckets[index];
    const [from, to] = [Date.parse(start), Date.parse(buckets[index + 2]?.start ?? "") || Date.parse(start) + WEEK_MS];
    // An hour more than a week where clocks change.
    const isNext = before !== undefined && from - Date.parse(before.start) < WEEK_MS * 1.1;
    if (!isNext) return { start, used: null };
    const filled = refills
      .filter(({ ended_at }) => Date.parse(ended_at) >= from && Date.parse(ended_at) < to)
      .reduce((sum, refill) => sum + refill.to_percentage - refill.from_percentage, 0);
    const used = before.last - last + filled;
    return { start, used: used < -NOISE ? null : Math.max(0, used) };
  });
}

type Props = { readonly entry: FleetTank; readonly refills: readonly Refill[] };

export function WeeklyUse({ entry, refills }: Props) {
  const { tank } = entry;
  const { data, error, refresh } = useLive(`weeks ${tank.id}`, (signal) => {
    const from = new Date(Math.floor(Date.now() / WEEK_MS - WEEKS) * WEEK_MS).toISOString();
    return api.insight.tanks.series(tank.id, { from, step: "1w", timezone, signal });
  });
  const weeks = useMemo(() => data && weeklyUse(data.buckets, refills), [data, refills]);
  const most = Math.max(0.1, ...(weeks ?? []).map(({ used }) => used ?? 0));
  const words = (used: number) => volume({ volume: (used * tank.capacity) / 100, unit: tank.capacity_unit });
  return (
    <section class="card" aria-labelledby="use">
      <div class="card-head">
        <h2 id="use">Use per week</h2>
        {weeks === undefined || weeks.length === 0 ? null : <span class="dim">up to {words(most)}</span>}
      </div>
      {weeks === undefined ? error === undefined ? <Loading /> : <ErrorState error={error} retry={refresh} /> : null}
      {weeks?.length === 0 ? <p class="dim">Bars appear after two weeks of readings.</p> : null}
      {weeks === undefined || weeks.length === 0 ? null : (
        <>
          <ol class="bars">
            {weeks.map(({ start, used }, index) => (
              <li
                key={start}
                class={index === weeks.length - 1 ? "present" : undefined}
                style={{ "--part": String((used ?? 0) / most) }}
                title={`Week from ${date(start)}: ${used === null ? "not known" : `${words(used)} (${percent(used)})`}`}
              >
                <span class="hidden">
                  Week from {date(start)}: {used === null ? "not known" : words(used)}
                </span>
              </li>
            ))}
          </ol>
          <p class="bars-axis dim">
            <span>{date(weeks[0]?.start ?? "")}</span>
            <span>this week so far</span>
          </p>
          <p class="dim">How far the level fell from one Sunday to the next, plus what was filled in.</p>
        </>
      )}
    </section>
  );
}
