// Corruptions of a SQLite database: rank indexes, heads, blocks, counts and references.

import type { DatabaseSync } from "node:sqlite";
import type { Group } from "../../../src/store/packed/rank-index.ts";
import { PackedGroup, packGroup } from "../../../src/store/sqlite/rank-index.ts";
import { query } from "../../../src/store/sqlite/statements.ts";
import type { Corruption } from "./sample.ts";

export type SqliteCorruption = Omit<Corruption, "sql"> & { readonly corrupt: string | ((db: DatabaseSync) => void) };
type Row = readonly [name: string, corrupt: SqliteCorruption["corrupt"], where: string | readonly string[], what: RegExp];
const corruptions = (rows: readonly Row[]): SqliteCorruption[] =>
  rows.map(([name, corrupt, where, what]) => ({ name, corrupt, where: [where].flat(), what }));

export const LONG = "(SELECT pk FROM tank WHERE id = 'long')";
const MEDIUM = "(SELECT pk FROM tank WHERE id = 'medium')";
const SHORT = "(SELECT pk FROM tank WHERE id = 'short')";
const LISTS: readonly [list: string, where: string][] = [
  ["customer", "list of all customers"],
  ["customer email many@customers.example", "list of customers with the e-mail many@customers.example"],
  ["tank", "list of all tanks"],
  ["tank owner_id c0", "list of the tanks of customer c0"],
];

/** The start of a block. */
export const blockStart = (tank: string, offset: number): string =>
  `(SELECT start FROM block WHERE tank = ${tank} ORDER BY start LIMIT 1 OFFSET ${offset})`;
const SWAP_BLOCKS = `CREATE TEMP TABLE two AS SELECT pk, data, checksum FROM block WHERE tank = ${MEDIUM} ORDER BY start LIMIT 2 OFFSET 7;
  UPDATE block SET (data, checksum) = (SELECT data, checksum FROM two WHERE two.pk <> block.pk) WHERE pk IN (SELECT pk FROM two)`;

type IndexTable = { readonly table: string; readonly index: string; readonly order: string; readonly nodes: readonly string[] };
const READING_INDEX: IndexTable = { table: "reading_index", index: "tank", order: "start DESC", nodes: ["starts"] };
const LIST_INDEX: IndexTable = {
  table: "list_index",
  index: "list",
  order: "position DESC, id DESC",
  nodes: ["positions", "ids"],
};

/** Adds to the last offset in the last group of a level. */
const withWrongOffset =
  ({ table, index, order, nodes }: IndexTable, name: string, level: number) =>
  (db: DatabaseSync): void => {
    const last = `SELECT pk, level, offsets, ${nodes.join(", ")} FROM ${table} WHERE ${index} = ${name} AND level = ${level}
      ORDER BY ${order} LIMIT 1`;
    const [pk, ...row] = query(db, last).get() ?? [];
    const group: Group = new PackedGroup(row).unpack();
    const values = packGroup({ ...group, offsets: group.offsets.with(-1, (group.offsets.at(-1) ?? 0) + 3) });
    const columns = ["offsets", ...nodes].map((column) => `${column} = ?`).join(", ");
    db.prepare(`UPDATE ${table} SET ${columns} WHERE pk = ?`).run(...values, pk as number);
  };

/** Changes rows without changing the index. */
export function behindIndex(db: DatabaseSync, index: string, sql: string): void {
  db.enableDefensive(false);
  db.exec("PRAGMA writable_schema = ON");
  const row = db.prepare("SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema WHERE name = ?").get(index) ?? {};
  db.prepare("DELETE FROM sqlite_schema WHERE name = ?").run(index);
  db.exec(`PRAGMA writable_schema = RESET; ${sql}; PRAGMA writable_schema = ON`);
  db.prepare("INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES (?, ?, ?, ?, ?)").run(...Object.values(row));
  db.exec("PRAGMA writable_schema = RESET");
}

