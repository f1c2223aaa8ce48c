// One step of the sweep: evaluates some of the tanks that are due, in one transaction; where data is damaged, one tank.

import { type EvaluationTrigger, ON_SETTINGS } from "../../domain/alerts/evaluate.ts";
import { beginSweep, type SweepRequest, type SweepResult, type SweepState, sweepStateOf } from "../../domain/alerts/sweep.ts";
import { EARLIEST, type Instant } from "../../domain/instant.ts";
import { scheduleEvaluation } from "./alerts.ts";
import type { StoreTransaction } from "./transaction.ts";

/** Tanks in one transaction, and what it writes for them: a notification for each channel. */
const MAX_TANKS = 500;
const MAX_NOTIFICATIONS = 1000;
const STATE = "sweep";
const NOT_CLAIMED: SweepResult = { claimedAt: undefined, hasMore: false };

export async function sweepAlerts(tx: StoreTransaction, request: SweepRequest): Promise<SweepResult> {
  const [now, stored, channels] = await Promise.all([request.at ?? tx.now(), tx.serviceState(STATE), tx.channels()]);
  const before = stored === undefined ? undefined : sweepStateOf(stored);
  const state = beginSweep(before, now, request);
  if (state === undefined) return NOT_CLAIMED;
  const { reevaluation } = state;
  const forAll = channels.filter(({ customer_id }) => customer_id === null).length;
  const limit = Math.max(1, Math.min(MAX_TANKS, Math.floor(MAX_NOTIFICATIONS / Math.max(1, forAll))));
  const tankIds = reevaluation === null ? await tx.tanksToEvaluate(now, limit) : await tx.fleetAfter(reevaluation, limit);
  const last = tankIds.length === limit ? tankIds.at(-1) : undefined;
  const remaining = reevaluation === null || last === undefined ? null : { ...reevaluation, after: last };
  // Of several processes that have come this far, one replaces the state.
  const after = JSON.stringify({ ...state, reevaluation: remaining } satisfies SweepState);
  if (!(await tx.replaceServiceState(STATE, stored, after))) return NOT_CLAIMED;
  // Changed settings do not open silent alerts yet.
  const trigger = reevaluation?.scope === "all" ? ON_SETTINGS : sweepTrigger(state);
  if (tankIds.length > 0) await scheduleEvaluation(tx, tankIds, trigger, now);
  const isSetBack = reevaluation?.after === "" && before !== undefined && before.at > now;
  if (isSetBack) {
    await tx.lockAlerts();
    await tx.advanceDeferred(now, tx.alertSettings.remindAfter);
  }
  // After a reevaluation come those that are due.
  return { claimedAt: now, hasMore: last !== undefined || reevaluation !== null };
}

const sweepTrigger = (state: SweepState | undefined): EvaluationTrigger => ({
  cause: "sweep",
  downtimeEndedAt: state?.downtimeEndedAt ?? EARLIEST,
});

/** Undefined before the first sweep. */
export async function lastSweep(tx: StoreTransaction): Promise<SweepState | undefined> {
  const stored = await tx.serviceState(STATE);
  return stored === undefined ? undefined : sweepStateOf(stored);
}

export async function tanksDue(tx: StoreTransaction, at: Instant | undefined): Promise<readonly string[]> {
  return tx.tanksToEvaluate(at ?? (await tx.now()), MAX_TANKS);
}

export async function evaluateTank(tx: StoreTransaction, tankId: string, at: Instant | undefined): Promise<void> {
  await scheduleEvaluation(tx, [tankId], sweepTrigger(await lastSweep(tx)), at ?? (await tx.now()));
}
