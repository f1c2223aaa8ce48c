// What somebody who plans a delivery has to know of a tank, as figures.

import type { ComponentChildren } from "preact";
import type { FleetTank, Forecast } from "../../../client/src/index.ts";
import { FillBar } from "../components/fill-bar.tsx";
import { isRefillUnconfirmed, unconfirmedJump } from "../components/tank-state.ts";
import { ago, date, emptyIn, emptyRange, percent, rangeOf, volume, whole } from "../format.ts";

const DAY_SECONDS = 86_400;

export function Figures({ entry }: { readonly entry: FleetTank }) {
  const { tank, remaining, room, forecast, days_left } = entry;
  const use = forecast.use_per_day;
  const delivery = isRefillUnconfirmed(entry) ? null : forecast.suggested_delivery;
  const isDue = entry.state === "low" || (delivery !== null && Date.parse(delivery.by) <= Date.now());
  return (
    <dl class="figures tank-figures">
      <Figure label="Level" note={levelNote(entry)}>
        <FillBar entry={entry} />
      </Figure>
      <Figure label="In the tank" note={`of ${volume({ volume: tank.capacity, unit: tank.capacity_unit })}`}>
        {remaining === null ? "–" : volume(remaining)}
      </Figure>
      <Figure label="Use per day" note={use === null ? null : percent(use.percentage)}>
        {use === null ? "–" : volume(use)}
      </Figure>
      <Figure label="Days left" note={unbroken(daysNote(entry))}>
        {entry.state === "low" ? unbroken(emptyIn(entry)) : days_left?.p50 == null ? "–" : inDays(days_left.p50)}
      </Figure>
      <Figure label="Room for a delivery" note={room === null ? null : "up to the whole capacity"}>
        {room === null ? "–" : volume(room)}
      </Figure>
      <Figure label="Suggested delivery" note={delivery === null ? null : `${volume(delivery)}, up to its usual full level`}>
        {isDue ? "now" : delivery === null ? "–" : `by ${date(delivery.by)}`}
      </Figure>
    </dl>
  );
}

type FigureProps = { readonly label: string; readonly note: ComponentChildren; readonly children: ComponentChildren };

function Figure({ label, note, children }: FigureProps) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
      {note === null ? null : <dd class="figure-note">{note}</dd>}
    </div>
  );
}

/** Measured, and how long ago. After a day, also what is probably left. */
function levelNote({ latest, age_seconds, forecast }: FleetTank): string {
  if (latest === null || age_seconds === null) return "Its device has not sent a reading yet.";
  const age = Math.max(age_seconds, (Date.now() - Date.parse(latest.created_at)) / 1000);
  const measured = `measured ${ago(latest.created_at)}`;
  const use = forecast.use_per_day?.percentage;
  if (use === undefined || age < DAY_SECONDS) return measured;
  const estimate = Math.max(0, latest.fill_percentage - (use * age) / DAY_SECONDS);
  return `${measured}; estimated now: ${percent(estimate)}`;
}

/** No line ends between a number and its unit. */
const unbroken = (text: string | null): string | null => text?.replaceAll(/(?<=\d) (?=days|h\b|min\b|%)/g, "\u00a0") ?? null;

const inDays = (days: number): string => (Math.round(days) === 0 ? "less than a day" : whole(days));

function daysNote(entry: FleetTank): string | null {
  const { state, days_left } = entry;
  if (state === "low") {
    const range = emptyRange(entry);
    return range === undefined ? "at or below the threshold" : `probably ${rangeOf(range, "many", " to ")} ${range.unit} (80 %)`;
  }
  const jump = unconfirmedJump(entry);
  if (jump !== undefined) return `after ${jump}: new forecast in a day or two`;
  if (days_left === null) return null;
  if (days_left.p50 === null) return "not within three years";
  if (days_left.p90 !== null && Math.round(days_left.p90) === 0) return null;
  return `probably ${rangeOf(days_left, "many", " to ")} (80 %)`;
}

/** Why there is no forecast, in words for whoever plans deliveries. */
export function ForecastNote({ forecast, hasReading }: { readonly forecast: Forecast; readonly hasReading: boolean }) {
  const text = hasReading ? noteOf(forecast) : null;
  return text === null ? null : <p class="hint">{text}</p>;
}

function noteOf({ state, computed_at }: Forecast): string | null {
  if (state === "ok") return null;
  if (computed_at === null) return "The forecast will be computed shortly.";
  switch (state) {
    case "insufficient_data":
      return "No forecast yet: it needs about five days of consistent readings.";
    case "no_use":
      return "The readings show no measurable use, so there is no forecast of when the tank runs low.";
    case "stale":
      return "The last reading is too old for a forecast. Check the device: its battery, its reception, or whether it was removed.";
  }
}
