// Alerts of tanks: evaluated at the end of each transaction that changes what they depend on, and written with their events and
// notifications in the same transaction.

import type { Alert, AlertKind, CloseReason } from "../../domain/alerts/alert.ts";
import { type Channel, wants } from "../../domain/alerts/channel.ts";
import {
  type AlertSettings,
  CONDITION_BITS,
  closeReason,
  type Evaluation,
  type EvaluationInput,
  type EvaluationTrigger,
  evaluate,
  medianInterval,
  ON_FORECAST,
  ON_READING,
} from "../../domain/alerts/evaluate.ts";
import { type AlertChange, type AlertEvent, eventObject } from "../../domain/alerts/event.ts";
import { newId } from "../../domain/id.ts";
import type { Instant } from "../../domain/instant.ts";
import type { Reading } from "../../domain/reading.ts";
import { blockColumns, lastReading } from "../packed/block.ts";
import { isIntactHead, openHead } from "../packed/checksum.ts";
import type { TankWithOwner } from "./alert-tables.ts";
import { type EventContext, lockForEvents, type Outgoing, toChannels } from "./events.ts";
import { updateLists } from "./lists.ts";
import { deferMailToNewOwners, ownerMail } from "./owner-mail.ts";
import type { StoreTransaction } from "./transaction.ts";

/** The last step of every transaction. Returns how many notifications were created. */
export async function finishTransaction(tx: StoreTransaction): Promise<number> {
  const { tanks, owners, changes, at, dueNotifications } = tx.alertWork.drain();
  if (owners.size > 0) {
    await tx.lockAlerts();
    await tx.moveAlerts(owners);
    await deferMailToNewOwners(tx, [...owners.keys()], at);
  }
  const evaluated = dueNotifications + (await evaluateAlerts(tx, tanks, at));
  if (changes.length === 0) return evaluated;
  const context = await lockForEvents(
    tx,
    changes.map(({ after }) => after.tank_id),
  );
  return evaluated + (await writeAlerts(tx, changes, context, at));
}

/** Nobody else changes these alerts until the transaction ends: their tanks are locked, then they are read again. */
export async function lockedAlerts(tx: StoreTransaction, ids: readonly string[]): Promise<ReadonlyMap<string, Alert>> {
  const tankIds = Array.from((await tx.alerts(ids)).values(), ({ tank_id }) => tank_id);
  if (tankIds.length === 0) return new Map();
  await tx.lockHeads([...new Set(tankIds)].sort());
  return tx.alerts(ids);
}

/** Locks the heads. The alerts are evaluated when the transaction ends. */
export async function scheduleEvaluation(
  tx: StoreTransaction,
  tankIds: readonly string[],
  trigger: EvaluationTrigger,
  at: Instant,
): Promise<void> {
  await tx.lockHeads(tankIds.toSorted());
  tx.alertWork.setTime(at);
  tx.alertWork.addTanks(tankIds, trigger);
}

/** Evaluates the alerts of tanks whose heads the transaction has locked. */
export async function evaluateAlerts(
  tx: StoreTransaction,
  tanks: ReadonlyMap<string, EvaluationTrigger>,
  now: Instant,
): Promise<number> {
  if (tanks.size === 0) return 0;
  const triggerOf = ({ tankId }: EvaluationInput): EvaluationTrigger => tanks.get(tankId) ?? ON_READING;
  const known = await tx.evaluationInputs([...tanks.keys()]);
  const inputs = await withHeadReadings(tx, known, (input) => triggerOf(input).cause === "sweep");
  const evaluated = inputs.map((input) => ({
    input,
    evaluation: evaluate(input, tx.alertSettings, now, triggerOf(input)),
  }));
  const changed = evaluated.filter(({ input, evaluation }) => isStateChanged(input, evaluation));
  const states = new Map(changed.map(({ input, evaluation }) => [input.tankId, evaluation]));
  const affected = evaluated.filter(
    ({ input: { isLive }, evaluation: { opened, cleared, shouldNotifyLow } }) =>
      !isLive || opened.length + cleared.length > 0 || shouldNotifyLow,
  );
  if (affected.length === 0) {
    await tx.setEvaluations(states);
    return 0;
  }
  const affectedIds = affected.map(({ input }) => input.tankId);
  const [context, unclosed] = await Promise.all([
    lockForEvents(tx, affectedIds),
    tx.alertsNotClosed(affectedIds),
    tx.setEvaluations(states),
  ]);
  const alerts = Map.groupBy(unclosed, ({ tank_id }) => tank_id);
  const changes = affected.flatMap(({ input, evaluation }) =>
    alertChanges(input, evaluation, alerts.get(input.tankId) ?? [], {
      settings: tx.alertSettings,
      trigger: triggerOf(input),
      now,
    }),
  );
  return writeAlerts(tx, changes, context, now);
}

