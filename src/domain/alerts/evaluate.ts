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
  /** A tank expected to be low within this number of days runs low soon; 0 turns these alerts off. */
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
export const SILENT_INTERVALS = 3;

/**
 * The bits of `activeConditions`. A condition is active while it has an alert that is not closed, and after somebody has closed that
 * alert, until the condition clears. The bits are stored beside the latest reading: a reading that changes none of them is appended
 * without evaluating anything.
 */
export const CONDITION_BITS: Readonly<Record<AlertKind, number>> = { low: 1, silent: 2, runs_low_soon: 4, leak: 8 };
/** Another bit of `activeConditions`: nobody was notified that the tank is low, since the reading that said so was old. */
export const LOW_UNNOTIFIED_BIT = 16;
/** Another bit of `activeConditions`: a recent reading confirmed during a pause that the tank is low. People are notified when the pause ends. */
export const LOW_CONFIRMED_BIT = 64;
/**
 * Another bit of `activeConditions`: the next evaluation is later than the time set for silent tanks after the latest reading, because
 * of the usual interval, downtime or a pause. A reading may bring it forward.
 */
export const LATER_EVALUATION_BIT = 32;

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
  readonly disabledKinds: readonly ForecastKind[];
  /** Null: there is no forecast that was computed from the newest reading and the current threshold. */
  readonly forecast: ForecastSummary | null;
  /** When the newest leak alert was opened, closed manually or not; null while the condition is not active. */
  readonly leakOpenedAt: Instant | null;
  /** Milliseconds; undefined where it is not known. */
  readonly medianInterval: number | undefined;
};

/** `shouldNotify`: people are notified of it. */
type OpenedCondition = { readonly kind: AlertKind; readonly shouldNotify: boolean };
/** If `reason` is missing, `closeReason` derives it from the alert. */
type ClearedCondition = OpenedCondition & { readonly reason?: CloseReason };

type ConditionChanges = { readonly opened: readonly OpenedCondition[]; readonly cleared: readonly ClearedCondition[] };

export type Evaluation = ConditionChanges & {
  /** A recent reading confirms that the tank is low, and nobody was notified before. */
  readonly shouldNotifyLow: boolean;
  readonly activeConditions: number;
  readonly evaluateAt: Instant | null;
};

/**
 * Silent alerts open only in a sweep and close only after a reading or a changed setting: a clock that is set back closes none. A new
 * forecast leaves them unchanged. `downtimeEndedAt`: the end of our own downtime, after which tanks have some time to send.
 */
export type EvaluationTrigger =
  | { readonly cause: "sweep"; readonly downtimeEndedAt: Instant }
  | { readonly cause: "change"; readonly hasNewReading: boolean; readonly hasNewSettings: boolean }
  | { readonly cause: "forecast" };
export const ON_READING: EvaluationTrigger = { cause: "change", hasNewReading: true, hasNewSettings: false };
export const ON_SETTINGS: EvaluationTrigger = { cause: "change", hasNewReading: false, hasNewSettings: true };
export const ON_FORECAST: EvaluationTrigger = { cause: "forecast" };

/** Combines two triggers for the same tank in one transaction. */
export function bothTriggers(a: EvaluationTrigger, b: EvaluationTrigger): EvaluationTrigger {
  if (a.cause !== "change" || b.cause !== "change") return b === ON_READING ? a : b;
  const hasNewReading = a.hasNewReading || b.hasNewReading;
  return { cause: "change", hasNewReading, hasNewSettings: a.hasNewSettings || b.hasNewSettings };
}

