// The alerts of a tank: those that are not closed, then past ones.

import { useState } from "preact/hooks";
import type { Alert } from "../../../client/src/index.ts";
import { AcknowledgeDialog } from "../alerts/dialogs.tsx";
import { api } from "../api.ts";
import { ALERT_KINDS, CLOSE_REASONS } from "../components/alert-kinds.tsx";
import { Badge } from "../components/badge.tsx";
import { ErrorState, Loading } from "../components/states.tsx";
import { ago, dateTime, percent } from "../format.ts";
import { useLive } from "../live.ts";
import { may } from "../session.ts";

const SIZE = 10;

export function TankAlerts({ tankId }: { readonly tankId: string }) {
  const { data, error, refresh } = useLive(`alerts ${tankId}`, (signal) =>
    api.insight.alerts.list({ tank_id: tankId, size: SIZE, signal }),
  );
  return (
    <section class="card" aria-labelledby="alerts">
      <div class="card-head">
        <h2 id="alerts">Alerts</h2>
        {data === undefined || data.total_items <= SIZE ? null : (
          <span class="dim">
            the latest {SIZE} of {data.total_items}
          </span>
        )}
      </div>
      {data === undefined ? error === undefined ? <Loading /> : <ErrorState error={error} retry={refresh} /> : null}
      {data?.total_items === 0 ? <p class="dim">None so far.</p> : null}
      <ul class="rows">
        {data?.data.map((alert) => (
          <AlertRow key={alert.id} alert={alert} changed={refresh} />
        ))}
      </ul>
    </section>
  );
}

function AlertRow({ alert, changed }: { readonly alert: Alert; readonly changed: () => Promise<void> }) {
  const { kind, state, opened_at, closed_at, close_reason, note } = alert;
  const { label, icon, tone } = ALERT_KINDS[kind];
  const isClosed = state === "closed";
  return (
    <li>
      <Badge text={label} icon={isClosed ? "check" : icon} {...(isClosed ? {} : { tone })} />
      <span class="row-text">
        <span>
          {STATES[state]}, opened{" "}
          <time dateTime={opened_at} title={dateTime(opened_at)}>
            {ago(opened_at)}
          </time>
          {kind === "low" ? ` at ${percent(alert.fill_percentage)}` : ""}
        </span>
        {closed_at === null || close_reason === null ? null : (
          <span class="dim">
            Closed {dateTime(closed_at)}: {CLOSE_REASONS[close_reason]}
          </span>
        )}
        {note === null || note === "" ? null : (
          <span class="dim" dir="auto">
            “{note}”
          </span>
        )}
      </span>
      {state === "open" && may("dispatcher") ? <Acknowledge alert={alert} changed={changed} /> : null}
    </li>
  );
}

const STATES: Readonly<Record<Alert["state"], string>> = {
  open: "Nobody has acknowledged it",
  acknowledged: "Acknowledged",
  closed: "Closed",
};

function Acknowledge({ alert, changed }: { readonly alert: Alert; readonly changed: () => Promise<void> }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button class="button" type="button" onClick={() => setOpen(true)}>
        Acknowledge
      </button>
      {isOpen ? <AcknowledgeDialog alert={alert} close={() => setOpen(false)} changed={changed} /> : null}
    </>
  );
}
