// Reads of alerts for checks, in SQL that both engines run.

import type { Alert, AlertKind } from "../../domain/alerts/alert.ts";
import { type SweepSettings, sweepStateOf } from "../../domain/alerts/sweep.ts";
import { ALERT_FIELDS, alertOf } from "../core/alert-tables.ts";
import { prefixed } from "../core/dialect.ts";
import type { RunQuery } from "../core/sql-runner.ts";

/** Alerts of one tank. `withOtherOwner`: how many, closed ones too, have another owner than the tank. */
export type TankAlertRows = { readonly unclosed: readonly AlertKind[]; readonly withOtherOwner: number };
const NO_ALERTS: TankAlertRows = { unclosed: [], withOtherOwner: 0 };

export type StoredAlerts = {
  readonly of: (tankId: string) => TankAlertRows;
  /** The settings that all tanks were last evaluated with; undefined if there was no sweep, or it is not complete. */
  readonly settings: SweepSettings | undefined;
};

/** An alert as it is stored. */
export type AlertRow = { readonly alert: Alert; readonly hasTank: boolean };

const MAX_ALERTS = 2000;

export function alertOperations({ rows }: { readonly rows: RunQuery }) {
  return {
    /** Reads the alerts of the tanks from `first` to `last`. */
    async alertsOf(first: string, last: string): Promise<StoredAlerts> {
      const unclosed = await rows(
        "SELECT tank_id, kind FROM alert WHERE state <> 'closed' AND tank_id >= $1 AND tank_id <= $2", // alert_not_closed
        first,
        last,
      );
      const withOtherOwner = await rows(
        `SELECT alert.tank_id, count(*) FROM alert JOIN tank ON tank.id = alert.tank_id
         WHERE alert.tank_id >= $1 AND alert.tank_id <= $2 AND alert.owner_id <> tank.owner_id GROUP BY alert.tank_id`, // alert_by_tank
        first,
        last,
      );
      const [[sweep] = []] = await rows("SELECT value FROM service_state WHERE name = 'sweep'");
      const found = new Map<string, TankAlertRows>();
      for (const [tank, kind] of unclosed) {
        const known = found.get(String(tank)) ?? NO_ALERTS;
        found.set(String(tank), { ...known, unclosed: [...known.unclosed, kind as AlertKind] });
      }
      for (const [tank, count] of withOtherOwner) {
        found.set(String(tank), { ...(found.get(String(tank)) ?? NO_ALERTS), withOtherOwner: Number(count) });
      }
      return { of: (tankId) => found.get(tankId) ?? NO_ALERTS, settings: settingsOf(sweep) };
    },
    /** The next ones by id; none at the end. */
    async alertsAfter(id: string): Promise<AlertRow[]> {
      const found = await rows(
        `SELECT ${prefixed("alert", ALERT_FIELDS.join(", "))}, tank.id FROM alert LEFT JOIN tank ON tank.id = alert.tank_id
         WHERE alert.id > $1 ORDER BY alert.id LIMIT ${MAX_ALERTS}`, // primary keys
        id,
      );
      return found.map((row) => ({ alert: alertOf(row), hasTank: row.at(-1) !== null }));
    },
  };
}

/** A state that cannot be read is reported on its own. */
function settingsOf(sweep: unknown): SweepSettings | undefined {
  const state = typeof sweep === "string" ? sweepStateOf(sweep) : undefined;
  return state?.reevaluation === null ? (state.settings ?? undefined) : undefined;
}
