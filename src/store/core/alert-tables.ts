// The tables of alerts and events, and what is read to evaluate tanks, in SQL for both engines.

import type { Alert } from "../../domain/alerts/alert.ts";
import { CONDITION_BITS, type EvaluationInput } from "../../domain/alerts/evaluate.ts";
import type { StoredEvent } from "../../domain/alerts/event.ts";
import { disabledKindsOf, forecastSummary } from "../../domain/alerts/forecast-conditions.ts";
import type { Reevaluation } from "../../domain/alerts/sweep.ts";
import type { CustomerWithCount } from "../../domain/customer.ts";
import { DamageError } from "../../domain/errors.ts";
import type { Instant } from "../../domain/instant.ts";
import type { Tank } from "../../domain/tank.ts";
import {
  CUSTOMER_COLUMNS,
  customerOf,
  fieldsOf,
  isDeleted,
  type Row,
  type Scalar,
  TANK_COLUMNS,
  tankOf,
  valuesOf,
} from "../columns.ts";
import { prefixed } from "./dialect.ts";
import { forecastOf } from "./forecast-tables.ts";
import { ALERT_INDEX_CONDITION } from "./schema.ts";
import { serviceStateTable } from "./service-state.ts";
import { type RunForIds, type SqlRunner, updateExisting } from "./sql-runner.ts";

/** The stored number, and that of the newest event, which is not larger. */
const LAST_SEQUENCE = `
  SELECT (SELECT value FROM service_state WHERE name = 'event_sequence'), (SELECT max(sequence) FROM event)`; // primary keys
const DAMAGED_SEQUENCE = 'the last sequence number of events is damaged: "npx tank-monitor check --repair" corrects it';

/**
 * Run on a restored database: no event gets a number that the replaced database may have given to another one. Numbers rise by one for
 * each event, and more milliseconds pass than events are written: the current time is above all numbers so far.
 */
export const raiseSequence = (now: Instant): string =>
  `INSERT INTO service_state (name, value) VALUES ('event_sequence', '${now}') ON CONFLICT (name)
   DO UPDATE SET value = excluded.value WHERE CAST(service_state.value AS bigint) < ${now};`;

export const ALERT_FIELDS = [
  "id",
  "kind",
  "state",
  "tank_id",
  "owner_id",
  "created_at",
  "acknowledged_at",
  "acknowledged_by",
  "closed_at",
  "close_reason",
  "threshold",
  "fill",
  "latest_fill",
  "latest_at",
  "runs_low_at",
  "leak_since",
  "leak_excess",
  "leak_loss",
  "note",
  "updated_at",
] as const;

/** In the order of `ALERT_FIELDS`. Of an alert that is not closed, the latest reading is that of the tank. */
export function alertColumns(alert: string): string {
  const latest = (column: string, stored: string): string =>
    `CASE WHEN ${alert}.state = 'closed' THEN ${alert}.${stored} ELSE coalesce(
      (SELECT fleet.${column} FROM fleet WHERE fleet.tank = ${alert}.tank_id AND fleet.fill IS NOT NULL), ${alert}.${stored}
    ) END AS ${stored}`;
  const columns: Readonly<Record<string, string>> = {
    latest_fill: latest("fill", "latest_fill"),
    latest_at: latest("at", "latest_at"),
  };
  return ALERT_FIELDS.map((name) => columns[name] ?? `${alert}.${name}`).join(", ");
}
export const ALERT_COLUMNS = alertColumns("alert");

export function alertOf(row: Row): Alert {
  const { created_at, fill, latest_fill, latest_at, leak_since, leak_excess, leak_loss, ...alert } = fieldsOf(ALERT_FIELDS, row);
  return {
    ...alert,
    opened_at: created_at,
    fill_percentage: fill,
    latest_fill_percentage: latest_fill,
    latest_reading_at: latest_at,
    leak: leak_since === null ? null : { since: leak_since, excess: leak_loss ?? leak_excess, isSudden: leak_loss !== null },
  } as Alert;
}

