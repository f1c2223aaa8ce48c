// An alert: a tank that needs somebody's attention, from the moment it was detected until it is closed.

import type { Leak } from "../forecast/leak.ts";
import { errorInClockTimes, errorInEachInstant, formatInstant, formatInstantOrNull, type Instant } from "../instant.ts";
import { idField, instantField, literal, nullable, number, object, oneOf, text } from "../schema.ts";
import { errorInObject } from "../validate.ts";

export const ALERT_KINDS = ["low", "runs_low_soon", "leak", "silent"] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

export const ALERT_STATES = ["open", "acknowledged", "closed"] as const;
export type AlertState = (typeof ALERT_STATES)[number];

const CLOSE_REASONS = [
  "recovered",
  "became_low",
  "threshold_changed",
  "setting_changed",
  "turned_off",
  "tank_deleted",
  "manual",
  "replaced",
] as const;
export type CloseReason = (typeof CLOSE_REASONS)[number];

/** A tank has at most one alert of a kind that is not closed. */
export type Alert = {
  readonly id: string;
  readonly kind: AlertKind;
  readonly state: AlertState;
  readonly tank_id: string;
  /** The current owner of the tank. */
  readonly owner_id: string;
  readonly opened_at: Instant;
  readonly acknowledged_at: Instant | null;
  /** The id of the key or user that acknowledged it, or one of ACTORS. */
  readonly acknowledged_by: string | null;
  readonly closed_at: Instant | null;
  readonly close_reason: CloseReason | null;
  /** The tank's threshold when the alert was opened. */
  readonly threshold: number;
  /** The fill that the alert was opened at. */
  readonly fill_percentage: number;
  /** The fill of the tank now, or when the alert was closed. */
  readonly latest_fill_percentage: number;
  readonly latest_reading_at: Instant;
  /** For `runs_low_soon`: when the tank was expected to be low, as of the opening of the alert. */
  readonly runs_low_at: Instant | null;
  /** For `leak`: what was known of it when the alert was opened. */
  readonly leak: Leak | null;
  readonly note: string | null;
  readonly updated_at: Instant;
};

const percentage = (description: string, example: number) =>
  number({ minimum: 0, maximum: 100, description, examples: [example] });

const points = (description: string, example: number | null) =>
  nullable(number({ minimum: 0, description, examples: [example] }));

export const NOTE_MAX_LENGTH = 1000;

export const AlertObject = object(
  {
    id: idField("Identifier of the alert", "alr_01kxa8w5s0d2f4g6h8j0k2m4n6"),
    object: literal("alert", { description: "Always `alert`" }),
    kind: oneOf(ALERT_KINDS, {
      description:
        "low: at or below the tank's threshold; runs_low_soon: expected to be low within days; leak: use far above normal; silent: no reading for too long",
      examples: ["low"],
    }),
    state: oneOf(ALERT_STATES, { description: "open, then acknowledged, then closed", examples: ["open"] }),
    tank_id: idField("The tank", "tank_01kxa8w5s0d2f4g6h8j0k2m4n6"),
    owner_id: idField("The current owner of the tank", "cus_01kxa8w5s0d2f4g6h8j0k2m4n6"),
    opened_at: instantField("When the alert was opened"),
    acknowledged_at: nullable({ ...instantField("When it was acknowledged"), examples: [null] }),
    acknowledged_by: nullable(
      text({ description: "The id of the key or user that acknowledged it, or `command line`", examples: [null] }),
    ),
    closed_at: nullable({ ...instantField("When it was closed"), examples: [null] }),
    close_reason: nullable(
      oneOf(CLOSE_REASONS, {
        description:
          "recovered: the condition has cleared; became_low: the tank is low now; threshold_changed: it has cleared by another threshold; setting_changed: it has cleared by another setting; turned_off: alerts of this kind are off; tank_deleted: the tank was deleted; manual: somebody closed it; replaced: a sudden loss followed, which has an alert of its own",
        examples: [null],
      }),
    ),
    threshold: percentage("The tank's threshold when the alert was opened", 20),
    fill_percentage: percentage("The fill of the tank when the alert was opened", 19.5),
    latest_fill_percentage: percentage("The fill of the tank now, or when the alert was closed", 18.7),
    latest_reading_at: instantField("When that was measured"),
    runs_low_at: nullable({
      ...instantField("When the tank was expected to be low, when a runs_low_soon alert was opened; null for other kinds"),
      examples: [null],
    }),
    leak: nullable(
      object(
        {
          since: instantField("Since when more is used than normal"),
          percentage_per_day: points("Percentage points a day above normal use; null for a sudden loss", 1.2),
          percentage_lost: points("Percentage points of a sudden loss; null for a steady leak", null),
        },
        { description: "What a leak alert was opened by; null for other kinds", examples: [null] },
      ),
    ),
    note: nullable(
      text({
        maxLength: NOTE_MAX_LENGTH,
        description: "Note given when the alert was acknowledged, changed or closed",
        examples: [null],
      }),
    ),
    updated_at: instantField("When the alert was last changed"),
  },
  { description: "A tank that needs attention" },
);

export function alertObject(alert: Alert) {
  return {
    id: alert.id,
    object: "alert",
    kind: alert.kind,
    state: alert.state,
    tank_id: alert.tank_id,
    owner_id: alert.owner_id,
    opened_at: formatInstant(alert.opened_at),
    acknowledged_at: formatInstantOrNull(alert.acknowledged_at),
    acknowledged_by: alert.acknowledged_by,
    closed_at: formatInstantOrNull(alert.closed_at),
    close_reason: alert.close_reason,
    threshold: alert.threshold,
    fill_percentage: alert.fill_percentage,
    latest_fill_percentage: alert.latest_fill_percentage,
    latest_reading_at: formatInstant(alert.latest_reading_at),
    runs_low_at: formatInstantOrNull(alert.runs_low_at),
    leak: alert.leak && leakObject(alert.leak),
    note: alert.note,
    updated_at: formatInstant(alert.updated_at),
  } as const;
}

function leakObject({ since, excess, isSudden }: Leak) {
  const percentage = Math.round(100 * excess) / 100;
  return {
    since: formatInstant(since),
    percentage_per_day: isSudden ? null : percentage,
    percentage_lost: isSudden ? percentage : null,
  };
}

/** What is wrong with a stored alert. */
export function errorInAlert(alert: Alert): string | undefined {
  const { opened_at, acknowledged_at, closed_at, updated_at, latest_reading_at, runs_low_at, leak } = alert;
  return (
    errorInClockTimes({ opened_at, acknowledged_at, closed_at, updated_at }) ??
    errorInEachInstant({ latest_reading_at, runs_low_at, "leak.since": leak?.since ?? null }) ??
    errorInObject(AlertObject, alertObject(alert)) ??
    errorInStateFields(alert)
  );
}

/** A closed alert may have been acknowledged or not. */
function errorInStateFields({ state, acknowledged_at, closed_at, close_reason }: Alert): string | undefined {
  const isClosed = state === "closed";
  if ((closed_at !== null) !== isClosed) return `closed_at: must be ${isClosed ? "set" : "null"}, it is ${state}`;
  if ((close_reason !== null) !== isClosed) return `close_reason: must be ${isClosed ? "set" : "null"}, it is ${state}`;
  const isAcknowledged = state === "acknowledged";
  if (isClosed || (acknowledged_at !== null) === isAcknowledged) return undefined;
  return `acknowledged_at: must be ${isAcknowledged ? "set" : "null"}, it is ${state}`;
}
