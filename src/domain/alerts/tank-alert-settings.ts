// What the operator sets for the alerts of one tank.

import type { FieldError } from "../errors.ts";
import {
  DAY,
  formatDuration,
  formatInstantOrNull,
  type Instant,
  instantOrNull,
  isInstant,
  MINUTE,
  parseDuration,
} from "../instant.ts";
import { boolean, durationField, instantField, nullable, object, partial, type Static } from "../schema.ts";
import { errorsInObject, isObject } from "../validate.ts";

export type TankAlertSettings = {
  /** Milliseconds without a reading after which the tank is silent; null: `SILENT_AFTER`. */
  readonly silent_after: number | null;
  /** No alert opens until then. */
  readonly paused_until: Instant | null;
  /** Whether alerts of these kinds open. */
  readonly runs_low_soon: boolean;
  readonly leak: boolean;
};

export const DEFAULT_TANK_ALERT_SETTINGS: TankAlertSettings = {
  silent_after: null,
  paused_until: null,
  runs_low_soon: true,
  leak: true,
};

const SILENT_AFTER = { minimum: 10 * MINUTE, maximum: 365 * DAY };

/** A kind of alerts that may be off. */
const kindField = (description: string) => boolean({ description, examples: [true] });

export const TankAlertSettingsObject = object(
  {
    silent_after: nullable(
      durationField(
        "Time without a reading after which the tank is silent, from 10m to 365d; null: the setting of the service",
        "72h",
      ),
    ),
    paused_until: nullable(instantField("No alert of this tank opens until then")),
    runs_low_soon: kindField("false: no alert says that this tank is expected to be low soon"),
    leak: kindField("false: no alert says that use of this tank is far above normal"),
  },
  { description: "Settings for the alerts of the tank" },
);
export const TankAlertSettingsChange = partial(TankAlertSettingsObject, {
  description: "The settings to change; `null` clears `silent_after` or `paused_until`",
});

/** As JSON has them; what is left out stays as it is. */
export type TankAlertSettingsInput = Static<typeof TankAlertSettingsChange>;

/** All errors by field. */
export function errorsInTankAlertSettings(value: unknown): FieldError[] {
  const errors = errorsInObject(TankAlertSettingsChange, value, "alerts");
  const given = isObject(value) ? value["silent_after"] : undefined;
  const duration = typeof given === "string" ? parseDuration(given) : undefined;
  if (duration === undefined || isSilentAfter(duration)) return errors;
  return [...errors, { field: "alerts.silent_after", message: "must be from 10m to 365d" }];
}

const isSilentAfter = (value: number): boolean => value >= SILENT_AFTER.minimum && value <= SILENT_AFTER.maximum;

/** `input` has been validated. */
export function mergeTankAlertSettings(before: TankAlertSettings, input: TankAlertSettingsInput = {}): TankAlertSettings {
  const { silent_after, paused_until, runs_low_soon = before.runs_low_soon, leak = before.leak } = input;
  return {
    silent_after: silent_after === undefined ? before.silent_after : durationOrNull(silent_after),
    paused_until: paused_until === undefined ? before.paused_until : instantOrNull(paused_until),
    runs_low_soon,
    leak,
  };
}

const durationOrNull = (text: string | null): number | null => (text === null ? null : (parseDuration(text) ?? null));

export function tankAlertSettingsObject({ silent_after, paused_until, runs_low_soon, leak }: TankAlertSettings) {
  return {
    silent_after: silent_after === null ? null : formatDuration(silent_after),
    paused_until: formatInstantOrNull(paused_until),
    runs_low_soon,
    leak,
  } as const;
}

/** What is wrong with stored settings. */
export function errorInTankAlertSettings({ silent_after, paused_until }: TankAlertSettings): string | undefined {
  if (silent_after !== null && !isSilentAfter(silent_after)) {
    return `alerts.silent_after: should be from 10m to 365d, it is ${silent_after} ms`;
  }
  if (paused_until === null || isInstant(paused_until)) return undefined;
  return `alerts.paused_until: ${paused_until} is not an instant between the years 0000 and 9999`;
}
