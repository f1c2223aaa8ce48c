// What a row of the alerts says: the tank, its owner, and why the alert was opened.

import type { Alert, FleetTank } from "../../../client/src/index.ts";
import { CLOSE_REASONS } from "../components/alert-kinds.tsx";
import { isRefillUnconfirmed } from "../components/tank-state.ts";
import { ago, dateTime, percent, phoneLink, place, timeUntil } from "../format.ts";
import { customerPath, href, tankPath } from "../location.ts";
import { may } from "../session.ts";

type Entry = FleetTank | undefined;

export function TankName({ id, entry }: { readonly id: string; readonly entry: Entry }) {
  return (
    <>
      <a href={href(tankPath(id))} dir="auto">
        {entry?.tank.name ?? id}
      </a>
      {entry === undefined ? null : <span class="dim block">{place(entry.tank.location)}</span>}
    </>
  );
}

export function Owner({ entry }: { readonly entry: Entry }) {
  if (entry === undefined) return null;
  const { id, name, phone } = entry.customer;
  return (
    <>
      {may("viewer") ? (
        <a href={href(customerPath(id))} dir="auto">
          {name}
        </a>
      ) : (
        <span dir="auto">{name}</span>
      )}
      {phone === null ? null : (
        <a class="block" href={phoneLink(phone)}>
          {phone}
        </a>
      )}
    </>
  );
}

type DetailsProps = { readonly alert: Alert; readonly entry: Entry; readonly acknowledgedBy: string | undefined };

/** Why it was opened, how it is now, and what became of it. */
export function AlertDetails({ alert, entry, acknowledgedBy }: DetailsProps) {
  const { latest_fill_percentage, latest_reading_at, acknowledged_at, closed_at, close_reason, note } = alert;
  return (
    <>
      <span>{reasonOf(alert, entry)}</span>
      <span class="dim block">
        {closed_at === null ? "Now" : "At the end"} {percent(latest_fill_percentage)}, {ago(latest_reading_at)}
      </span>
      {acknowledged_at === null ? null : (
        <span class="dim block" dir="auto">
          Acknowledged {ago(acknowledged_at)}
          {acknowledgedBy === undefined ? "" : ` by ${acknowledgedBy}`}
        </span>
      )}
      {closed_at === null || close_reason === null ? null : (
        <span class="dim block">
          Closed {ago(closed_at)}: {CLOSE_REASONS[close_reason]}
        </span>
      )}
      {note === null || note === "" ? null : (
        <span class="block" dir="auto">
          “{note}”
        </span>
      )}
    </>
  );
}

function reasonOf(alert: Alert, entry: Entry): string {
  const { kind, state, fill_percentage, threshold, runs_low_at, leak, latest_reading_at } = alert;
  if (kind === "low") return `${percent(fill_percentage)}, at or below ${percent(threshold)}`;
  // The latest reading of a closed one may be the reading that closed it.
  if (kind === "silent")
    return state === "closed" ? "No reading for too long" : `No reading since ${dateTime(latest_reading_at)}`;
  if (kind === "leak") return leakReason(leak);
  if (state !== "closed" && entry !== undefined && isRefillUnconfirmed(entry))
    return "Low soon before a refill; new forecast in a day or two";
  const left = runs_low_at === null ? undefined : timeUntil(runs_low_at);
  return left === undefined ? "Low soon" : `Low in about ${left}`;
}

function leakReason(leak: Alert["leak"]): string {
  if (leak === null) return "Use far above normal";
  const { since, percentage_per_day, percentage_lost } = leak;
  if (percentage_lost !== null) return `${percent(percentage_lost)} lost at once, ${ago(since)}`;
  return percentage_per_day === null ? "Use far above normal" : `${percent(percentage_per_day)} a day above normal use`;
}
