// What a decision may ask while it is made, in the writing thread.

import type { DatabaseSync } from "node:sqlite";
import type { Answering } from "../../domain/inquiry.ts";
import { CUSTOMER_COLUMNS, customerState, SHAPED_TANK_COLUMNS, shapedTank } from "../columns.ts";
import { deviceWrites } from "./devices.ts";
import { keyQuestions } from "./keys.ts";
import { arrayRow, arrayRows, arrayStatement, type Row } from "./rows.ts";

export function answersOn(db: DatabaseSync): Answering {
  const customer = arrayStatement(db, `SELECT ${CUSTOMER_COLUMNS} FROM customer WHERE id = ?`);
  const tank = arrayStatement(db, `SELECT ${SHAPED_TANK_COLUMNS} FROM tank WHERE id = ?`);
  const ofOwner = arrayStatement(db, `SELECT ${SHAPED_TANK_COLUMNS} FROM tank WHERE owner_id = ? AND deleted = 0`); // tank_by_owner
  // What goes along is told by the instant; the owner alone has no index among the deleted, who are few.
  const deletedWith = arrayStatement(
    db,
    `SELECT ${SHAPED_TANK_COLUMNS} FROM tank WHERE owner_id = ?1 AND deleted = 1
       AND deleted_at = (SELECT deleted_at FROM customer WHERE id = ?1)`,
  );
  const waiting = arrayStatement(db, "SELECT waiting FROM device WHERE id = ?");
  const dropped = arrayStatement(db, "SELECT dropped FROM device WHERE id = ?");
  const { known, servicesOf } = deviceWrites(db);
  const { keyById } = keyQuestions(db);

  function byId<T>(rowOf: (id: string) => unknown, made: (row: Row) => T): (ids: readonly string[]) => Map<string, T> {
    return (ids) => {
      const found = new Map<string, T>();
      for (const id of ids) {
        const row = arrayRow(rowOf(id));
        if (row !== undefined) found.set(id, made(row));
      }
      return found;
    };
  }

  return {
    customers: byId((id) => customer.get(id), customerState),
    tanks: byId((id) => tank.get(id), shapedTank),
    tanksOfOwners: (ids) => ids.flatMap((id) => arrayRows(ofOwner.all(id)).map(shapedTank)),
    tanksDeletedWith: (ids) => ids.flatMap((id) => arrayRows(deletedWith.all(id)).map(shapedTank)),
    devices: known,
    services: servicesOf,
    waiting: byId(
      (id) => waiting.get(id),
      ([count]) => Number(count),
    ),
    dropped: byId(
      (id) => dropped.get(id),
      ([count]) => Number(count),
    ),
    keys: (ids) =>
      new Map(ids.map((id) => [id, keyById(id)] as const).flatMap(([id, key]) => (key === undefined ? [] : [[id, key]]))),
  };
}
