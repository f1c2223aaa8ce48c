// Alerts that were acknowledged or closed, which only operators get mail about. They get English, as everywhere.

import type { AlertKind, CloseReason } from "../alerts/alert.ts";
import type { AlertUpdate, Counted, OwnerUpdate, Subject } from "./phrases.ts";

type OperatorUpdate = Exclude<AlertUpdate, OwnerUpdate>;

const ALERTS: Readonly<Record<AlertKind, string>> = {
  low: "low-fill alert",
  runs_low_soon: "runs-low alert",
  leak: "leak alert",
  silent: "silence alert",
};
const ACKNOWLEDGED: Readonly<Record<AlertKind, Subject>> = {
  low: (name, percent) => `Acknowledged: tank low, ${percent}: ${name}`,
  runs_low_soon: (name, percent) => `Acknowledged: tank expected to run low soon, ${percent}: ${name}`,
  leak: (name) => `Acknowledged: possible leak: ${name}`,
  silent: (name) => `Acknowledged: no readings from tank: ${name}`,
};
export const CLOSE_REASONS: Readonly<Record<CloseReason, string>> = {
  recovered: "recovered",
  became_low: "the tank is low now",
  threshold_changed: "the threshold was changed",
  setting_changed: "a setting was changed",
  turned_off: "alerts of this kind were turned off",
  tank_deleted: "the tank was deleted",
  manual: "closed manually",
  replaced: "replaced by another alert",
};

export const operatorSubjects = (kind: AlertKind): Readonly<Record<OperatorUpdate, Subject>> => ({
  acknowledged: ACKNOWLEDGED[kind],
  closed: (name) => `Closed: ${ALERTS[kind]} of ${name}`,
});

export function operatorCounts(kind: AlertKind): Readonly<Record<OperatorUpdate, Counted>> {
  const alerts: Counted = (count, shown) => (count === 1 ? `1 ${ALERTS[kind]}` : `${shown} ${ALERTS[kind]}s`);
  return {
    acknowledged: (count, shown) => `${alerts(count, shown)} acknowledged`,
    closed: (count, shown) => `${alerts(count, shown)} closed`,
  };
}
