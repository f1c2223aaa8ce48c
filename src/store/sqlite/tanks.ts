// Tanks: questions for the serving thread, and the write of the writing thread, which keeps `tank_count` with it.

import type { DatabaseSync } from "node:sqlite";
import { type Change, decideTanks, idsOf, isLettingGo, type TankState } from "../../domain/fleet.ts";
import type { Sight } from "../../domain/key.ts";
import type { Page, PageQuestion } from "../../domain/page.ts";
import type { RecordOutcome, TankRecord } from "../../domain/record.ts";
import type { Found } from "../../domain/store.ts";
import type { Tank } from "../../domain/tank.ts";
import { isDeleted, LOCATION_FIELDS, TANK_COLUMNS, TANK_FIELDS, tankOf, tankState, tankValues } from "../columns.ts";
import { LISTS, tankMove } from "../series/lists.ts";
import { ListKeeper } from "./lists.ts";
import { List } from "./paging.ts";
import { arrayRow, arrayStatement } from "./rows.ts";

/** By `tank`'s unique index on id. */
const BY_ID = `SELECT ${TANK_COLUMNS} FROM tank WHERE id = ?`;
export const ALL_TANKS = `SELECT ${TANK_COLUMNS} FROM tank ORDER BY pk`;

export function tankQuestions(db: DatabaseSync) {
  const byId = arrayStatement(db, BY_ID);
  const all = new List(db, LISTS.tanks, TANK_COLUMNS);
  const ofOwner = new List(db, LISTS.tanksOfOwner, TANK_COLUMNS);

  return {
    tankById(id: string, sight: Sight): Found<Tank> {
      const row = arrayRow(byId.get(id));
      if (row === undefined) return undefined;
      const tank = tankOf(row);
      if (sight.customerId !== null && sight.customerId !== tank.owner_id) return undefined;
      return isDeleted(row) ? "deleted" : tank;
    },

    tankPage(question: PageQuestion, sight: Sight): Page<Tank> {
      const owner = sight.customerId;
      const { rows, totalItems } = owner === null ? all.page(null, question) : ofOwner.page(owner, question);
      return { data: rows.map(tankOf), totalItems };
    },
  };
}

export function tankWrites(db: DatabaseSync) {
  const byId = arrayStatement(db, BY_ID);
  const owner = arrayStatement(db, "SELECT 1 FROM customer WHERE id = ?");
  const byDevice = arrayStatement(db, "SELECT id FROM tank WHERE assigned_device_id = ? AND deleted = 0"); // tank_by_device
  const columns = ["id", ...TANK_FIELDS, ...LOCATION_FIELDS, "deleted"];
  const put = db.prepare(
    `INSERT INTO tank (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})
     ON CONFLICT (id) DO UPDATE SET ${columns.map((column) => `${column} = excluded.${column}`).join(", ")}`,
  );
  const letGo = db.prepare("UPDATE tank SET deleted = 1 WHERE id = ?");
  const addTelemetry = db.prepare("INSERT INTO telemetry (tank) SELECT pk FROM tank WHERE id = ?");
  const count = db.prepare("UPDATE customer SET tank_count = tank_count + ? WHERE id = ?");
  const lists = [LISTS.tanks, LISTS.tanksOfOwner].map((kind) => ({ kind, keeper: new ListKeeper(db, kind) }));

  function write(changes: readonly Change<TankState>[]): void {
    for (const { id } of changes.filter(isLettingGo)) letGo.run(id);
    for (const { id, before, after } of changes) {
      put.run(id, ...tankValues(after.tank), after.deleted ? 1 : 0);
      if (before === undefined) addTelemetry.run(id);
    }
    for (const { kind, keeper } of lists) keeper.move(changes.map((change) => tankMove(kind, change)));
    for (const change of changes) {
      const { left, entered } = tankMove(LISTS.tanksOfOwner, change);
      if (left?.key === entered?.key) continue;
      if (left !== undefined) count.run(-1, left.key);
      if (entered !== undefined) count.run(1, entered.key);
    }
  }

  return {
    putTanks(records: readonly TankRecord[]): RecordOutcome[] {
      const known = new Map<string, TankState>();
      for (const id of idsOf(records)) {
        const row = arrayRow(byId.get(id));
        if (row !== undefined) known.set(id, tankState(row));
      }
      const owners = new Set<string>();
      const devices = new Map<string, string>();
      for (const record of records) {
        if ("remove" in record) continue;
        const { owner_id, assigned_device_id } = record.tank;
        if (!owners.has(owner_id) && owner.get(owner_id) !== undefined) owners.add(owner_id);
        const served = arrayRow(byDevice.get(assigned_device_id))?.[0];
        if (served !== undefined) devices.set(assigned_device_id, served as string);
      }
      const { outcomes, changes } = decideTanks(records, known, owners, devices);
      write(changes);
      return outcomes;
    },
  };
}