function isStateChanged({ isLive, activeConditions, evaluateAt }: EvaluationInput, after: Evaluation): boolean {
  return isLive && (after.activeConditions !== activeConditions || after.evaluateAt !== evaluateAt);
}

/** Returns the tanks whose alerts a new forecast changes: their heads must be locked. Reads without locks: a pause may end meanwhile. */
export async function tanksWithAlertChanges(tx: StoreTransaction, tankIds: readonly string[], now: Instant): Promise<string[]> {
  const inputs = await tx.evaluationInputs(tankIds);
  return inputs
    .filter((input) => {
      const { opened, cleared } = evaluate({ ...input, pausedUntil: null }, tx.alertSettings, now, ON_FORECAST);
      return opened.length + cleared.length > 0;
    })
    .map(({ tankId }) => tankId);
}

/** Adds what only the head has: the usual interval of tanks that are or may be silent, and the latest reading of deleted tanks. */
async function withHeadReadings(
  tx: StoreTransaction,
  inputs: readonly EvaluationInput[],
  isSwept: (input: EvaluationInput) => boolean,
): Promise<readonly EvaluationInput[]> {
  const wanted = inputs.filter(
    (input) => !input.isLive || isSwept(input) || (input.activeConditions & CONDITION_BITS.silent) !== 0,
  );
  if (wanted.length === 0) return inputs;
  const heads = await tx.lockHeads(wanted.map(({ tankId }) => tankId));
  return inputs.map((input) => {
    const head = heads.get(input.tankId);
    if (head === undefined || !isIntactHead(input.tankId, head)) return input;
    const { block } = openHead(input.tankId, head);
    if (!input.isLive) return { ...input, latest: lastReading(block) };
    return { ...input, medianInterval: medianInterval(blockColumns(block).instants) };
  });
}

type EvaluationContext = { readonly settings: AlertSettings; readonly trigger: EvaluationTrigger; readonly now: Instant };

function alertChanges(
  input: EvaluationInput,
  { opened, cleared, shouldNotifyLow }: Evaluation,
  alerts: readonly Alert[],
  { settings: { closeMargin }, trigger, now }: EvaluationContext,
): AlertChange[] {
  const { isLive, latest, threshold } = input;
  const closed = (alert: Alert, close_reason: CloseReason, shouldNotify: boolean): AlertChange => ({
    before: alert,
    after: { ...withLatest(alert, latest), state: "closed", closed_at: now, close_reason, updated_at: now },
    type: "alert.closed",
    shouldNotify,
  });
  if (!isLive) return alerts.map((alert) => closed(alert, "tank_deleted", true));
  if (latest === undefined) return [];
  return [
    ...cleared.flatMap(({ kind, shouldNotify, reason }) =>
      alerts
        .filter((alert) => alert.kind === kind)
        .map((alert) => {
          const why = reason ?? closeReason(alert, { threshold, fill: latest.fill_percentage, closeMargin }, trigger);
          return closed(alert, why, shouldNotify || alert.state === "acknowledged");
        }),
    ),
    // Notify of a low alert that nobody was notified of, unless it was acknowledged in the meantime.
    ...alerts
      .filter(({ kind, state }) => shouldNotifyLow && kind === "low" && state === "open")
      .map((alert): AlertChange => {
        const after = { ...withLatest(alert, latest), updated_at: now };
        return { before: alert, after, type: "alert.opened", shouldNotify: true };
      }),
    // In a damaged database an alert may be there already.
    ...opened
      .filter(({ kind }) => !alerts.some((alert) => alert.kind === kind) || cleared.some((one) => one.kind === kind))
      .map(
        (change): AlertChange => ({
          before: undefined,
          after: newAlert(change.kind, input, latest, now),
          type: "alert.opened",
          shouldNotify: change.shouldNotify,
        }),
      ),
  ];
}

