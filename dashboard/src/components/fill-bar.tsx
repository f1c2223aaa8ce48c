// The fill of a tank as a bar and in percent, with its threshold as a mark, in the colour of its urgency.

import type { FleetTank } from "../../../client/src/index.ts";
import { percent, thresholdPercent } from "../format.ts";
import type { Tone } from "./alert-kinds.tsx";

export function FillBar({ entry }: { readonly entry: FleetTank }) {
  if (entry.latest === null) return <span class="dim">no reading</span>;
  const fill = entry.latest.fill_percentage;
  const threshold = entry.tank.min_fill_alert_percentage;
  const inWords = thresholdPercent(threshold);
  const tone = toneOf(entry);
  return (
    <span class={tone === undefined ? "level" : `level tone-${tone}`} title={`Threshold ${inWords}`}>
      <span class="level-bar" aria-hidden="true" style={{ "--level": String(fill), "--threshold": String(threshold) }} />
      <span class="number">
        {percent(fill)}
        <span class="hidden">, threshold {inWords}</span>
      </span>
    </span>
  );
}

/** The time within which the person who plans deliveries has to act. */
const SOON_DAYS = 7;

function toneOf({ state, days_left }: FleetTank): Tone | undefined {
  if (state === "low") return "low";
  return (days_left?.p50 ?? Number.POSITIVE_INFINITY) <= SOON_DAYS ? "soon" : undefined;
}
