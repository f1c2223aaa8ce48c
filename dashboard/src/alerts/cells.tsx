// What a row of the alerts says: the tank, its owner, and why the alert was opened.

import type { Alert, FleetTank } from "../../../client/src/index.ts";
import { CLOSE_REASONS } from "../components/alert-kinds.tsx";
import { ago, percent, phoneLink, place } from "../format.ts";
import { customerPath, href, tankPath } from "../location.ts";
import { reasonOf } from "./reason.ts";

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
      <span class="clamp" title={name}>
        <a href={href(customerPath(id))} dir="auto">
          {name}
        </a>
      </span>
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
        {closed_at === null ? "Latest reading" : "At the end"} {percent(latest_fill_percentage)},{" "}
        <span class="nowrap">{ago(latest_reading_at)}</span>
      </span>
      {acknowledged_at === null ? null : (
        <span class="dim clamp" title={acknowledgedBy} dir="auto">
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