export function evaluate(input: EvaluationInput, settings: AlertSettings, now: Instant, trigger: EvaluationTrigger): Evaluation {
  const { isLive, latest, activeConditions } = input;
  const nothing = { opened: [], cleared: [], shouldNotifyLow: false, evaluateAt: null };
  if (!isLive) return { ...nothing, activeConditions: 0 };
  if (latest === undefined) return { ...nothing, activeConditions };
  const low = evaluateLow(input, latest, settings, now, trigger);
  const forecast = evaluateForecast(input, latest.created_at, low.state, settings, now);
  const silent = evaluateSilent(input, latest.created_at, settings, now, trigger);
  const opened = [...low.opened, ...forecast.opened, ...silent.opened];
  const cleared = [...low.cleared, ...forecast.cleared, ...silent.cleared];
  const kinds = activeConditions & ~(LOW_UNNOTIFIED_BIT | LOW_CONFIRMED_BIT | LATER_EVALUATION_BIT);
  const uncleared = cleared.reduce((bits, { kind }) => bits & ~CONDITION_BITS[kind], kinds);
  const active = opened.reduce((bits, { kind }) => bits | CONDITION_BITS[kind], uncleared);
  const isUnnotified = low.state === "unnotified" && (active & CONDITION_BITS.low) !== 0;
  const evaluateAt = nextEvaluation(input, active, silent.silentAt, now, trigger);
  const isLater = evaluateAt !== null && evaluateAt > latest.created_at + silentAfter(input, settings);
  const lowBits = isUnnotified ? LOW_UNNOTIFIED_BIT | (low.isConfirmed ? LOW_CONFIRMED_BIT : 0) : 0;
  const remaining = active | lowBits | (isLater ? LATER_EVALUATION_BIT : 0);
  return { opened, cleared, shouldNotifyLow: low.shouldNotifyLow, activeConditions: remaining, evaluateAt };
}

const isActive = ({ activeConditions }: EvaluationInput, bit: number): boolean => (activeConditions & bit) !== 0;
const isPaused = ({ pausedUntil }: EvaluationInput, now: Instant): boolean => pausedUntil !== null && pausedUntil > now;

/** Whether a tank is low, also while alerts are paused, and whether people were notified of it. */
type LowState = "not_low" | "notified" | "unnotified";

function evaluateLow(
  input: EvaluationInput,
  { fill_percentage: fill, created_at }: Reading,
  { closeMargin }: AlertSettings,
  now: Instant,
  { cause }: EvaluationTrigger,
): ConditionChanges & { readonly state: LowState; readonly shouldNotifyLow: boolean; readonly isConfirmed: boolean } {
  const isAtThreshold = fill <= input.threshold;
  const isRecent = now - created_at <= NOTIFY_MAX_AGE_MS;
  const mayNotify = isRecent && !isPaused(input, now);
  if (!isActive(input, CONDITION_BITS.low)) {
    return {
      opened: isAtThreshold && !isPaused(input, now) ? [{ kind: "low", shouldNotify: isRecent }] : [],
      cleared: [],
      state: isAtThreshold ? (mayNotify ? "notified" : "unnotified") : "not_low",
      shouldNotifyLow: false,
      isConfirmed: false,
    };
  }
  const wasUnnotified = isActive(input, LOW_UNNOTIFIED_BIT);
  if (isRecovered(fill, input.threshold, closeMargin)) {
    const cleared = [{ kind: "low", shouldNotify: !wasUnnotified } as const];
    return { opened: [], cleared, state: "not_low", shouldNotifyLow: false, isConfirmed: false };
  }
  const isConfirmed = isAtThreshold && wasUnnotified && (isActive(input, LOW_CONFIRMED_BIT) || (cause === "change" && isRecent));
  const shouldNotifyLow = isConfirmed && !isPaused(input, now) && cause !== "forecast";
  const state = wasUnnotified && !shouldNotifyLow ? "unnotified" : "notified";
  return { opened: [], cleared: [], state, shouldNotifyLow, isConfirmed };
}

function evaluateForecast(
  input: EvaluationInput,
  latestAt: Instant,
  low: LowState,
  settings: AlertSettings,
  now: Instant,
): ConditionChanges {
  const opened: OpenedCondition[] = [];
  const cleared: ClearedCondition[] = [];
  for (const kind of FORECAST_KINDS) {
    const change = forecastConditionChange(kind, input, latestAt, low, settings);
    const wasActive = isActive(input, CONDITION_BITS[kind]);
    if (change === "active") {
      const isReplaced = wasActive && kind === "leak" && hasLaterLoss(input);
      if (isPaused(input, now) || (wasActive && !isReplaced)) continue;
      if (isReplaced) cleared.push({ kind, shouldNotify: true, reason: "replaced" });
      opened.push({ kind, shouldNotify: true });
    } else if (wasActive && change !== "unchanged") {
      cleared.push({ kind, shouldNotify: true, ...(change === "cleared" ? {} : { reason: change }) });
    }
  }
  return { opened, cleared };
}

