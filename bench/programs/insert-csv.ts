// insert-csv.ts FILE DATABASE: SQLite's own bulk load: prepared inserts, with the journal mode and syncs of Tank Monitor. Ids
// are stored as integers and instants as numbers, as a good schema would do.

import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";

const ROWS_A_TRANSACTION = 10_000;

const [file = "", database = ""] = process.argv.slice(2);
const db = new DatabaseSync(database);
db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
db.exec(`CREATE TABLE reading (
  tank INTEGER NOT NULL, created_at INTEGER NOT NULL, fill REAL NOT NULL, PRIMARY KEY (tank, created_at)
) STRICT, WITHOUT ROWID`);
const insert = db.prepare("INSERT INTO reading (tank, created_at, fill) VALUES (?, ?, ?)");
const tanks = new Map<string, number>();
let rows = -1;
for await (const line of createInterface({ input: createReadStream(file, { highWaterMark: 262_144 }) })) {
  // The first line is the header.
  if (++rows === 0) continue;
  if (rows % ROWS_A_TRANSACTION === 1) db.exec("BEGIN");
  const [id = "", createdAt = "", fill = ""] = line.split(",");
  let tank = tanks.get(id);
  if (tank === undefined) {
    tank = tanks.size + 1;
    tanks.set(id, tank);
  }
  insert.run(tank, Date.parse(createdAt), Number(fill));
  if (rows % ROWS_A_TRANSACTION === 0) db.exec("COMMIT");
}
if (db.isTransaction) db.exec("COMMIT");
db.close();
console.log(JSON.stringify({ rows }));