export const REPAIRABLE = corruptions([
  [
    "a total too high",
    `UPDATE head SET total = total + 1 WHERE tank = ${LONG}`,
    "tank long",
    /^it has 17000 readings, the total says 17001$/,
  ],
  ...[0, 1].map((level): Row => {
    const what = new RegExp(`^level ${level} of its rank index is wrong$`);
    return [`a wrong offset of level ${level}`, withWrongOffset(READING_INDEX, LONG, level), "tank long", what];
  }),
  [
    "no rank index of readings",
    `DELETE FROM reading_index WHERE tank = ${MEDIUM}`,
    "tank medium",
    /^level 0 of its rank index is wrong$/,
  ],
  [
    "a group stored under another key",
    `UPDATE reading_index SET start = start + 1 WHERE tank = ${LONG} AND level = 0 AND start = ${blockStart(LONG, 64)}`,
    "tank long",
    /^level 0 of its rank index is wrong$/,
  ],
  [
    "a group cut off",
    `UPDATE reading_index SET offsets = substr(offsets, 1, 80) WHERE tank = ${LONG} AND level = 0 AND start = ${blockStart(LONG, 64)}`,
    "tank long",
    /^level 0 of its rank index is wrong$/,
  ],
  [
    "a rank index of a tank without blocks",
    `INSERT INTO reading_index (tank, level, start, starts, offsets) SELECT ${SHORT}, level, start, starts, offsets
      FROM reading_index WHERE tank = ${LONG} AND level = 1`,
    "tank short",
    /^level 1 of its rank index is wrong$/,
  ],
  ["two blocks in each other's place", SWAP_BLOCKS, "tank medium", /^its readings are not in the order, or not in the blocks/],
  [
    "a block that begins late",
    `UPDATE block SET start = start + 1500 WHERE tank = ${MEDIUM} AND start = ${blockStart(MEDIUM, 4)}`,
    "tank medium",
    /^its readings are not in the order, or not in the blocks/,
  ],
  [
    "a head that begins in the last block",
    `UPDATE head SET start = start - 5000 WHERE tank = ${MEDIUM}`,
    "tank medium",
    /^its readings are not in the order, or not in the blocks/,
  ],
  [
    "a head that begins late",
    `UPDATE head SET start = 0 WHERE tank = ${SHORT}`,
    "tank short",
    /^its readings are not in the order, or not in the blocks/,
  ],
  [
    "a wrong tank_count",
    "UPDATE customer SET tank_count = 301 WHERE id = 'c0'",
    "customer c0",
    /^it has 300 tanks, tank_count says 301$/,
  ],
  [
    "a rank index of no tank",
    "INSERT INTO reading_index (tank, level, start, starts, offsets) VALUES (999999, 0, 1, x'', x'')",
    "table reading_index",
    /^rows refer to 1 missing tank \(first: 999999\)$/,
  ],
  [
    "a refill of no tank",
    "INSERT INTO refill VALUES ('nobody', 1, 2, 3, 4)",
    "table refill",
    /^rows refer to 1 missing tank \(first: nobody\)$/,
  ],
  [
    "an unreadable forecast",
    "UPDATE forecast SET forecast = '{' WHERE id = 'short'",
    "tank short",
    /^its forecast cannot be read$/,
  ],
  [
    "a forecast with a damaged key",
    `UPDATE forecast SET forecast = '{"state":"no_use","runs_lov_at":{"p10":null,"p50":null,"p90":null}}' WHERE id = 'short'`,
    "tank short",
    /^its forecast cannot be read$/,
  ],
  [
    "a rank index of no list",
    "INSERT INTO list_index (list, level, position, id, positions, ids, offsets) VALUES ('tank colour red', 0, 1, '', x'', '[]', x'')",
    'list "tank colour red"',
    /there is no such list, but it has a rank index/,
  ],
  [
    "a rank index of a short list",
    `INSERT INTO list_index (list, level, position, id, positions, ids, offsets)
      SELECT 'tank owner_id c1', level, position, id, positions, ids, offsets FROM list_index WHERE list = 'customer'`,
    "list of the tanks of customer c1",
    /^level 0 of its rank index is wrong$/,
  ],
  ...LISTS.flatMap(([list, where]): Row[] => [
    [`${where}: a wrong offset`, withWrongOffset(LIST_INDEX, `'${list}'`, 0), where, /^level 0 of its rank index is wrong$/],
    [
      `${where}: no rank index`,
      `DELETE FROM list_index WHERE list = '${list}'`,
      where,
      /its \d+ entries should have a rank index, they have none/,
    ],
  ]),
  // Two in each list.
  ...[
    "ids = 'x' || ids",
    "ids = 'null'",
    "ids = json_remove(ids, '$[1]')",
    "ids = json_set(ids, '$[1]', NULL)",
    "ids = json_set(ids, '$[1]', json('{}'))",
    "offsets = substr(offsets, 1, 8)",
    "positions = substr(positions, 1, 12)",
    "positions = x''",
  ].map((sql, i): Row => {
    const [list, where] = LISTS[i % LISTS.length] as (typeof LISTS)[number];
    const update = `UPDATE list_index SET ${sql} WHERE list = '${list}'`;
    return [`an unreadable rank index: ${sql}`, update, where, /^level 0 of its rank index is wrong$/];
  }),
  [
    "an index that misses a row",
    (db) => behindIndex(db, "customer_by_email", "UPDATE customer SET pk = 9999 WHERE id = 'c9'"),
    "the database",
    /index customer_by_email/,
  ],
]);

export const TWO_TANKS_OF_ONE_DEVICE =
  "UPDATE tank SET assigned_device_id = 'moved' WHERE id = 'long'; DELETE FROM device WHERE id = 'device of long'";

/** Cannot be derived from other data. */
export const UNREPAIRABLE = corruptions([
  [
    "an unreadable block",
    `UPDATE block SET data = x'07070707' WHERE tank = ${LONG} AND start = ${blockStart(LONG, 3)}`,
    "tank long",
    /is damaged: restore a backup/,
  ],
  ["an unreadable head", `UPDATE head SET data = x'ff' WHERE tank = ${SHORT}`, "tank short", /is damaged: restore a backup/],
  [
    "a tank of an unknown customer",
    "UPDATE tank SET owner_id = 'nobody' WHERE id = 'm0'; UPDATE customer SET tank_count = tank_count - 1 WHERE id = 'c3'",
    "tank m0",
    /owner_id: there is no customer nobody: import/,
  ],
  [
    "a block of no tank",
    "INSERT INTO block (tank, start, data, checksum) VALUES (999999, 1, x'', 0)",
    "table block",
    /^rows refer to 1 missing tank \(first: 999999\): restore a backup/,
  ],
  [
    "a head of no tank",
    "INSERT INTO head (tank, checksum) VALUES (999999, 0)",
    "table head",
    /^rows refer to 1 missing tank \(first: 999999\): restore/,
  ],
  [
    "a device that two tanks name",
    `DROP INDEX tank_by_device; ${TWO_TANKS_OF_ONE_DEVICE}`,
    ["device moved", "tank long", "index tank_by_device"],
    /should be assigned to one tank, but long and short name it: assign/,
  ],
  [
    "a key of an unknown customer",
    "UPDATE api_key SET customer_id = 'nobody' WHERE id = 'k'",
    "key k",
    /customer_id: there is no customer nobody/,
  ],
]);
