// The alerts of a tank: whether they are paused, those that are not closed, then past ones.

import type { Alert, FleetTank } from "../../../client/src/index.ts";
import { noteLabel } from "../alerts/actions.tsx";
import { AcknowledgeDialog, NoteDialog, PauseDialog } from "../alerts/dialogs.tsx";
import { api } from "../api.ts";
import { ActionButton } from "../components/action-button.tsx";
import { ALERT_KINDS, ALERT_STATES, CLOSE_REASONS } from "../components/alert-kinds.tsx";
import { AlertBadge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { useDialog } from "../components/dialog.tsx";
import { withFocus } from "../components/focus.ts";
import { notify } from "../components/notices.tsx";
import { ago, dateTime, percent, untilDate } from "../format.ts";
import { useLive } from "../live.ts";
import { may } from "../session.ts";
import { LatestCard } from "./latest-card.tsx";

const SIZE = 10;

export function TankAlerts({ entry }: { readonly entry: FleetTank }) {
  const tankId = entry.tank.id;
  const live = useLive(`alerts ${tankId}`, (signal) => loadAlerts(tankId, signal));
  // Here, because the row may be gone, or without its button, while the dialog is open.
  const dialog = useDialog();
  const acknowledge = (alert: Alert) =>
    withFocus(dialog.open)((close) => <AcknowledgeDialog {...{ alert, entry, close }} changed={live.refresh} />);
  const changeNote = (alert: Alert) =>
    withFocus(dialog.open)((close) => <NoteDialog {...{ alert, entry, close }} changed={live.refresh} />);
  const row = (alert: Alert) => <AlertRow key={alert.id} {...{ alert, acknowledge, changeNote }} />;
  return (
    <LatestCard id="alerts" title="Alerts" live={live} row={row}>
      {may("viewer") ? <Settings entry={entry} /> : <Pause until={entry.alerts_paused_until} />}
      {dialog.shown}
    </LatestCard>
  );
}

/** Newest first within each state: an open one is shown however many have been closed since. */
async function loadAlerts(tankId: string, signal: AbortSignal) {
  const load = (state: Alert["state"]) => api.insight.alerts.list({ tank_id: tankId, state, size: SIZE, signal });
  const lists = await Promise.all([load("open"), load("acknowledged"), load("closed")]);
  return {
    data: lists.flatMap(({ data }) => data).slice(0, SIZE),
    size: SIZE,
    total_items: lists.reduce((sum, { total_items }) => sum + total_items, 0),
  };
}

/** For staff. What the form of the tank sets is shown where it is not the usual. */
function Settings({ entry }: { readonly entry: FleetTank }) {
  const tankId = entry.tank.id;
  const { data, refresh } = useLive(`alert settings ${tankId}`, (signal) => api.manage.tanks.retrieve(tankId, { signal }));
  const dialog = useDialog();
  if (data === undefined) return null;
  const { paused_until, silent_after, ...kinds } = data.alerts;
  const isPaused = paused_until !== null && Date.parse(paused_until) > Date.now();
  const off = (["runs_low_soon", "leak"] as const).filter((kind) => !kinds[kind]).map((kind) => `“${ALERT_KINDS[kind].label}”`);
  const pause = async () => dialog.open((close) => <PauseDialog {...{ tankId, entry, close }} changed={refresh} />);
  const resume = async () => {
    await api.manage.tanks.update(tankId, { alerts: { paused_until: null } });
    notify({ text: "The pause has ended: alerts of this tank can open again" });
    await refresh();
  };
  return (
    <>
      {may("dispatcher") ? <ActionButton act={isPaused ? resume : pause}>{isPaused ? "Resume" : "Pause"}</ActionButton> : null}
      <Pause until={isPaused ? paused_until : null} />
      {off.length === 0 ? null : <p class="dim">No alerts of the kind {off.join(" or ")}.</p>}
      {silent_after === null ? null : <p class="dim">Silent after {silent_after} without a reading.</p>}
      {dialog.shown}
    </>
  );
}

const Pause = ({ until }: { readonly until: string | null }) =>
  until === null ? null : <p class="strong">Paused until {untilDate(until)}: no alert of this tank opens.</p>;

type Act = (alert: Alert) => void;
type RowProps = { readonly alert: Alert; readonly acknowledge: Act; readonly changeNote: Act };

function AlertRow({ alert, acknowledge, changeNote }: RowProps) {
  const { kind, state, opened_at, closed_at, close_reason, note } = alert;
  return (
    <li>
      <AlertBadge alert={alert} />
      <span class="row-text">
        <span>
          {state === "open" ? "Opened" : `${ALERT_STATES[state]}, opened`}{" "}
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
      {state === "open" && may("dispatcher") ? <Button onClick={() => acknowledge(alert)}>Acknowledge</Button> : null}
      {state === "acknowledged" && may("dispatcher") ? (
        <Button onClick={() => changeNote(alert)} look="quiet">
          {noteLabel(alert)}
        </Button>
      ) : null}
    </li>
  );
}
