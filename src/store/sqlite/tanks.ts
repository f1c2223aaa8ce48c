// Tanks: questions for the serving thread, and the write of the writing thread, which keeps `tank_count` with it.

import type { DatabaseSync } from "node:sqlite";
import { type AuditContext, auditShapes, auditTanks } from "../../domain/audit.ts";
import {
  affectedDevices,
  type Change,
  changedShapes,
  deviceMoves,
  planTankImport,
  recordIds,
  releasesDevice,
  type TankState,
  type TankWithShape,
} from "../../domain/changes.ts";
import { deviceKey } from "../../domain/device.ts";
import type { Scope } from "../../domain/key.ts";
import type { Page, PageQuery } from "../../domain/page.ts";
import type { RecordOutcome, TankRecord } from "../../domain/records.ts";
import type { Found } from "../../domain/store.ts";
import type { Tank } from "../../domain/tank.ts";
import {
  isDeleted,
  LOCATION_FIELDS,
  SHAPED_TANK_COLUMNS,
  shapedTank,
  TANK_COLUMNS,
  TANK_FIELDS,
  tankOf,
  tankValues,
} from "../columns.ts";
import { LISTS, tankMove } from "../series/lists.ts";
import type { arrivalWrites } from "./arrivals.ts";
import { auditWrites } from "./audit.ts";
import { deviceWrites } from "./devices.ts";
import { fleetWrites } from "./fleet.ts";
import { ListKeeper } from "./lists.ts";
import { List } from "./paging.ts";
import { arrayRow, arrayStatement, type Row } from "./rows.ts";

/** By `tank`'s unique index on id. */
const BY_ID = `SELECT ${TANK_COLUMNS} FROM tank WHERE id = ?`;
const SHAPED_BY_ID = `SELECT ${SHAPED_TANK_COLUMNS} FROM tank WHERE id = ?`;
export const ALL_TANKS = `SELECT ${SHAPED_TANK_COLUMNS} FROM tank ORDER BY pk`;

export function tankQuestions(db: DatabaseSync) {
  const byId = arrayStatement(db, BY_ID);
  const shapedById = arrayStatement(db, SHAPED_BY_ID);
  const all = new List(db, LISTS.tanks, TANK_COLUMNS);
  const ofOwner = new List(db, LISTS.tanksOfOwner, TANK_COLUMNS);

  return {
    tankById(id: string, sight: Scope): Found<Tank> {
      const row = arrayRow(byId.get(id));
      if (row === undefined) return undefined;
      const tank = tankOf(row);
      if (sight.customerId !== null && sight.customerId !== tank.owner_id) return undefined;
      return isDeleted(row) ? "deleted" : tank;
    },

    /** Of one that is known to be there. */
    liveTank: (id: string): Tank => tankOf(arrayRow(byId.get(id)) as Row),

    managedTank(id: string): TankWithShape | undefined {
      const row = arrayRow(shapedById.get(id));
      return row === undefined ? undefined : shapedTank(row);
    },

    tankPage(question: PageQuery, sight: Scope): Page<Tank> {
      const owner = sight.customerId;
      const { rows, totalItems } = owner === null ? all.page(null, question) : ofOwner.page(owner, question);
      return { data: rows.map(tankOf), totalItems };
    },
  };
}

export function tankWrites(db: DatabaseSync, { drain }: Pick<ReturnType<typeof arrivalWrites>, "drain">) {
  const byId = arrayStatement(db, SHAPED_BY_ID);
  const owner = arrayStatement(db, "SELECT 1 FROM customer WHERE id = ?");
  const columns = ["id", ...TANK_FIELDS, ...LOCATION_FIELDS, "deleted", "deleted_at"];
  const put = db.prepare(
    `INSERT INTO tank (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})
     ON CONFLICT (id) DO UPDATE SET ${columns.map((column) => `${column} = excluded.${column}`).join(", ")}`,
  );
  const deletedAt = arrayStatement(db, "SELECT deleted_at FROM tank WHERE id = ?");
  const letGo = db.prepare("UPDATE tank SET deleted = 1 WHERE id = ?");
  const addTelemetry = db.prepare("INSERT INTO telemetry (tank) SELECT pk FROM tank WHERE id = ?");
  const count = db.prepare("UPDATE customer SET tank_count = tank_count + ? WHERE id = ?");
  const lists = [LISTS.tanks, LISTS.tanksOfOwner].map((kind) => ({ kind, keeper: new ListKeeper(db, kind) }));
  const { note } = auditWrites(db);
  const { keep } = fleetWrites(db);
  const { known: knownDevices, move, waitingOfTank } = deviceWrites(db);
  const putShape = db.prepare("UPDATE tank SET shape = ? WHERE id = ?");

  /** Gives the devices that serve another tank now. */
  function write(changes: readonly Change<TankState>[], occasion: AuditContext): string[] {
    const when = new Map(
      changes.map(({ id, before }) => [id, before?.deleted === true ? arrayRow(deletedAt.get(id))?.[0] : undefined]),
    );
    for (const { id } of changes.filter(releasesDevice)) letGo.run(id);
    for (const { id, before, after } of changes) {
      const { deleted } = after;
      put.run(id, ...tankValues(after.tank), deleted ? 1 : 0, deleted ? (when.get(id) ?? occasion.at) : null);
      if (before === undefined) addTelemetry.run(id);
    }
    for (const { kind, keeper } of lists) keeper.move(changes.map((change) => tankMove(kind, change)));
    countTanks(changes);
    keep(changes);
    const moves = deviceMoves(changes, knownDevices(affectedDevices(changes)), occasion.at);
    move(moves);
    note(auditTanks(changes), occasion);
    return moves.map(({ device }) => device.id);
  }

  function countTanks(changes: readonly Change<TankState>[]): void {
    for (const change of changes) {
      const { left, entered } = tankMove(LISTS.tanksOfOwner, change);
      if (left?.key === entered?.key) continue;
      if (left !== undefined) count.run(-1, left.key);
      if (entered !== undefined) count.run(1, entered.key);
    }
  }

  /** Gives the devices of which something waits that may be of a tank whose shape is known now. */
  function reshape(changes: readonly Change<TankWithShape>[], occasion: AuditContext): string[] {
    const shapes = changedShapes(changes);
    for (const [id, shape] of shapes) putShape.run(shape === null ? null : JSON.stringify(shape), id);
    note(auditShapes(changes), occasion);
    return [...shapes.keys()].flatMap(waitingOfTank);
  }

  return {
    write,

    importTanks(records: readonly TankRecord[], occasion: AuditContext): RecordOutcome[] {
      const known = new Map<string, TankWithShape>();
      for (const id of recordIds(records)) {
        const row = arrayRow(byId.get(id));
        if (row !== undefined) known.set(id, shapedTank(row));
      }
      const tanks = records.flatMap((record) => ("remove" in record ? [] : [record.tank]));
      const owners = new Set(tanks.map(({ owner_id }) => owner_id).filter((id) => owner.get(id) !== undefined));
      const devices = knownDevices([...new Set(tanks.map(({ assigned_device_id }) => deviceKey(assigned_device_id)))]);
      const { outcomes, changes } = planTankImport(records, known, owners, devices);
      const moved = write(changes, occasion);
      drain([...new Set([...moved, ...reshape(changes, occasion)])]);
      return outcomes;
    },
  };
}
