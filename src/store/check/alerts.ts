// Checks alerts, and compares them with the tanks that they are about.

import { ALERT_KINDS, type AlertKind, errorInAlert } from "../../domain/alerts/alert.ts";
import {
  CONDITION_BITS,
  DEFAULT_ALERT_SETTINGS,
  type EvaluationInput,
  evaluate,
  isRecovered,
  LATER_EVALUATION_BIT,
  LOW_CONFIRMED_BIT,
  LOW_UNNOTIFIED_BIT,
  ON_FORECAST,
  ON_READING,
} from "../../domain/alerts/evaluate.ts";
import { disabledKindsOf, FORECAST_KINDS, forecastSummary } from "../../domain/alerts/forecast-conditions.ts";
import type { SweepSettings } from "../../domain/alerts/sweep.ts";
import type { Reading } from "../../domain/reading.ts";
import { evaluateAlerts } from "../core/alerts.ts";
import type { StoreTransaction } from "../core/transaction.ts";
import type { AlertRow, TankAlertRows } from "./alert-rows.ts";
import { type CheckedRow, damagedRow, type Inconsistency, repairable, unrepairable } from "./inconsistency.ts";
import type { TankRow } from "./operations.ts";

const OTHER_BITS = LOW_UNNOTIFIED_BIT | LOW_CONFIRMED_BIT | LATER_EVALUATION_BIT;
const ALL_BITS = Object.values(CONDITION_BITS).reduce((bits, bit) => bits | bit, OTHER_BITS);

/** Each alert alone. Alerts of deleted tanks stay: a tank row is never removed. */
export function checkAlert({ alert, hasTank }: AlertRow): CheckedRow<string> {
  const error = errorInAlert(alert) ?? (hasTank ? undefined : `tank_id: there is no tank ${alert.tank_id}`);
  return { key: alert.id, where: `alert ${alert.id}`, found: damagedRow(error) };
}

/** `latest`: the newest reading of a live tank. */
export function alertErrors(
  row: TankRow,
  isLive: boolean,
  latest: Reading | undefined,
  { unclosed, withOtherOwner }: TankAlertRows,
  settings: SweepSettings | undefined,
): Inconsistency[] {
  const { tank, fleet } = row;
  const owner = withOtherOwner === 0 ? [] : repairable(`${withOtherOwner} of its alerts belong to another owner than the tank`);
  const twice = ALERT_KINDS.filter((kind) => unclosed.filter((one) => one === kind).length > 1);
  const several = twice.flatMap((kind) => unrepairable(`it has several ${kind} alerts that are not closed: close all but one`));
  if (!isLive)
    return [...owner, ...(unclosed.length === 0 ? [] : repairable("it is deleted, but has alerts that are not closed"))];
  if (fleet === undefined) return [...owner, ...several];
  const { activeConditions, evaluateAt } = fleet;
  const isActive = (kind: AlertKind): boolean => (activeConditions & CONDITION_BITS[kind]) !== 0;
  const threshold = tank.min_fill_alert_percentage;
  const fill = latest?.fill_percentage;
  const isUnalerted = fill !== undefined && fill <= threshold && !unclosed.includes("low");
  const hasRecovered = fill !== undefined && settings !== undefined && isRecovered(fill, threshold, settings.closeMargin);
  const { paused_until } = row.alerts;
  return [
    ...owner,
    ...several,
    ...ALERT_KINDS.filter((kind) => unclosed.includes(kind) && !isActive(kind)).flatMap((kind) =>
      repairable(`it has a ${kind} alert that is not closed, but its condition ${kind} is not active`),
    ),
    ...((activeConditions & ~ALL_BITS) === 0 &&
    (isActive("low") || (activeConditions & LOW_UNNOTIFIED_BIT) === 0) &&
    ((activeConditions & LOW_UNNOTIFIED_BIT) !== 0 || (activeConditions & LOW_CONFIRMED_BIT) === 0) &&
    (activeConditions === 0 || latest !== undefined)
      ? []
      : repairable(`its active conditions are ${activeConditions}`)),
    ...(isActive("low") && hasRecovered ? repairable(`its condition low is active, but its fill is ${fill}`) : []),
    ...(isUnalerted && !isActive("low") && paused_until === null
      ? repairable(`its fill is ${fill}, but its condition low is not active`)
      : []),
    ...(latest !== undefined && !isActive("silent") && evaluateAt === null
      ? repairable("it has no time at which its alerts are evaluated again")
      : []),
    ...(latest === undefined || settings === undefined ? [] : forecastErrors(row, latest, activeConditions, settings)),
  ];
}

/** Whether the active conditions are those that follow from the forecast. */
function forecastErrors(row: TankRow, latest: Reading, activeConditions: number, settings: SweepSettings): Inconsistency[] {
  const { tank, alerts, forecast } = row;
  const { created_at, fill_percentage } = latest;
  const isCurrent = forecast?.dueAt === null && forecast.at === created_at && forecast.fill === fill_percentage;
  const values = isCurrent ? forecast.forecast : null;
  const condition: EvaluationInput = {
    tankId: tank.id,
    isLive: true,
    threshold: tank.min_fill_alert_percentage,
    latest,
    activeConditions,
    evaluateAt: null,
    // The end of a pause may not have been evaluated yet.
    pausedUntil: alerts.paused_until === null ? null : Number.POSITIVE_INFINITY,
    silentAfter: alerts.silent_after,
    disabledKinds: disabledKindsOf(alerts),
    leakOpenedAt: null,
    medianInterval: undefined,
    forecast: values === null ? null : forecastSummary(values, forecast?.computedAt ?? 0),
  };
  const { opened, cleared } = evaluate(condition, { ...DEFAULT_ALERT_SETTINGS, ...settings }, Date.now(), ON_FORECAST);
  return FORECAST_KINDS.flatMap((kind) => [
    ...(opened.some((one) => one.kind === kind)
      ? repairable(`its condition ${kind} is not active, but its forecast says so`)
      : []),
    ...(cleared.some((one) => one.kind === kind) ? repairable(`its condition ${kind} is active, but should not be`) : []),
  ]);
}

/** The head is locked. The conditions of alerts that are not closed become active; then the rules are applied. */
export async function repairAlerts(tx: StoreTransaction, { tank, fleet }: TankRow): Promise<void> {
  const { id, owner_id } = tank;
  await tx.lockAlerts();
  await tx.moveAlerts(new Map([[id, owner_id]]));
  if (fleet !== undefined) {
    const unclosed = await tx.alertsNotClosed([id]);
    const activeConditions = unclosed.reduce((bits, { kind }) => bits | CONDITION_BITS[kind], fleet.activeConditions & ALL_BITS);
    await tx.setEvaluations(new Map([[id, { activeConditions, evaluateAt: null }]]));
  }
  tx.alertWork.addDueNotifications(await evaluateAlerts(tx, new Map([[id, ON_READING]]), await tx.now()));
}
