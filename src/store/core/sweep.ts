// One step of the sweep: evaluates some of the tanks that are due, in one transaction; where data is damaged, one tank.

import { ON_SETTINGS } from "../../domain/alerts/evaluate.ts";
import { beginSweep, type SweepRequest, type SweepResult, type SweepState } from "../../domain/alerts/sweep.ts";
import { EARLIEST, type Instant } from "../../domain/instant.ts";
import type { StoreTransaction } from "./transaction.ts";

/** Tanks in one transaction, and what it writes for them: a notification for each channel. */
const MAX_TANKS = 500;
const MAX_NOTIFICATIONS = 1000;
const STATE = "sweep";
const NOT_CLAIMED: SweepResult = { claimedAt: undefined, hasMore: false };

export async function sweepAlerts(tx: StoreTransaction, request: SweepRequest): Promise<SweepResult> {
  // An engine may send these together.
  const [now, stored, channels] = await Promise.all([request.at ?? tx.now(), tx.serviceState(STATE), tx.channels()]);
  const state = beginSweep(stored === undefined ? undefined : (JSON.parse(stored) as SweepState), now, request);
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
  if (tankIds.length > 0) await evaluateTanks(tx, tankIds, now, reevaluation?.scope === "all" ? undefined : state);
  // A reevaluation begins after the clock was set back, among others.
  if (reevaluation?.after === "") {
    await tx.lockAlerts();
    await tx.advancePlanned(now);
  }
  // After a reevaluation come those that are due.
  return { claimedAt: now, hasMore: last !== undefined || reevaluation !== null };
}

/** When the transaction ends. Without `state`, because settings have changed: silent alerts do not open yet. */
async function evaluateTanks(
  tx: StoreTransaction,
  tankIds: readonly string[],
  now: Instant,
  state: Pick<SweepState, "silenceFrom"> | undefined,
): Promise<void> {
  await tx.lockHeads(tankIds.toSorted(), true);
  tx.alertWork.setTime(now);
  tx.alertWork.add(tankIds, state === undefined ? ON_SETTINGS : { mode: "sweep", silenceFrom: state.silenceFrom ?? EARLIEST });
}

export async function tanksDue(tx: StoreTransaction, at: Instant | undefined): Promise<readonly string[]> {
  return tx.tanksToEvaluate(at ?? (await tx.now()), MAX_TANKS);
}

export async function evaluateTank(tx: StoreTransaction, tankId: string, at: Instant | undefined): Promise<void> {
  const stored = await tx.serviceState(STATE);
  const state = stored === undefined ? { silenceFrom: null } : (JSON.parse(stored) as SweepState);
  await evaluateTanks(tx, [tankId], at ?? (await tx.now()), state);
}
