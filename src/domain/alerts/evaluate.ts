// When alerts open and close: pure rules on the newest reading of a tank and its forecast.

import { HOUR, type Instant } from "../instant.ts";
import type { Reading } from "../reading.ts";
import type { Alert, AlertKind, CloseReason } from "./alert.ts";
import {
  type ConditionChange,
  evaluateLeak,
  evaluateRunsLow,
  FORECAST_KINDS,
  type ForecastKind,
  type ForecastSummary,
} from "./forecast-conditions.ts";

export type AlertSettings = {
  /** Percentage points above the threshold at which a low alert closes. */
  readonly closeMargin: number;
  /** Milliseconds without a reading after which a tank is silent, unless its own setting or its usual interval is longer. */
  readonly silentAfter: number;
  /** Milliseconds after which the owner is reminded of an alert. */
  readonly remindAfter: number;
  /** A tank that is expected to be low within so many days runs low soon; 0: such alerts are off. */
  readonly runsLowDays: number;
  readonly leakAlerts: boolean;
  /** The kinds of alerts that owners get mail about. */
  readonly ownerKinds: readonly AlertKind[];
};

export const DEFAULT_ALERT_SETTINGS: AlertSettings = {
  closeMargin: 3,
  silentAfter: 48 * HOUR,
  remindAfter: 72 * HOUR,
  runsLowDays: 7,
  leakAlerts: true,
  ownerKinds: ["low"],
};

/** If the reading is older than this, low alerts change but nobody is notified. */
const NOTIFY_MAX_AGE_MS = 24 * HOUR;
/** A tank is not silent before this many of its usual intervals have passed. */
const SILENT_INTERVALS = 3;

/**
 * The bits of `activeConditions`. A condition is active while it has an alert that is not closed, and after somebody has closed that
 * alert, until the condition clears. The bits are stored beside the latest reading: a reading that changes none of them is appended
 * without evaluating anything.
 */
export const CONDITION_BITS: Readonly<Record<AlertKind, number>> = { low: 1, silent: 2, runs_low_soon: 4, leak: 8 };
/** Another bit of `activeConditions`: nobody was notified that the tank is low, since the reading that said so was old. */
export const LOW_UNANNOUNCED_BIT = 16;

/** What is known of a tank when its alerts are evaluated. */
export type EvaluationInput = {
  readonly tankId: string;
  readonly isLive: boolean;
  readonly threshold: number;
  readonly latest: Reading | undefined;
  readonly activeConditions: number;
  readonly evaluateAt: Instant | null;
  readonly silentAfter: number | null;
  readonly pausedUntil: Instant | null;
  /** Kinds that are off for this tank. */
  readonly kindsOff: readonly ForecastKind[];
  /** Null: there is no forecast that knows the newest reading and the threshold. */
  readonly forecast: ForecastSummary | null;
  /** When the newest leak alert was opened, closed by hand or not; null while the condition is not active. */
  readonly leakOpenedAt: Instant | null;
  /** Milliseconds; undefined where it is not known. */
  readonly medianInterval: number | undefined;
};

/** `shouldNotify`: people are notified of it. */
type OpenedCondition = { readonly kind: AlertKind; readonly shouldNotify: boolean };
/** If `reason` is missing, `closeReason` derives it from the alert. */
type ClearedCondition = OpenedCondition & { readonly reason?: CloseReason };

export type Evaluation = {
  readonly opened: readonly OpenedCondition[];
  readonly cleared: readonly ClearedCondition[];
  /** A recent reading confirms that the tank is low, and nobody was notified before. */
  readonly announcesLow: boolean;
  readonly activeConditions: number;
  readonly evaluateAt: Instant | null;
};

/**
 * Silent alerts open only in a sweep and close only after a reading or a changed setting: a clock that is set back closes none. A new
 * forecast leaves them unchanged. `silenceFrom`: the end of our own downtime, after which tanks have some time to send.
 */
