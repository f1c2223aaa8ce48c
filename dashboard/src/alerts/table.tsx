// Alerts of one page with their tanks, and what can be done about each.

import { useState } from "preact/hooks";
import type { Alert, FleetTank } from "../../../client/src/index.ts";
import { CLOSE_REASONS } from "../components/alert-kinds.tsx";
import { AlertBadge } from "../components/badge.tsx";
import { ago, dateTime, duration, percent, place } from "../format.ts";
import { href, tankPath } from "../location.ts";
import { may } from "../session.ts";
import { AcknowledgeDialog, CloseDialog, PauseDialog } from "./dialogs.tsx";
import { NotificationsDialog } from "./notifications.tsx";
import { useTanks } from "./tanks.ts";

type TableProps = { readonly alerts: readonly Alert[]; readonly changed: () => Promise<void> };

export function AlertTable({ alerts, changed }: TableProps) {
  const tanks = useTanks(alerts.map(({ tank_id }) => tank_id));
  return (
    <div class="table-box">
      <table class="table cards">
        <thead>
          <tr>
            <th scope="col">Alert</th>
            <th scope="col">Tank</th>
            <th scope="col">Customer</th>
            <th scope="col">What was seen</th>
            <th scope="col">
              <span class="hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {alerts.map((alert) => (
            <Row key={alert.id} alert={alert} entry={tanks.get(alert.tank_id)} changed={changed} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

type RowProps = { readonly alert: Alert; readonly entry: FleetTank | undefined; readonly changed: () => Promise<void> };

function Row({ alert, entry, changed }: RowProps) {
  const { tank_id, opened_at } = alert;
  return (
    <tr>
      <td>
        <AlertBadge alert={alert} />
        <time class="dim block" dateTime={opened_at} title={`Opened ${dateTime(opened_at)}`}>
          {ago(opened_at)}
        </time>
      </td>
      <td>
        <a href={href(tankPath(tank_id))} dir="auto">
          {entry?.tank.name ?? tank_id}
        </a>
        {entry === undefined ? null : <span class="dim block">{place(entry.tank.location)}</span>}
      </td>
      <td>{entry === undefined ? null : <Owner customer={entry.customer} />}</td>
      <td>
        <Seen alert={alert} />
      </td>
      <td>
        <Actions alert={alert} changed={changed} />
      </td>
    </tr>
  );
}

function Owner({ customer: { name, phone } }: { readonly customer: FleetTank["customer"] }) {
  return (
    <>
      <span dir="auto">{name}</span>
      {phone === null ? null : (
        <a class="block" href={`tel:${phone}`}>
          {phone}
        </a>
      )}
    </>
  );
}

/** Why it was opened, how it is now, and what became of it. */
function Seen({ alert }: { readonly alert: Alert }) {
  const { latest_fill_percentage, latest_reading_at, acknowledged_by, acknowledged_at, closed_at, close_reason, note } = alert;
  return (
    <>
      <span>{reasonOf(alert)}</span>
      <span class="dim block">
        {closed_at === null ? "Now" : "At the end"} {percent(latest_fill_percentage)}, {ago(latest_reading_at)}
      </span>
      {acknowledged_at === null ? null : (
        <span class="dim block" dir="auto">
          Acknowledged {ago(acknowledged_at)}
          {acknowledged_by === null ? "" : ` by ${acknowledged_by}`}
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

function reasonOf({ kind, fill_percentage, threshold, runs_low_at, leak, latest_reading_at }: Alert): string {
  if (kind === "low") return `${percent(fill_percentage)}, at or below ${percent(threshold)}`;
  if (kind === "silent") return `No reading since ${dateTime(latest_reading_at)}`;
  if (kind === "leak") return leakReason(leak);
  return runs_low_at === null ? "Low soon" : `Low ${until(runs_low_at)}`;
}

function leakReason(leak: Alert["leak"]): string {
  if (leak === null) return "Use far above normal";
  const { since, percentage_per_day, percentage_lost } = leak;
  if (percentage_lost !== null) return `${percent(percentage_lost)} lost at once, ${ago(since)}`;
  return percentage_per_day === null ? "Use far above normal" : `${percent(percentage_per_day)} a day above normal use`;
}

function until(at: string): string {
  const seconds = (Date.parse(at) - Date.now()) / 1000;
  return seconds <= 0 ? "soon" : `in about ${duration(seconds)}`;
}

type Action = "acknowledge" | "close" | "pause" | "notifications";

function Actions({ alert, changed }: { readonly alert: Alert; readonly changed: () => Promise<void> }) {
  const [dialog, setDialog] = useState<Action>();
  const close = () => setDialog(undefined);
  const button = (action: Action, label: string, look = "button") => (
    <button class={look} type="button" onClick={() => setDialog(action)}>
      {label}
    </button>
  );
  const canChange = may("dispatcher") && alert.state !== "closed";
  const props = { alert, close, changed };
  return (
    <span class="actions">
      {canChange && alert.state === "open" ? button("acknowledge", "Acknowledge") : null}
      {canChange ? button("close", "Close", "button quiet") : null}
      {canChange ? button("pause", "Pause", "button quiet") : null}
      {may("admin") ? button("notifications", "Sent", "button quiet") : null}
      {dialog === "acknowledge" ? <AcknowledgeDialog {...props} /> : null}
      {dialog === "close" ? <CloseDialog {...props} /> : null}
      {dialog === "pause" ? <PauseDialog {...props} /> : null}
      {dialog === "notifications" ? <NotificationsDialog alertId={alert.id} close={close} /> : null}
    </span>
  );
}
