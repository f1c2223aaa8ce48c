// Tanks: questions, and the write, which takes many at a time and keeps `tank_count` with them.

import { type Change, decideTanks, idsOf, isLettingGo, type TankState } from "../../domain/fleet.ts";
import type { Sight } from "../../domain/key.ts";
import type { Page, PageQuestion } from "../../domain/page.ts";
import type { RecordOutcome, TankRecord } from "../../domain/record.ts";
import type { Found } from "../../domain/store.ts";
import type { Tank } from "../../domain/tank.ts";
import { isDeleted, LOCATION_FIELDS, TANK_COLUMNS, TANK_FIELDS, tankOf, tankState, tankValues } from "../columns.ts";
import { LISTS, tankMove } from "../series/lists.ts";
import { type Db, statement } from "./connection.ts";
import { ListKeeper, lockLists } from "./lists.ts";
import { List } from "./paging.ts";
import { columnsOf, putStatement } from "./put.ts";

const BY_ID = statement(`SELECT ${TANK_COLUMNS} FROM tank WHERE id = $1`);
export const ALL_TANKS = `SELECT ${TANK_COLUMNS} FROM tank ORDER BY id`;

const all = new List(LISTS.tanks, TANK_COLUMNS);
const ofOwner = new List(LISTS.tanksOfOwner, TANK_COLUMNS);

export function tankQuestions(db: Db) {
  return {
    async tankById(id: string, sight: Sight): Promise<Found<Tank>> {
      const [row] = await db.rows(BY_ID, [id]);
      if (row === undefined) return undefined;
      const tank = tankOf(row);
      if (sight.customerId !== null && sight.customerId !== tank.owner_id) return undefined;
      return isDeleted(row) ? "deleted" : tank;
    },

    async tankPage(question: PageQuestion, sight: Sight): Promise<Page<Tank>> {
      const owner = sight.customerId;
      const { rows, totalItems } = owner === null ? await all.page(db, null, question) : await ofOwner.page(db, owner, question);
      return { data: rows.map(tankOf), totalItems };
    },
  };
}

const KNOWN = statement(`SELECT ${TANK_COLUMNS} FROM tank WHERE id = ANY ($1::text[])`);
const OWNERS = statement("SELECT id FROM customer WHERE id = ANY ($1::text[])");
const DEVICES = statement(
  "SELECT assigned_device_id, id FROM tank WHERE assigned_device_id = ANY ($1::text[]) AND NOT deleted", // tank_by_device
);
const LET_GO = statement("UPDATE tank SET deleted = true WHERE id = ANY ($1::text[])");
const PUT = putStatement("tank", ["id", ...TANK_FIELDS, ...LOCATION_FIELDS, "deleted"]);
const ADD_TELEMETRY = statement("INSERT INTO telemetry (tank) SELECT unnest($1::text[])");
const COUNT = statement(`
  UPDATE customer SET tank_count = tank_count + owned.delta
  FROM unnest($1::text[], $2::integer[]) AS owned (id, delta) WHERE customer.id = owned.id`);

const lists = [LISTS.tanks, LISTS.tanksOfOwner].map((kind) => ({ kind, keeper: new ListKeeper(kind) }));

export async function putTanks(db: Db, records: readonly TankRecord[]): Promise<RecordOutcome[]> {
  await lockLists(db);
  const tanks = records.flatMap((record) => ("remove" in record ? [] : [record.tank]));
  const rows = await db.rows(KNOWN, [[...new Set(idsOf(records))]]);
  const known = new Map(rows.map((row) => [row[0] as string, tankState(row)]));
  const owners = await db.rows(OWNERS, [[...new Set(tanks.map(({ owner_id }) => owner_id))]]);
  const devices = await db.rows(DEVICES, [[...new Set(tanks.map(({ assigned_device_id }) => assigned_device_id))]]);
  const { outcomes, changes } = decideTanks(
    records,
    known,
    new Set(owners.map(([id]) => id as string)),
    new Map(devices as unknown as (readonly [string, string])[]),
  );
  if (changes.length > 0) await write(db, changes);
  return outcomes;
}

async function write(db: Db, changes: readonly Change<TankState>[]): Promise<void> {
  const letGo = changes.filter(isLettingGo);
  if (letGo.length > 0) await db.rows(LET_GO, [letGo.map(({ id }) => id)]);
  await db.rows(PUT, columnsOf(changes.map(({ id, after }) => [id, ...tankValues(after.tank), after.deleted])));
  const made = changes.filter(({ before }) => before === undefined);
  if (made.length > 0) await db.rows(ADD_TELEMETRY, [made.map(({ id }) => id)]);
  for (const { kind, keeper } of lists)
    await keeper.move(
      db,
      changes.map((change) => tankMove(kind, change)),
    );
  await count(db, changes);
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