export type EvaluationMode =
  | { readonly mode: "sweep"; readonly silenceFrom: Instant }
  | { readonly mode: "change"; readonly hasNewSettings: boolean }
  | { readonly mode: "forecast" };
export const ON_READING: EvaluationMode = { mode: "change", hasNewSettings: false };
export const ON_SETTINGS: EvaluationMode = { mode: "change", hasNewSettings: true };
export const ON_FORECAST: EvaluationMode = { mode: "forecast" };

export function evaluate(input: EvaluationInput, settings: AlertSettings, now: Instant, by: EvaluationMode): Evaluation {
  const { isLive, threshold, latest, activeConditions, pausedUntil } = input;
  const nothing = { opened: [], cleared: [], announcesLow: false, evaluateAt: null };
  if (!isLive) return { ...nothing, activeConditions: 0 };
  if (latest === undefined) return { ...nothing, activeConditions };
  const isPaused = pausedUntil !== null && pausedUntil > now;
  const opened: OpenedCondition[] = [];
  const cleared: ClearedCondition[] = [];
  const fill = latest.fill_percentage;
  const isRecent = now - latest.created_at <= NOTIFY_MAX_AGE_MS;
  const wasLow = (activeConditions & CONDITION_BITS.low) !== 0;
  const wasUnannounced = (activeConditions & LOW_UNANNOUNCED_BIT) !== 0;
  const hasRecovered = isRecovered(fill, threshold, settings.closeMargin);
  if (!wasLow) {
    if (fill <= threshold && !isPaused) opened.push({ kind: "low", shouldNotify: isRecent });
  } else if (hasRecovered) cleared.push({ kind: "low", shouldNotify: !wasUnannounced });
  const isLow = fill <= threshold || (wasLow && !hasRecovered);
  const announcesLow = wasLow && fill <= threshold && wasUnannounced && isRecent && !isPaused && by.mode === "change";
  const isUnannounced = wasLow ? wasUnannounced && !announcesLow : !isRecent || isPaused;
  const low = isLow ? (isUnannounced ? "unannounced" : "announced") : "no";
  for (const kind of FORECAST_KINDS) {
    const change = forecastConditionChange(kind, input, latest.created_at, low, settings);
    const isActive = (activeConditions & CONDITION_BITS[kind]) !== 0;
    if (change === "active") {
      const isReplaced = isActive && kind === "leak" && hasLaterLoss(input);
      if (isPaused || (isActive && !isReplaced)) continue;
      if (isReplaced) cleared.push({ kind, shouldNotify: true, reason: "replaced" });
      opened.push({ kind, shouldNotify: true });
    } else if (isActive && change !== "unchanged") {
      cleared.push({ kind, shouldNotify: true, ...(change === "cleared" ? {} : { reason: change }) });
    }
  }
  const limit = silentLimit(input, settings);
  const silentAt = Math.max(
    latest.created_at + limit,
    by.mode === "sweep" ? by.silenceFrom + timeToSend(input, limit) : Number.NEGATIVE_INFINITY,
  );
  if ((activeConditions & CONDITION_BITS.silent) === 0) {
    if (by.mode === "sweep" && now >= silentAt && !isPaused) {
      const dueAt = Math.max(silentAt, pausedUntil ?? silentAt, input.evaluateAt ?? silentAt);
      opened.push({ kind: "silent", shouldNotify: now - dueAt <= NOTIFY_MAX_AGE_MS });
    }
  } else if (by.mode === "change" && now - latest.created_at < limit) {
    // Notify whatever the age of the reading: a device that sends its backlog begins with the oldest.
    cleared.push({ kind: "silent", shouldNotify: true });
  }
  const uncleared = cleared.reduce((bits, { kind }) => bits & ~CONDITION_BITS[kind], activeConditions & ~LOW_UNANNOUNCED_BIT);
  const active = opened.reduce((bits, { kind }) => bits | CONDITION_BITS[kind], uncleared);
  const remaining = isUnannounced && (active & CONDITION_BITS.low) !== 0 ? active | LOW_UNANNOUNCED_BIT : active;
  const evaluateAt = nextEvaluation(input, remaining, silentAt, now, by);
  return { opened, cleared, announcesLow, activeConditions: remaining, evaluateAt };
}

