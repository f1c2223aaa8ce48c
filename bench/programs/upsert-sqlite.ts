// upsert-sqlite.ts FILE TANKS: SQLite's own bulk insert of the same readings into a plain table: a prepared statement, one
// transaction per batch, with the journal mode and syncs of Tank Monitor.

import { DatabaseSync } from "node:sqlite";
import { initialReadings, type LiveReading, liveReadings } from "../dataset/live-readings.ts";
import { type RunTime, serveRuns, timeRun } from "../measure/bench-program.ts";
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

function insert(batch: readonly LiveReading[]): void {
  db.exec("BEGIN IMMEDIATE");
  for (const { tank, createdAt, fill } of batch) upsert.run(tank, createdAt, fill);
  db.exec("COMMIT");
}

insert(initialReadings(tanks));
serveRuns<Upserts, RunTime>(({ first, batches, readings }) => {
  const prepared = Array.from({ length: batches }, (_, i) => liveReadings(tanks, first + i * readings, readings));
  return () => timeRun(() => prepared.forEach(insert));
});
