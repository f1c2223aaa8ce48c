// The alerts of a tank: those that are not closed, then past ones.

import { useState } from "preact/hooks";
import type { Alert } from "../../../client/src/index.ts";
import { AcknowledgeDialog } from "../alerts/dialogs.tsx";
import { api } from "../api.ts";
import { ALERT_STATES, CLOSE_REASONS } from "../components/alert-kinds.tsx";
import { AlertBadge } from "../components/badge.tsx";
import { ago, dateTime, percent } from "../format.ts";
import { useLive } from "../live.ts";
import { may } from "../session.ts";
import { LatestCard } from "./latest-card.tsx";

const SIZE = 10;

export function TankAlerts({ tankId }: { readonly tankId: string }) {
  const live = useLive(`alerts ${tankId}`, (signal) => api.insight.alerts.list({ tank_id: tankId, size: SIZE, signal }));
  const row = (alert: Alert) => <AlertRow key={alert.id} alert={alert} changed={live.refresh} />;
  return <LatestCard id="alerts" title="Alerts" live={live} row={row} />;
}

function AlertRow({ alert, changed }: { readonly alert: Alert; readonly changed: () => Promise<void> }) {
  const { kind, state, opened_at, closed_at, close_reason, note } = alert;
  return (
    <li>
      <AlertBadge alert={alert} />
      <span class="row-text">
        <span>
          {ALERT_STATES[state]}, opened{" "}
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
