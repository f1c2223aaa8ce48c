// What decisions within a transaction ask for, by ids.

import type { AnsweringLater } from "../../domain/inquiry.ts";
import { SHAPED_TANK_COLUMNS, shapedTank } from "../columns.ts";
import { type Db, statement } from "./connection.ts";
import { knownCustomers } from "./customers.ts";
import { knownDevices, managedDevices, services } from "./devices.ts";
import { knownKeys } from "./keys.ts";
import { byId } from "./put.ts";

const TANKS = statement(`SELECT ${SHAPED_TANK_COLUMNS} FROM tank WHERE id = ANY ($1::text[])`);
const OF_OWNERS = statement(
  `SELECT ${SHAPED_TANK_COLUMNS} FROM tank WHERE owner_id = ANY ($1::text[]) AND NOT deleted
     ORDER BY created_at, id`, // tank_by_owner
);
/** By tank_deleted: what was deleted is little beside what is there. */
const DELETED_WITH = statement(`
  SELECT ${SHAPED_TANK_COLUMNS} FROM tank WHERE deleted AND owner_id = ANY ($1::text[])
    AND deleted_at = (SELECT deleted_at FROM customer WHERE customer.id = tank.owner_id)
  ORDER BY created_at, id`);

export function answersOn(db: Db): AnsweringLater {
  return {
    customers: (ids) => knownCustomers(db, ids),
    tanks: async (ids) => byId(ids, await db.rows(TANKS, [ids]), shapedTank),
    tanksOfOwners: async (ids) => (await db.rows(OF_OWNERS, [ids])).map(shapedTank),
    tanksDeletedWith: async (ids) => (await db.rows(DELETED_WITH, [ids])).map(shapedTank),
    devices: (ids) => knownDevices(db, ids),
    services: (ids) => services(db, ids),
    waiting: async (ids) => new Map((await managedDevices(db, ids)).map(({ device, waiting }) => [device.id, waiting])),
    dropped: async (ids) => new Map((await managedDevices(db, ids)).map(({ device, dropped }) => [device.id, dropped])),
    keys: (ids) => knownKeys(db, ids),
  };
}