function newAlert(kind: AlertKind, { tankId, threshold, forecast }: EvaluationInput, latest: Reading, now: Instant): Alert {
  const leak = forecast?.leak ?? null;
  return {
    id: newId("alr", now),
    kind,
    state: "open",
    tank_id: tankId,
    owner_id: "",
    opened_at: now,
    acknowledged_at: null,
    acknowledged_by: null,
    closed_at: null,
    close_reason: null,
    threshold,
    fill_percentage: latest.fill_percentage,
    latest_fill_percentage: latest.fill_percentage,
    latest_reading_at: latest.created_at,
    runs_low_at: kind === "runs_low_soon" ? (forecast?.runsLowAt ?? null) : null,
    leak: kind === "leak" && typeof leak === "object" ? leak : null,
    note: null,
    updated_at: now,
  };
}

function withLatest(alert: Alert, latest: Reading | undefined): Alert {
  if (latest === undefined) return alert;
  return { ...alert, latest_fill_percentage: latest.fill_percentage, latest_reading_at: latest.created_at };
}

/** Writes alerts, their events, and what is sent of them. */
async function writeAlerts(
  tx: StoreTransaction,
  changes: readonly AlertChange[],
  { owners, channels, nextSequence }: EventContext,
  now: Instant,
): Promise<number> {
  if (changes.length === 0) return 0;
  const events = changes.map(({ before, after, type, shouldNotify }, i) => {
    const { tank, customer } = owners.get(after.tank_id) as TankWithOwner;
    const event: AlertEvent = { type, at: now, alert: { ...after, owner_id: tank.owner_id }, tank, customer };
    const sequence = nextSequence + i;
    return { before, shouldNotify, event, sequence, payload: JSON.stringify(eventObject(event, sequence)) };
  });
  const isAnyDelayed = channels.some(({ delay }) => delay > 0);
  const changed = isAnyDelayed ? changes.filter(({ type }) => type !== "alert.opened").map(({ after }) => after.id) : [];
  const notified = await tx.channelsNotified(changed);
  const outgoing = events
    .filter(({ shouldNotify }) => shouldNotify)
    .map((item) => outgoingOf(item, channels, notified.get(item.event.alert.id), tx.alertSettings, now));
  const notifications = outgoing.flatMap((one) => one.notifications);
  const listed = events.map(({ before, event }) => ({ before: before && entryOf(before), after: entryOf(event.alert) }));
  await Promise.all([
    tx.putAlerts(events.map(({ event }) => event.alert)),
    tx.addEvents(events.map(({ event, sequence, payload }) => ({ sequence, at: now, owner_id: event.tank.owner_id, payload }))),
    tx.addNotifications(notifications),
    tx.deferNotifications(outgoing.flatMap(({ deferred }) => deferred)),
    updateLists(tx, "alert", listed),
  ]);
  return notifications.length;
}

const entryOf = ({ id, opened_at, state }: Alert) => ({ id, created_at: opened_at, state });

type NumberedEvent = { readonly event: AlertEvent; readonly sequence: number; readonly payload: string };

function outgoingOf(
  { event, sequence, payload }: NumberedEvent,
  channels: readonly Channel[],
  notified: ReadonlySet<string> | undefined,
  settings: AlertSettings,
  now: Instant,
): Outgoing {
  const { type, alert, tank } = event;
  // Skip the closing mail of an alert if the channel gets mail about the one that replaces it, and not only after a delay.
  const successor = alert.close_reason === "became_low" ? "low" : alert.close_reason === "replaced" ? alert.kind : undefined;
  const isCovered = (channel: Channel): boolean =>
    channel.type === "email" &&
    channel.delay === 0 &&
    successor !== undefined &&
    wants(channel, "alert.opened", successor, tank.owner_id);
  // What follows an alert that a channel was notified of after its delay is not delayed.
  const subscribed = channels
    .filter((channel) => wants(channel, type, alert.kind, tank.owner_id) && !isCovered(channel))
    .map((channel) => (notified?.has(channel.id) ? { ...channel, delay: 0 } : channel));
  const about = { alert_id: alert.id, tank_id: tank.id, owner_id: tank.owner_id, sequence };
  const { notifications, deferred } = toChannels({ ...about, event: type, payload }, subscribed, now);
  return { notifications, deferred: [...deferred, ...ownerMail(event, sequence, settings, now)] };
}
