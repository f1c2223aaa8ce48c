// Tanks: questions, and the write, which takes many at a time and keeps `tank_count` with them.

import type { Sight } from "../../domain/key.ts";
import type { Page, PageQuestion } from "../../domain/page.ts";
import type { RecordOutcome, TankRecord } from "../../domain/record.ts";
import type { Found } from "../../domain/store.ts";
import type { Tank } from "../../domain/tank.ts";
import { type Db, type Row, statement } from "./connection.ts";
import { columnsOf } from "./customers.ts";
import { LISTS, type Listed, ListKeeper, listChanges, lockLists } from "./lists.ts";
import { List } from "./paging.ts";

const FIELDS = [
  "assigned_device_id",
  "capacity",
  "capacity_unit",
  "created_at",
  "custom_id",
  "min_fill_alert_percentage",
  "name",
  "owner_id",
  "updated_at",
  "use_case",
  "city",
  "country",
  "district",
  "latitude",
  "longitude",
  "postal_code",
  "region",
  "street",
  "street_number",
  "deleted",
] as const;
export const TANK_COLUMNS = `id, ${FIELDS.join(", ")}`;

type TankRow = readonly [
  id: string,
  assigned_device_id: string,
  capacity: number,
  capacity_unit: Tank["capacity_unit"],
  created_at: number,
  custom_id: string | null,
  min_fill_alert_percentage: number,
  name: string,
  owner_id: string,
  updated_at: number,
  use_case: Tank["use_case"],
  city: string | null,
  country: string | null,
  district: string | null,
  latitude: number | null,
  longitude: number | null,
  postal_code: string | null,
  region: string | null,
  street: string | null,
  street_number: string | null,
  deleted: boolean,
];

/** A row of `TANK_COLUMNS`; the columns' types and the checks before a write vouch for it. */
const asTankRow = (row: Row): TankRow => row as unknown as TankRow;

export function tankOf(row: Row): Tank {
  const values = asTankRow(row);
  return {
    id: values[0],
    assigned_device_id: values[1],
    capacity: values[2],
    capacity_unit: values[3],
    created_at: values[4],
    custom_id: values[5],
    location: {
      city: values[11],
      country: values[12],
      district: values[13],
      latitude: values[14],
      longitude: values[15],
      postal_code: values[16],
      region: values[17],
      street: values[18],
      street_number: values[19],
    },
    min_fill_alert_percentage: values[6],
    name: values[7],
    owner_id: values[8],
    updated_at: values[9],
    use_case: values[10],
  };
}

export const isDeletedTank = (row: Row): boolean => asTankRow(row)[20];

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
      return isDeletedTank(row) ? "deleted" : tank;
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
/** Devices that move between the tanks of one write are free for a moment, so that their order does not matter. */
const LET_GO = statement("UPDATE tank SET deleted = true WHERE id = ANY ($1::text[])");
const TYPES: Readonly<Record<string, string>> = {
  capacity: "double precision",
  created_at: "bigint",
  min_fill_alert_percentage: "integer",
  updated_at: "bigint",
  latitude: "double precision",
  longitude: "double precision",
  deleted: "boolean",
};
const PUT = statement(`
  INSERT INTO tank (${TANK_COLUMNS})
  SELECT * FROM unnest($1::text[], ${FIELDS.map((field, i) => `$${i + 2}::${TYPES[field] ?? "text"}[]`).join(", ")})
  ON CONFLICT (id) DO UPDATE SET ${FIELDS.map((field) => `${field} = excluded.${field}`).join(", ")}`);
const ADD_TELEMETRY = statement("INSERT INTO telemetry (tank) SELECT unnest($1::text[])");
const COUNT = statement(`
  UPDATE customer SET tank_count = tank_count + owned.delta
  FROM unnest($1::text[], $2::integer[]) AS owned (id, delta) WHERE customer.id = owned.id`);

const keepers = [LISTS.tanks, LISTS.tanksOfOwner].map((kind) => new ListKeeper(kind));

type State = { readonly tank: Tank; readonly deleted: boolean };

/** What the records of one write are decided on: it changes with each of them. */
class Fleet {
  readonly tanks: Map<string, State>;
  readonly #owners: ReadonlySet<string>;
  /** The live tank that each device serves. */
  readonly #devices: Map<string, string>;

  constructor(tanks: ReadonlyMap<string, State>, owners: ReadonlySet<string>, devices: ReadonlyMap<string, string>) {
    this.tanks = new Map(tanks);
    this.#owners = owners;
    this.#devices = new Map(devices);
  }

