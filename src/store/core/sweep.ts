// One step of the sweep: evaluates some of the tanks that are due, in one transaction.

import { beginSweep, type SweepRequest, type SweepResult, type SweepState } from "../../domain/alerts/sweep.ts";
import { EARLIEST } from "../../domain/instant.ts";
import type { StoreTransaction } from "./transaction.ts";

const MAX_TANKS = 500;
const STATE = "sweep";
const NOT_OUR_TURN: SweepResult = { turn: undefined, hasMore: false };

export async function sweepAlerts(tx: StoreTransaction, request: SweepRequest): Promise<SweepResult> {
  const now = request.at ?? (await tx.now());
  const stored = await tx.serviceState(STATE);
  const state = beginSweep(stored === undefined ? undefined : (JSON.parse(stored) as SweepState), now, request);
  if (state === undefined) return NOT_OUR_TURN;
  const { allAfter } = state;
  const tankIds = allAfter === null ? await tx.tanksToCheck(now, MAX_TANKS) : await tx.fleetAfter(allAfter, MAX_TANKS);
  const hasMore = tankIds.length === MAX_TANKS;
  const remaining = allAfter === null || !hasMore ? null : (tankIds.at(-1) ?? null);
  // Of several processes that have come this far, one replaces the state.
  const after = JSON.stringify({ ...state, allAfter: remaining } satisfies SweepState);
  if (!(await tx.replaceServiceState(STATE, stored, after))) return NOT_OUR_TURN;
  if (tankIds.length > 0) {
    await tx.lockHeads(tankIds.toSorted(), true);
    tx.alertChecks.setTime(now);
    tx.alertChecks.add(tankIds);
    tx.alertChecks.setSilenceFrom(state.silenceFrom ?? EARLIEST);
  }
  // After all tanks, those that are due.
  return { turn: now, hasMore: hasMore || allAfter !== null };
}