/** A tank that is low does not run low soon: once people are notified that it is low, that alert replaces the other. */
function forecastConditionChange(
  kind: ForecastKind,
  { kindsOff, forecast }: EvaluationInput,
  latestAt: Instant,
  low: "no" | "announced" | "unannounced",
  { runsLowDays, leakAlerts }: AlertSettings,
): ConditionChange | "turned_off" | "became_low" {
  const isOn = kind === "leak" ? leakAlerts : runsLowDays > 0;
  if (!isOn || kindsOff.includes(kind)) return "turned_off";
  if (kind === "leak") return evaluateLeak(forecast, latestAt);
  if (low === "unannounced") return "unchanged";
  return low === "announced" ? "became_low" : evaluateRunsLow(forecast, runsLowDays);
}

/** Whether much was lost at once after the leak alert was opened: people do not know of it, whatever became of that alert. */
function hasLaterLoss({ forecast, leakOpenedAt }: EvaluationInput): boolean {
  const leak = forecast?.leak ?? null;
  return leak !== null && typeof leak === "object" && leak.isSudden && leakOpenedAt !== null && leak.since > leakOpenedAt;
}

/** Also the condition under which the append of a reading can leave an active low condition as it is (see the engines). */
export function isRecovered(fill: number, threshold: number, closeMargin: number): boolean {
  return fill >= Math.min(threshold + closeMargin, 100) && fill > threshold;
}

function silentLimit({ silentAfter, medianInterval = 0 }: EvaluationInput, settings: AlertSettings): number {
  return Math.max(silentAfter ?? settings.silentAfter, SILENT_INTERVALS * medianInterval);
}

/**
 * The time that a tank has to send after our own downtime. Not the whole limit, if its usual interval is known: a service that is
 * stopped every night would never find a silent tank.
 */
function timeToSend({ medianInterval }: EvaluationInput, limit: number): number {
  return medianInterval === undefined ? limit : Math.min(limit, Math.max(HOUR, SILENT_INTERVALS * medianInterval));
}

/**
 * Keeps an earlier scheduled evaluation, so that few readings change the index; that evaluation computes the correct time. A tank that
 * a setting makes silent is due from now on; one that is silent by an old reading has been due for long, and nobody is notified.
 */
function nextEvaluation(
  input: EvaluationInput,
  activeConditions: number,
  silentAt: Instant,
  now: Instant,
  by: EvaluationMode,
): Instant | null {
  const { evaluateAt, pausedUntil } = input;
  const pauseEnd = pausedUntil !== null && pausedUntil > now ? pausedUntil : undefined;
  const silence = (activeConditions & CONDITION_BITS.silent) === 0 ? silentAt : undefined;
  const wanted =
    pauseEnd === undefined ? silence : silence === undefined || silence <= now ? pauseEnd : Math.min(silence, pauseEnd);
  if (wanted === undefined) return null;
  if (by.mode === "change" && by.hasNewSettings) return Math.max(wanted, now);
  const isKept = evaluateAt !== null && (evaluateAt > now ? evaluateAt <= wanted : evaluateAt > wanted);
  return isKept ? evaluateAt : wanted;
}

/** Why an alert closes whose condition has cleared: it may have done so by another threshold only. */
export function closeReason(alert: Alert, threshold: number, fill: number, closeMargin: number): CloseReason {
  const isByThreshold: Readonly<Record<AlertKind, boolean>> = {
    low: !isRecovered(fill, alert.threshold, closeMargin),
    runs_low_soon: threshold < alert.threshold && fill <= alert.fill_percentage,
    leak: false,
    silent: false,
  };
  return isByThreshold[alert.kind] ? "threshold_changed" : "recovered";
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