const alertValues = ({ leak, ...alert }: Alert): Scalar[] =>
  valuesOf(ALERT_FIELDS, {
    ...alert,
    created_at: alert.opened_at,
    fill: alert.fill_percentage,
    latest_fill: alert.latest_fill_percentage,
    latest_at: alert.latest_reading_at,
    leak_since: leak?.since ?? null,
    leak_excess: leak?.isSudden === false ? leak.excess : null,
    leak_loss: leak?.isSudden === true ? leak.excess : null,
  });

export type TankWithOwner = { readonly tank: Tank; readonly customer: CustomerWithCount };

const EVENT_FIELDS = ["sequence", "at", "owner_id", "payload"] as const;

/** Columns of the forecast; it is null unless it was computed from the newest reading and the current threshold. */
const CURRENT_FORECAST = `forecast.computed_at, CASE WHEN forecast.due_at IS NULL AND forecast.at = fleet.at
  AND forecast.fill = fleet.fill THEN forecast.forecast END`;

/**
 * When the leak alert of a tank was opened, or the newest if somebody has closed it; null if its condition is not active. A closed
 * one may be later than one that is not: the clock may have been ahead.
 */
const leakOpenedAt = (condition: string): string =>
  `(SELECT max(alert.created_at) FROM alert WHERE ${condition} AND alert.tank_id = tank.id AND alert.kind = 'leak')`;
const LEAK_OPENED_AT = `CASE WHEN (fleet.active_conditions & ${CONDITION_BITS.leak}) <> 0
  THEN coalesce(${leakOpenedAt("alert.state <> 'closed'")}, ${leakOpenedAt(`alert.${ALERT_INDEX_CONDITION}`)}) END`; // alert_not_closed, alert_by_tank

export const alertsNotClosedOn =
  (runForIds: RunForIds) =>
  async (tankIds: readonly string[]): Promise<readonly Alert[]> => {
    const sql = (is: (column: string) => string) =>
      `SELECT ${ALERT_COLUMNS} FROM alert WHERE alert.state <> 'closed' AND ${is("alert.tank_id")}`; // alert_not_closed
    return (await runForIds(tankIds, sql)).map(alertOf);
  };

