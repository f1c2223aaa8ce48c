// Everything in the database, of one snapshot, in the order an import needs. It has a connection of its own: the snapshot
// stays open for as long as the reader takes.

import type { DatabaseSync } from "node:sqlite";
import type { StoredRecord } from "../../domain/record.ts";
import { asRefusal, openReader } from "./connection.ts";
import { ALL_CUSTOMERS, customerOf, isDeletedCustomer } from "./customers.ts";
import { arrayStatement, type Row } from "./paging.ts";
import { ALL_TANKS, isDeletedTank, tankOf } from "./tanks.ts";

const READINGS_A_STEP = 10_000;

/** By primary key, so that each step starts where the last one ended. */
const READINGS = "SELECT created_at, fill FROM reading WHERE tank = ? AND created_at > ? ORDER BY created_at LIMIT ?";

export async function* records(file: string): AsyncGenerator<StoredRecord> {
  let db: DatabaseSync | undefined;
  try {
    db = openReader(file);
    db.exec("BEGIN");
    for (const row of iterate(arrayStatement(db, ALL_CUSTOMERS).iterate())) {
      yield { kind: "customer", customer: customerOf(row), deleted: isDeletedCustomer(row) };
    }
    for (const row of iterate(arrayStatement(db, ALL_TANKS).iterate())) {
      yield { kind: "tank", tank: tankOf(row), deleted: isDeletedTank(row) };
    }
    const readings = arrayStatement(db, READINGS);
    for (const row of iterate(arrayStatement(db, "SELECT pk, id FROM tank ORDER BY pk").iterate())) {
      const [tank, tankId] = row as readonly [number, string];
      for (let after = Number.MIN_SAFE_INTEGER; ; ) {
        const rows = readings.all(tank, after, READINGS_A_STEP) as unknown as readonly (readonly [number, number])[];
        if (rows.length === 0) break;
        const found = rows.map(([created_at, fill_percentage]) => ({ created_at, fill_percentage }));
        yield { kind: "readings", tankId, readings: found };
        after = found.at(-1)?.created_at ?? after;
      }
    }
  } catch (error) {
    throw asRefusal(error);
  } finally {
    db?.close();
  }
}

function iterate(rows: unknown): Iterable<Row> {
  return rows as Iterable<Row>;
}
