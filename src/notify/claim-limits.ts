// How many notifications are claimed and sent at a time, for one destination and in all: receivers that hang do not delay others.

import type { ClaimRequest } from "../domain/alerts/notification-queue.ts";

/** Attempts at a time, in all. */
const MAX_CONCURRENT_ATTEMPTS = 512;
/** Claimed and not recorded yet, in all. What waits too long is released, and a large claim takes long itself. */
const MAX_CLAIMED_TOTAL = 1024;
/** Shares of both limits; the rest is reserved for destinations that have nothing in progress, or nothing claimed. */
const SLOW_SHARE = 1 / 2;
const RESPONSIVE_SHARE = 3 / 4;
/** A destination is responsive for this time after an attempt that took no longer. */
const RESPONSIVE_MS = 1000;
/** Claimed at a time for a responsive destination: at first as many as are sent at a time, and twice as many after each fast claim. */
const MAX_CLAIMED_PER_DESTINATION = 512;
const FAST_MS = 500;

export type DestinationLoad = {
  readonly name: string;
  /** Claimed, but not in progress. */
  readonly waiting: ArrayLike<unknown>;
  readonly transport: { readonly concurrency: number };
  inProgress: number;
  claimLimit: number;
  claimedAt: number;
  /** When the last attempt ended, unless it was slow. */
  respondedAt: number;
  /** The last claim got as many as it wanted. */
  mayHaveMore: boolean;
};

export const isIdle = ({ waiting, inProgress }: DestinationLoad): boolean => waiting.length === 0 && inProgress === 0;
const isResponsive = ({ respondedAt }: DestinationLoad, now: number): boolean => now - respondedAt < RESPONSIVE_MS;

/** An attempt has ended. */
export function recordResponse(destination: DestinationLoad, startedAt: number, now: number): void {
  destination.respondedAt = now - startedAt <= RESPONSIVE_MS ? now : Number.NEGATIVE_INFINITY;
}

/** While fewer attempts are in progress in all, this destination may start another one. */
export function attemptLimit(destination: DestinationLoad, now: number): number {
  if (destination.inProgress === 0) return MAX_CONCURRENT_ATTEMPTS;
  return MAX_CONCURRENT_ATTEMPTS * (isResponsive(destination, now) ? RESPONSIVE_SHARE : SLOW_SHARE);
}

/** How many to claim for a destination where something is due: for a slow one only what can be started at once. */
export function wantedClaim(destination: DestinationLoad, now: number): number {
  const { waiting, inProgress, transport, claimLimit, claimedAt, mayHaveMore } = destination;
  if (!isResponsive(destination, now)) return waiting.length > 0 ? 0 : transport.concurrency - inProgress;
  if (waiting.length >= transport.concurrency) return 0;
  const isFast = mayHaveMore && now - claimedAt < FAST_MS;
  return isFast ? Math.min(claimLimit * 2, MAX_CLAIMED_PER_DESTINATION) : claimLimit;
}

export type ClaimPlan<D extends DestinationLoad> = {
  readonly claims: readonly (Pick<ClaimRequest, "limit"> & { readonly destination: D })[];
  /** The first destination that could not be claimed for within the limits, although it is not slow. */
  readonly skippedDestination: string | undefined;
};

/**
 * Claims as many as the limits allow beside those claimed already: first for destinations with nothing claimed, beginning with the one
 * that was skipped last time. `due` is in the order of names. Also updates `claimLimit` of responsive destinations.
 */
export function planClaims<D extends DestinationLoad>(
  due: readonly D[],
  claimed: number,
  firstName: string,
  now: number,
): ClaimPlan<D> {
  const from = due.findIndex(({ name }) => name >= firstName);
  const rotated = from < 0 ? due : [...due.slice(from), ...due.slice(0, from)];
  const ordered = rotated.toSorted((a, b) => Number(isIdle(b)) - Number(isIdle(a)));
  // Idle destinations that have not just responded share what slow ones may use.
  const sharing = ordered.filter((destination) => isIdle(destination) && !isResponsive(destination, now)).length;
  const fairShare = Math.max(1, Math.floor((MAX_CLAIMED_TOTAL * SLOW_SHARE - claimed) / Math.max(1, sharing)));
  const claims: { destination: D; limit: number }[] = [];
  let skippedDestination: string | undefined;
  let total = claimed;
  for (const destination of ordered) {
    const wanted = wantedClaim(destination, now);
    const limit = Math.min(wanted, capacityFor(destination, total, fairShare, now));
    if (isResponsive(destination, now) && wanted > 0) destination.claimLimit = wanted;
    if (limit > 0) claims.push({ destination, limit });
    else if (wanted > 0 && (isIdle(destination) || isResponsive(destination, now))) skippedDestination ??= destination.name;
    total += Math.max(0, limit);
  }
  return { claims, skippedDestination };
}

function capacityFor(destination: DestinationLoad, total: number, fairShare: number, now: number): number {
  if (isResponsive(destination, now)) {
    const capacity = MAX_CLAIMED_TOTAL * RESPONSIVE_SHARE - total;
    return isIdle(destination) && total < MAX_CLAIMED_TOTAL ? Math.max(1, capacity) : capacity;
  }
  if (isIdle(destination)) return total < MAX_CLAIMED_TOTAL ? fairShare : 0;
  // No more than may be in progress.
  return MAX_CONCURRENT_ATTEMPTS * SLOW_SHARE - total;
}

/** Results were recorded: whether notifications of skipped destinations may be claimed now. */
export const hasCapacity = (claimed: number): boolean => claimed <= MAX_CLAIMED_TOTAL * SLOW_SHARE;
