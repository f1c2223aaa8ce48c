// When alerts open and close: pure rules on the newest reading of a tank.

import type { Instant } from "../instant.ts";
import type { Reading } from "../reading.ts";
import type { Alert, AlertKind, CloseReason } from "./alert.ts";

export type AlertSettings = {
  /** Percentage points above the threshold at which a low alert closes. */
  readonly margin: number;
  /** Milliseconds without a reading after which a tank is silent, unless its own setting or its usual interval is longer. */
  readonly silentAfter: number;
  /** Milliseconds after which the owner is reminded of a low tank. */
  readonly remindAfter: number;
};

const HOUR = 3_600_000;
export const DEFAULT_ALERT_SETTINGS: AlertSettings = { margin: 3, silentAfter: 48 * HOUR, remindAfter: 72 * HOUR };

/** What is older is not news: alerts change, but nobody is notified. */
const NEWS_MS = 24 * HOUR;
/** A tank is not silent before this many of its usual intervals have passed. */
const SILENT_INTERVALS = 3;

/**
 * Conditions of a tank that have been noticed, as bits: each has an alert that is not closed, or one that was closed by hand
 * while the condition lasts. They are stored beside the latest reading: a reading that changes none of them is appended
 * without evaluating anything.
 */
export const NOTICED: Readonly<Record<AlertKind, number>> = { low: 1, silent: 2 };

/** What is known of a tank when its alerts are evaluated. */
export type TankCondition = {
  readonly tankId: string;
  readonly isLive: boolean;
  readonly threshold: number;
  readonly latest: Reading | undefined;
  readonly noticed: number;
  readonly checkAt: Instant | null;
  readonly silentAfter: number | null;
  readonly pausedUntil: Instant | null;
  /** Milliseconds; undefined where it is not known. */
  readonly medianInterval: number | undefined;
};

/** `isNews`: people are notified of it. */
export type ConditionChange = { readonly kind: AlertKind; readonly isNews: boolean };

export type Evaluation = {
  readonly opened: readonly ConditionChange[];
  readonly cleared: readonly ConditionChange[];
  readonly noticed: number;
  readonly checkAt: Instant | null;
};

/**
 * `silenceFrom` is given by the sweep: silence counts from here at the earliest, the end of our own downtime. Silent alerts open in
 * the sweep only, which knows it. They close outside of it only, after a reading or another setting: passing time makes no reading
 * younger, and a clock that is set back closes none.
 */
export function evaluate(condition: TankCondition, settings: AlertSettings, now: Instant, silenceFrom?: Instant): Evaluation {
  const { isLive, threshold, latest, noticed, pausedUntil } = condition;
  if (!isLive) return { opened: [], cleared: [], noticed: 0, checkAt: null };
  if (latest === undefined) return { opened: [], cleared: [], noticed, checkAt: null };
  const isPaused = pausedUntil !== null && pausedUntil > now;
  const opened: ConditionChange[] = [];
  const cleared: ConditionChange[] = [];
  const fill = latest.fill_percentage;
  const isRecent = now - latest.created_at <= NEWS_MS;
  if ((noticed & NOTICED.low) === 0) {
    if (fill <= threshold && !isPaused) opened.push({ kind: "low", isNews: isRecent });
  } else if (isRecovered(fill, threshold, settings.margin)) cleared.push({ kind: "low", isNews: isRecent });
  const limit = silentLimit(condition, settings);
  const silentAt = Math.max(latest.created_at, silenceFrom ?? latest.created_at) + limit;
  if ((noticed & NOTICED.silent) === 0) {
    if (silenceFrom !== undefined && now >= silentAt && !isPaused) {
      opened.push({ kind: "silent", isNews: now - silentAt <= NEWS_MS });
    }
  } else if (silenceFrom === undefined && now - latest.created_at < limit) cleared.push({ kind: "silent", isNews: true });
  const after = opened.reduce((bits, { kind }) => bits | NOTICED[kind], noticed);
  const remaining = cleared.reduce((bits, { kind }) => bits & ~NOTICED[kind], after);
  return { opened, cleared, noticed: remaining, checkAt: nextCheck(condition, remaining, silentAt, now) };
}

/** Also the condition under which the append of a reading can leave a noticed low fill as it is (see the engines). */
export function isRecovered(fill: number, threshold: number, margin: number): boolean {
  return fill >= Math.min(threshold + margin, 100) && fill > threshold;
}

function silentLimit({ silentAfter, medianInterval = 0 }: TankCondition, settings: AlertSettings): number {
  return Math.max(silentAfter ?? settings.silentAfter, SILENT_INTERVALS * medianInterval);
}

/** An earlier check that is still to come is kept, so that few readings change an index: it finds the right time itself. */
function nextCheck(condition: TankCondition, noticed: number, silentAt: Instant, now: Instant): Instant | null {
  const { checkAt, pausedUntil } = condition;
  const pauseEnd = pausedUntil !== null && pausedUntil > now ? pausedUntil : undefined;
  const silence = (noticed & NOTICED.silent) === 0 ? silentAt : undefined;
  const wanted =
    pauseEnd === undefined ? silence : silence === undefined || silence <= now ? pauseEnd : Math.min(silence, pauseEnd);
  if (wanted === undefined) return null;
  return checkAt !== null && checkAt > now && checkAt <= wanted ? checkAt : wanted;
}

/** Why a low alert closes: it may have cleared by another threshold only. */
export function closeReason({ kind, threshold }: Alert, fill: number, margin: number): CloseReason {
  return kind === "low" && !isRecovered(fill, threshold, margin) ? "threshold_changed" : "recovered";
}

/** The middle one of the intervals between readings; undefined for fewer than two readings. */
export function medianInterval(instants: ArrayLike<number>): number | undefined {
  if (instants.length < 2) return undefined;
  const intervals = Array.from(
    { length: instants.length - 1 },
    (_, i) => (instants[i + 1] as number) - (instants[i] as number),
  ).sort((a, b) => a - b);
  return intervals[Math.floor(intervals.length / 2)];
}