export function alertTables({ prepare, insert, runForIds }: SqlRunner) {
  const { putServiceState } = serviceStateTable(prepare);
  return {
    /** `medianInterval` is undefined: only the head has it. Unknown tanks are left out. */
    async evaluationInputs(tankIds: readonly string[]): Promise<readonly EvaluationInput[]> {
      const rows = await runForIds(
        tankIds,
        (is) =>
          `SELECT tank.id, tank.min_fill_alert_percentage, fleet.at, fleet.fill, fleet.active_conditions, fleet.evaluate_at,
           tank.silent_after, tank.paused_until, tank.runs_low_soon, tank.leak, ${CURRENT_FORECAST}, ${LEAK_OPENED_AT}, tank.deleted
         FROM tank LEFT JOIN fleet ON fleet.tank = tank.id LEFT JOIN forecast ON forecast.id = tank.id WHERE ${is("tank.id")}`,
      );
      return rows.map((row): EvaluationInput => {
        const [tankId, threshold, at, fill, activeConditions, evaluateAt, silentAfter, pausedUntil, runsLowSoon, leak, ...rest] =
          row;
        const [computedAt, json, leakOpenedAt] = rest;
        const forecast = forecastOf(json);
        const hasReading = fill !== null;
        return {
          tankId: String(tankId),
          isLive: !isDeleted(row),
          threshold: Number(threshold),
          latest: hasReading ? { created_at: Number(at), fill_percentage: Number(fill) } : undefined,
          activeConditions: Number(activeConditions ?? 0),
          evaluateAt: evaluateAt as Instant | null,
          silentAfter: silentAfter as number | null,
          pausedUntil: pausedUntil as Instant | null,
          disabledKinds: disabledKindsOf({ runs_low_soon: runsLowSoon === 1, leak: leak === 1 }),
          forecast: forecast === null ? null : forecastSummary(forecast, Number(computedAt)),
          leakOpenedAt: leakOpenedAt as Instant | null,
          medianInterval: undefined,
        };
      });
    },

    /** Tanks whose alerts must be evaluated again by then, at most `limit`. Their heads are not locked. */
    async tanksToEvaluate(now: Instant, limit: number): Promise<readonly string[]> {
      const sql = `SELECT tank FROM fleet WHERE evaluate_at <= $1 ORDER BY evaluate_at LIMIT $2`; // fleet_by_evaluate_at
      return (await prepare(sql)(now, limit)).map(([tank]) => String(tank));
    },

    /** The next live tanks by id, at most `limit`. */
    async fleetAfter({ after, scope }: Reevaluation, limit: number): Promise<readonly string[]> {
      const isScheduled = scope === "scheduled" ? "AND evaluate_at IS NOT NULL" : "";
      const sql = `SELECT tank FROM fleet WHERE tank > $1 ${isScheduled} ORDER BY tank LIMIT $2`; // primary key
      return (await prepare(sql)(after, limit)).map(([tank]) => String(tank));
    },

    async alerts(ids: readonly string[]): Promise<ReadonlyMap<string, Alert>> {
      const rows = await runForIds(ids, (is) => `SELECT ${ALERT_COLUMNS} FROM alert WHERE ${is("alert.id")}`);
      return new Map(rows.map(alertOf).map((alert) => [alert.id, alert]));
    },

    alertsNotClosed: alertsNotClosedOn(runForIds),

    /** Deleted ones, too. Reads without locks. */
    async tanksWithOwners(tankIds: readonly string[]): Promise<ReadonlyMap<string, TankWithOwner>> {
      const tankColumns = TANK_COLUMNS.split(", ").length;
      const rows = await runForIds(
        tankIds,
        (is) => `SELECT ${prefixed("tank", TANK_COLUMNS)}, ${prefixed("customer", CUSTOMER_COLUMNS)}
         FROM tank JOIN customer ON customer.id = tank.owner_id WHERE ${is("tank.id")}`,
      );
      return new Map(
        rows.map((row) => {
          const tank = tankOf(row.slice(0, tankColumns));
          return [tank.id, { tank, customer: customerOf(row.slice(tankColumns)) }];
        }),
      );
    },

    async putAlerts(alerts: readonly Alert[]): Promise<void> {
      await insert("alert", ALERT_FIELDS, alerts.map(alertValues), updateExisting(ALERT_FIELDS));
    },

    /** Alerts follow their tank to another owner. */
    async moveAlerts(ownerOf: ReadonlyMap<string, string>): Promise<void> {
      // A note may be about the former owner.
      const move = prepare(
        `UPDATE alert SET owner_id = $2, note = NULL WHERE ${ALERT_INDEX_CONDITION} AND tank_id = $1 AND owner_id <> $2`, // alert_by_tank
      );
      for (const [tankId, ownerId] of ownerOf) await move(tankId, ownerId);
    },

    /** The sequence number of the newest event, which may have been removed since; 0 before the first. */
    async lastSequence(): Promise<number> {
      const [[stored, newest] = []] = await prepare(LAST_SEQUENCE)();
      const last = Number(stored ?? 0);
      if (!Number.isSafeInteger(last) || last < Number(newest ?? 0)) throw new DamageError(DAMAGED_SEQUENCE);
      return last;
    },

    /** Events must be in the order of their sequence numbers. */
    async addEvents(events: readonly StoredEvent[]): Promise<void> {
      const last = events.at(-1);
      if (last === undefined) return;
      const rows = events.map(({ sequence, at, owner_id, payload }) => [sequence, at, owner_id, payload]);
      await Promise.all([insert("event", EVENT_FIELDS, rows), putServiceState("event_sequence", String(last.sequence))]);
    },
  };
}
