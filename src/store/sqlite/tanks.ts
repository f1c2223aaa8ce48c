// Tanks: questions for the serving thread, and the write of the writing thread, which keeps `tank_count` with it.

import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { Sight } from "../../domain/key.ts";
import type { Page, PageQuestion } from "../../domain/page.ts";
import type { RecordOutcome, TankRecord } from "../../domain/record.ts";
import type { Found } from "../../domain/store.ts";
import type { Tank } from "../../domain/tank.ts";
import { LISTS, type Listed, ListKeeper, relist } from "./lists.ts";
import { List } from "./paging.ts";
import { arrayRow, arrayStatement, type Row } from "./rows.ts";

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
  deleted: 0 | 1,
];

/** A row of `TANK_COLUMNS`; STRICT tables and the checks before a write vouch for the types. */
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

export const isDeletedTank = (row: Row): boolean => asTankRow(row)[20] === 1;

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
      return isDeletedTank(row) ? "deleted" : tank;
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
  const byDevice = arrayStatement(db, "SELECT id FROM tank WHERE assigned_device_id = ? AND deleted = 0 AND id <> ?");
  const insert = db.prepare(`INSERT INTO tank (${TANK_COLUMNS}) VALUES (?${", ?".repeat(FIELDS.length)})`);
  const update = db.prepare(`UPDATE tank SET ${FIELDS.map((field) => `${field} = ?`).join(", ")} WHERE id = ?`);
  const remove = db.prepare("UPDATE tank SET deleted = 1 WHERE id = ?");
  const count = db.prepare("UPDATE customer SET tank_count = tank_count + ? WHERE id = ?");
  const addTelemetry = db.prepare("INSERT INTO telemetry (tank) VALUES (?)");
  const keepers = [LISTS.tanks, LISTS.tanksOfOwner].map((kind) => new ListKeeper(db, kind));

  /** What follows from a change: the lists, and the owners' counts. */
  function follow(before: Listed, after: Listed): void {
    relist(keepers, before, after);
    const [, owner] = before?.keys ?? [];
    const [, newOwner] = after?.keys ?? [];
    if (owner === newOwner) return;
    if (owner !== undefined) count.run(-1, owner);
    if (newOwner !== undefined) count.run(1, newOwner);
  }

  function put(record: TankRecord): RecordOutcome {
    const id = "remove" in record ? record.remove : record.tank.id;
    const row = arrayRow(byId.get(id));
    if ("remove" in record) {
      if (row === undefined) return { rejected: "id: there is no tank with this id to delete" };
      if (isDeletedTank(row)) return "unchanged";
      remove.run(id);
      follow(listedTank(tankOf(row), false), null);
      return "changed";
    }
    const { tank, deleted } = record;
    const values = valuesOf(tank, deleted);
    const before = row?.slice(1);
    if (before !== undefined && values.every((value, i) => value === before[i])) return "unchanged";
    const fault = faultIn(tank, deleted);
    if (fault !== undefined) return { rejected: fault };
    if (row === undefined) addTelemetry.run(insert.run(id, ...values).lastInsertRowid);
    else update.run(...values, id);
    follow(row === undefined ? null : listedTank(tankOf(row), isDeletedTank(row)), listedTank(tank, deleted));
    return row === undefined ? "new" : "changed";
  }

  function faultIn(tank: Tank, deleted: boolean): string | undefined {
    if (owner.get(tank.owner_id) === undefined) return "owner_id: there is no customer with this id";
    const other = deleted ? undefined : arrayRow(byDevice.get(tank.assigned_device_id, tank.id))?.[0];
    return other === undefined ? undefined : `assigned_device_id: this device serves tank ${other} already`;
  }

  return { putTanks: (records: readonly TankRecord[]): RecordOutcome[] => records.map(put) };
}

function listedTank({ created_at, id, owner_id }: Tank, deleted: boolean): Listed {
  return deleted ? null : { position: [created_at, id], keys: [null, owner_id] };
}

/** In the order of `FIELDS`. */
function valuesOf(tank: Tank, deleted: boolean): SQLInputValue[] {
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
    deleted ? 1 : 0,
  ];
}
