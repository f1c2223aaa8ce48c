// upsert-sqlite.ts FILE TANKS: takes turns at SQLite's own bulk insert of the same readings into a bare table, as anyone would
// write it: a prepared statement, a transaction a batch, with the log of the database and its syncs as Tank Monitor has them.

import { DatabaseSync } from "node:sqlite";
import { type Arriving, arrivingFrom, pastReadings } from "../dataset/arrivals.ts";
import { type Spent, spent, takeTurns } from "../measure/turns.ts";
import type { Upserts } from "./upsert-postgres.ts";

const [file = "", count = ""] = process.argv.slice(2);
const tanks = Number(count);
const db = new DatabaseSync(file);
db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
db.exec(`CREATE TABLE reading (
  tank INTEGER NOT NULL, created_at INTEGER NOT NULL, fill REAL NOT NULL, PRIMARY KEY (tank, created_at)
) STRICT, WITHOUT ROWID`);
const upsert = db.prepare(
  "INSERT INTO reading (tank, created_at, fill) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET fill = excluded.fill",
);

function insert(batch: readonly Arriving[]): void {
  db.exec("BEGIN IMMEDIATE");
  for (const { tank, createdAt, fill } of batch) upsert.run(tank, createdAt, fill);
  db.exec("COMMIT");
}

insert(pastReadings(tanks));
takeTurns<Upserts, Spent>(({ first, batches, readings }) => {
  const made = Array.from({ length: batches }, (_, i) => arrivingFrom(tanks, first + i * readings, readings));
  return () => spent(() => made.forEach(insert));
});