/** `silentAt`: when the tank is silent, if no reading arrives. */
function evaluateSilent(
  input: EvaluationInput,
  latestAt: Instant,
  settings: AlertSettings,
  now: Instant,
  trigger: EvaluationTrigger,
): ConditionChanges & { readonly silentAt: Instant } {
  const limit = silentLimit(input, settings);
  const afterDowntime = trigger.cause === "sweep" ? trigger.downtimeEndedAt + timeToSend(input, limit) : Number.NEGATIVE_INFINITY;
  const silentAt = Math.max(latestAt + limit, afterDowntime);
  if (isActive(input, CONDITION_BITS.silent)) {
    const isCleared = trigger.cause === "change" && now - latestAt < limit;
    // Notify whatever the age of the reading: a device that sends its backlog begins with the oldest.
    return { opened: [], cleared: isCleared ? [{ kind: "silent", shouldNotify: true }] : [], silentAt };
  }
  if (trigger.cause !== "sweep" || now < silentAt || isPaused(input, now)) return { opened: [], cleared: [], silentAt };
  const dueAt = Math.max(silentAt, input.pausedUntil ?? silentAt, input.evaluateAt ?? silentAt);
  return { opened: [{ kind: "silent", shouldNotify: now - dueAt <= NOTIFY_MAX_AGE_MS }], cleared: [], silentAt };
}

/** A tank that is low does not run low soon: once people are notified that it is low, that alert replaces the other. */
function forecastConditionChange(
  kind: ForecastKind,
  { disabledKinds, forecast }: EvaluationInput,
  latestAt: Instant,
  low: LowState,
  { runsLowDays, leakAlerts }: AlertSettings,
): ConditionChange | "turned_off" | "became_low" {
  const isOn = kind === "leak" ? leakAlerts : runsLowDays > 0;
  if (!isOn || disabledKinds.includes(kind)) return "turned_off";
  if (kind === "leak") return evaluateLeak(forecast, latestAt);
  if (low === "unnotified") return "unchanged";
  return low === "notified" ? "became_low" : evaluateRunsLow(forecast, runsLowDays);
}

/** Whether a sudden loss began after the leak alert was opened. It needs an alert of its own, even if the earlier one is closed. */
function hasLaterLoss({ forecast, leakOpenedAt }: EvaluationInput): boolean {
  const leak = forecast?.leak ?? null;
  return leak !== null && typeof leak === "object" && leak.isSudden && leakOpenedAt !== null && leak.since > leakOpenedAt;
}

/** Also the condition under which the append of a reading can leave an active low condition as it is (see the engines). */
export function isRecovered(fill: number, threshold: number, closeMargin: number): boolean {
  return fill >= Math.min(threshold + closeMargin, 100) && fill > threshold;
}

const silentAfter = (input: EvaluationInput, settings: AlertSettings): number => input.silentAfter ?? settings.silentAfter;

function silentLimit(input: EvaluationInput, settings: AlertSettings): number {
  return Math.max(silentAfter(input, settings), SILENT_INTERVALS * (input.medianInterval ?? 0));
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
 * became silent because a setting changed is due now. One whose newest reading is old was due long ago, and nobody is notified.
 */
function nextEvaluation(
  input: EvaluationInput,
  activeConditions: number,
  silentAt: Instant,
  now: Instant,
  trigger: EvaluationTrigger,
): Instant | null {
  const { evaluateAt, pausedUntil } = input;
  const pauseEnd = pausedUntil !== null && pausedUntil > now ? pausedUntil : undefined;
  const silence = (activeConditions & CONDITION_BITS.silent) === 0 ? silentAt : undefined;
  const wanted =
    pauseEnd === undefined ? silence : silence === undefined || silence <= now ? pauseEnd : Math.min(silence, pauseEnd);
  if (wanted === undefined) return null;
  if (trigger.cause === "change" && trigger.hasNewSettings) return Math.max(wanted, now);
  const isKept = evaluateAt !== null && (evaluateAt > now ? evaluateAt <= wanted : evaluateAt > wanted);
  return isKept ? evaluateAt : wanted;
}

/** Why an alert closes whose condition has cleared: it may have done so by another threshold, or another setting, only. */
export function closeReason(
  alert: Alert,
  { threshold, fill, closeMargin }: { readonly threshold: number; readonly fill: number; readonly closeMargin: number },
  trigger: EvaluationTrigger,
): CloseReason {
  const isByThreshold: Readonly<Record<AlertKind, boolean>> = {
    low: !isRecovered(fill, alert.threshold, closeMargin),
    runs_low_soon: threshold < alert.threshold && fill <= alert.fill_percentage,
    leak: false,
    silent: false,
  };
  if (isByThreshold[alert.kind]) return "threshold_changed";
  return trigger.cause === "change" && !trigger.hasNewReading ? "setting_changed" : "recovered";
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
