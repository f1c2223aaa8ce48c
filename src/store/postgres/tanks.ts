// Tanks: questions, and the write, which takes many at a time and keeps with them what follows from tanks: the owners'
// `tank_count`, the fleet, which device serves which, and the audit log.

import { type AuditContext, auditShapes, auditTanks } from "../../domain/audit.ts";
import {
  type Change,
  changedShapes,
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
import type { Shape } from "../../domain/shape.ts";
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
import { drain, waitingOfTanks } from "./arrivals.ts";
import { note } from "./audit.ts";
import { type Db, statement, type Transaction } from "./connection.ts";
import { knownDevices, lockDevices, moveDevices } from "./devices.ts";
import { keepFleet } from "./fleet.ts";
import { ListKeeper, lockLists } from "./lists.ts";
import { List } from "./paging.ts";
import { byId, columnsOf, deletedAt, lookedUp, putStatement } from "./put.ts";

const BY_ID = statement(`SELECT ${TANK_COLUMNS} FROM tank WHERE id = $1`);
const SHAPED = statement(`SELECT ${SHAPED_TANK_COLUMNS} FROM tank WHERE id = $1`);
export const ALL_TANKS = `SELECT ${SHAPED_TANK_COLUMNS} FROM tank ORDER BY id`;

const all = new List(LISTS.tanks, TANK_COLUMNS);
const ofOwner = new List(LISTS.tanksOfOwner, TANK_COLUMNS);

export function tankQuestions(db: Db) {
  return {
    async tankById(id: string, sight: Scope): Promise<Found<Tank>> {
      const [row] = await db.rows(BY_ID, [id]);
      if (row === undefined) return undefined;
      const tank = tankOf(row);
      if (sight.customerId !== null && sight.customerId !== tank.owner_id) return undefined;
      return isDeleted(row) ? "deleted" : tank;
    },

    async managedTank(id: string): Promise<TankWithShape | undefined> {
      return (await db.rows(SHAPED, [id])).map(shapedTank)[0];
    },

    async tankPage(question: PageQuery, sight: Scope): Promise<Page<Tank>> {
      const owner = sight.customerId;
      const { rows, totalItems } = owner === null ? await all.page(db, null, question) : await ofOwner.page(db, owner, question);
      return { data: rows.map(tankOf), totalItems };
    },
  };
}

const KNOWN = statement(`SELECT ${SHAPED_TANK_COLUMNS} FROM tank WHERE id = ANY ($1::text[])`);
const OWNERS = statement("SELECT id FROM customer WHERE id = ANY ($1::text[])");
const LET_GO = statement("UPDATE tank SET deleted = true WHERE id = ANY ($1::text[])");
const PUT = putStatement("tank", ["id", ...TANK_FIELDS, ...LOCATION_FIELDS, "deleted", "deleted_at"]);
const SHAPE = statement("UPDATE tank SET shape = $2 WHERE id = $1");
const ADD_TELEMETRY = statement("INSERT INTO telemetry (tank) SELECT unnest($1::text[])");
const COUNT = statement(`
  UPDATE customer SET tank_count = tank_count + owned.delta
  FROM unnest($1::text[], $2::integer[]) AS owned (id, delta) WHERE ${lookedUp("customer.id", "owned.id")}`);

const lists = [LISTS.tanks, LISTS.tanksOfOwner].map((kind) => ({ kind, keeper: new ListKeeper(kind) }));

export async function importTanks(
  db: Transaction,
  records: readonly TankRecord[],
  occasion: AuditContext,
): Promise<RecordOutcome[]> {
  await lockLists(db);
  await lockDevices(db);
  const tanks = records.flatMap((record) => ("remove" in record ? [] : [record.tank]));
  const ids = [...new Set(recordIds(records))];
  const known = byId(ids, await db.rows(KNOWN, [ids]), shapedTank);
  const owners = await db.rows(OWNERS, [[...new Set(tanks.map(({ owner_id }) => owner_id))]]);
  const devices = await knownDevices(db, [...new Set(tanks.map(({ assigned_device_id }) => deviceKey(assigned_device_id)))]);
  const { outcomes, changes } = planTankImport(records, known, new Set(owners.map(([id]) => id as string)), devices);
  const moved = await writeTanks(db, changes, occasion);
  const shapes = changedShapes(changes);
  await putShapes(db, shapes);
  await note(db, auditShapes(changes), occasion);
  await drain(db, [...new Set([...moved, ...(await waitingOfTanks(db, [...shapes.keys()]))])]);
  return outcomes;
}

/** Gives the devices that have come to a tank: what waits of them can be taken in. Under the locks of lists and devices. */
export async function writeTanks(db: Db, changes: readonly Change<TankState>[], occasion: AuditContext): Promise<string[]> {
  if (changes.length === 0) return [];
  const letGo = changes.filter(releasesDevice);
  if (letGo.length > 0) await db.rows(LET_GO, [letGo.map(({ id }) => id)]);
  await db.rows(PUT, columnsOf(changes.map((change) => rowOf(change, occasion))));
  const made = changes.filter(({ before }) => before === undefined);
  if (made.length > 0) await db.rows(ADD_TELEMETRY, [made.map(({ id }) => id)]);
  for (const { kind, keeper } of lists)
    await keeper.move(
      db,
      changes.map((change) => tankMove(kind, change)),
    );
  await count(db, changes);
  await keepFleet(db, changes);
  const moved = await moveDevices(db, changes, occasion.at);
  await note(db, auditTanks(changes), occasion);
  return moved;
}

function rowOf({ id, before, after }: Change<TankState>, { at }: AuditContext) {
  return [id, ...tankValues(after.tank), after.deleted, deletedAt(before, after, at)];
}

export async function putShapes(db: Db, shapes: ReadonlyMap<string, Shape | null>): Promise<void> {
  for (const [id, shape] of shapes) await db.rows(SHAPE, [id, shape === null ? null : JSON.stringify(shape)]);
}

/** The owners' counts follow. */
async function count(db: Db, changes: readonly Change<TankState>[]): Promise<void> {
  const deltas = new Map<string, number>();
  const add = (owner: string, delta: number) => deltas.set(owner, (deltas.get(owner) ?? 0) + delta);
  for (const change of changes) {
    const { left, entered } = tankMove(LISTS.tanksOfOwner, change);
    if (left?.key != null) add(left.key, -1);
    if (entered?.key != null) add(entered.key, 1);
  }
  const owners = [...deltas].filter(([, delta]) => delta !== 0);
  if (owners.length > 0) await db.rows(COUNT, [owners.map(([id]) => id), owners.map(([, delta]) => delta)]);
}
