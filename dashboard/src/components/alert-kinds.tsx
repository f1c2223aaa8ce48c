// The kinds and states of alerts in words, each with an icon: a state is never shown by colour alone.

import type { Alert } from "../../../client/src/index.ts";
import type { IconName } from "./icon.tsx";

export type AlertKind = Alert["kind"];

type Kind = { readonly label: string; readonly icon: IconName; readonly tone: Tone };
export type Tone = "low" | "soon" | "silent" | "leak" | "ok";

export const ALERT_KINDS: Readonly<Record<AlertKind, Kind>> = {
  low: { label: "Low", icon: "low", tone: "low" },
  runs_low_soon: { label: "Runs low soon", icon: "clock", tone: "soon" },
  silent: { label: "Silent", icon: "silent", tone: "silent" },
  leak: { label: "Leak suspected", icon: "drop", tone: "leak" },
};

export const ALERT_STATES: Readonly<Record<Alert["state"], string>> = {
  open: "Open",
  acknowledged: "Acknowledged",
  closed: "Closed",
};

export const CLOSE_REASONS: Readonly<Record<NonNullable<Alert["close_reason"]>, string>> = {
  recovered: "recovered",
  became_low: "the tank became low",
  threshold_changed: "the threshold was changed",
  setting_changed: "a setting was changed",
  turned_off: "alerts of this kind were turned off",
  tank_deleted: "the tank was deleted",
  manual: "closed manually",
  replaced: "another alert replaced it",
};