  put(id: string, record: TankRecord): RecordOutcome {
    const known = this.tanks.get(id);
    if ("remove" in record) {
      if (known === undefined) return { rejected: "id: there is no tank with this id to delete" };
      if (known.deleted) return "unchanged";
      this.#set(id, { ...known, deleted: true });
      return "changed";
    }
    const { tank, deleted } = record;
    if (known !== undefined) {
      const [values, old] = [valuesOf(tank, deleted), valuesOf(known.tank, known.deleted)];
      if (values.every((value, i) => value === old[i])) return "unchanged";
    }
    if (!this.#owners.has(tank.owner_id)) return { rejected: "owner_id: there is no customer with this id" };
    const other = deleted ? undefined : this.#devices.get(tank.assigned_device_id);
    if (other !== undefined && other !== id) {
      return { rejected: `assigned_device_id: this device serves tank ${other} already` };
    }
    this.#set(id, record);
    return known === undefined ? "new" : "changed";
  }

  #set(id: string, state: State): void {
    const known = this.tanks.get(id);
    if (known !== undefined && !known.deleted) this.#devices.delete(known.tank.assigned_device_id);
    if (!state.deleted) this.#devices.set(state.tank.assigned_device_id, id);
    this.tanks.set(id, state);
  }
}

/** Decides each record on what the ones before it left, then writes what has changed in the end. */
export async function putTanks(db: Db, records: readonly TankRecord[]): Promise<RecordOutcome[]> {
  await lockLists(db);
  const ids = records.map((record) => ("remove" in record ? record.remove : record.tank.id));
  const tanks = records.flatMap((record) => ("remove" in record ? [] : [record.tank]));
  const before = new Map<string, State>();
  for (const row of await db.rows(KNOWN, [[...new Set(ids)]])) {
    before.set(row[0] as string, { tank: tankOf(row), deleted: isDeletedTank(row) });
  }
  const owners = await db.rows(OWNERS, [[...new Set(tanks.map(({ owner_id }) => owner_id))]]);
  const devices = await db.rows(DEVICES, [[...new Set(tanks.map(({ assigned_device_id }) => assigned_device_id))]]);
  const known = new Map(
    [...before.values()].filter(({ deleted }) => !deleted).map(({ tank }) => [tank.assigned_device_id, tank.id]),
  );
  for (const [device, id] of devices) known.set(device as string, id as string);
  const fleet = new Fleet(before, new Set(owners.map(([id]) => id as string)), known);
  const outcomes = records.map((record, i) => fleet.put(ids[i] as string, record));
  await write(
    db,
    before,
    [...fleet.tanks].filter(([id, state]) => before.get(id) !== state),
  );
  return outcomes;
}

async function write(db: Db, before: ReadonlyMap<string, State>, changed: readonly (readonly [string, State])[]): Promise<void> {
  if (changed.length === 0) return;
  const device = (state: State | undefined): string | null =>
    state === undefined || state.deleted ? null : state.tank.assigned_device_id;
  const letGo = changed.filter(([id, state]) => device(before.get(id)) !== null && device(before.get(id)) !== device(state));
  if (letGo.length > 0) await db.rows(LET_GO, [letGo.map(([id]) => id)]);
  const rows = changed.map(([, { tank, deleted }]) => valuesOf(tank, deleted));
  await db.rows(PUT, [changed.map(([id]) => id), ...columnsOf(rows)]);
  const made = changed.filter(([id]) => !before.has(id)).map(([id]) => id);
  if (made.length > 0) await db.rows(ADD_TELEMETRY, [made]);
  const moves = changed.map(([id, state]) => [listed(before.get(id)), listed(state)] as const);
  for (const [i, keeper] of keepers.entries()) await keeper.change(db, listChanges(moves, i));
  await count(db, moves);
}

/** The owners' counts follow. */
async function count(db: Db, moves: readonly (readonly [Listed, Listed])[]): Promise<void> {
  const deltas = new Map<string, number>();
  for (const { key, delta } of listChanges(moves, 1)) deltas.set(key ?? "", (deltas.get(key ?? "") ?? 0) + delta);
  const owners = [...deltas].filter(([, delta]) => delta !== 0);
  if (owners.length > 0) await db.rows(COUNT, [owners.map(([id]) => id), owners.map(([, delta]) => delta)]);
}

function listed(state: State | undefined): Listed {
  if (state === undefined || state.deleted) return null;
  const { created_at, id, owner_id } = state.tank;
  return { position: [created_at, id], keys: [null, owner_id] };
}

type Scalar = string | number | boolean | null;

/** In the order of `FIELDS`. */
function valuesOf(tank: Tank, deleted: boolean): Scalar[] {
  const { location } = tank;
  return [
    tank.assigned_device_id,
    tank.capacity,
    tank.capacity_unit,
    tank.created_at,
    tank.custom_id,
    tank.min_fill_alert_percentage,
    tank.name,
    tank.owner_id,
    tank.updated_at,
    tank.use_case,
    location.city,
    location.country,
    location.district,
    location.latitude,
    location.longitude,
    location.postal_code,
    location.region,
    location.street,
    location.street_number,
    deleted,
  ];
}
