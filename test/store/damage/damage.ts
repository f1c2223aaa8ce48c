// Damage to a SQLite database: what is done, where the check reports it, and in which words.

import type { DatabaseSync } from "node:sqlite";
import type { Group, Position } from "../../../src/store/series/rank-index.ts";
import { PackedGroup, packGroup } from "../../../src/store/sqlite/rank-index.ts";
import { query } from "../../../src/store/sqlite/statements.ts";

type RankColumns = {
  readonly table: string;
  readonly series: string;
  readonly key: readonly string[];
  readonly nodes: readonly string[];
};
const READING_INDEX: RankColumns = { table: "reading_index", series: "tank", key: ["start"], nodes: ["starts"] };
const LIST_INDEX: RankColumns = {
  table: "list_index",
  series: "series",
  key: ["created_at", "id"],
  nodes: ["created_ats", "ids"],
};

export type Damage = {
  readonly name: string;
  readonly do: string | ((db: DatabaseSync) => void);
  readonly where: string;
  readonly what: RegExp;
};

const LONG = "(SELECT pk FROM tank WHERE id = 'long')";
const SHORT = "(SELECT pk FROM tank WHERE id = 'short')";
const EARLIEST = Number.MIN_SAFE_INTEGER;
const LISTS: readonly [series: string, where: string][] = [
  ["customer", "list of all customers"],
  ["customer email many@customers.example", "list of customers with the e-mail many@customers.example"],
  ["tank", "list of all tanks"],
  ["tank owner_id c0", "list of the tanks of customer c0"],
];

/** The bytes of two blocks of "long" change places. */
const SWAP = `CREATE TEMP TABLE two AS SELECT pk, data FROM block WHERE tank = ${LONG} ORDER BY start LIMIT 2 OFFSET 7;
  UPDATE block SET data = (SELECT data FROM two WHERE two.pk <> block.pk) WHERE pk IN (SELECT pk FROM two)`;
/** A block begins where the next one does, and holds nothing of it. */
const AT = (offset: number): string => `(SELECT start FROM block WHERE tank = ${LONG} ORDER BY start LIMIT 1 OFFSET ${offset})`;

/** The last group of a level is made another. */
const inLastGroup =
  ({ table, series, key, nodes }: RankColumns, of: string, level: number, change: (group: Group) => Group) =>
  (db: DatabaseSync): void => {
    const last = `SELECT pk, level, offsets, ${nodes.join(", ")} FROM ${table} WHERE ${series} = ${of} AND level = ${level}
      ORDER BY ${key.map((column) => `${column} DESC`).join(", ")} LIMIT 1`;
    const [pk, ...row] = query(db, last).get() ?? [];
    const values = packGroup(change(new PackedGroup(row).unpack()));
    const columns = ["offsets", ...nodes].map((column) => `${column} = ?`).join(", ");
    db.prepare(`UPDATE ${table} SET ${columns} WHERE pk = ?`).run(...values, pk as number);
  };

const miscounted = ({ offsets, ...group }: Group): Group => ({ ...group, offsets: offsets.with(-1, (offsets.at(-1) ?? 0) + 3) });

/** The first two after the beginning change places; nothing lies between the second and the first. */
const swapped = ({ at, offsets, ...group }: Group): Group => {
  const [origin, one, two, ...rest] = at as [Position, Position, Position, ...Position[]];
  const [zero, first = 0, second = 0, ...counts] = offsets;
  return {
    ...group,
    at: [origin, two, one, ...rest],
    offsets: [zero ?? 0, second, second, ...counts].map((count, i) => (i > 2 ? count + second - first : count)),
  };
};

const onTank = (name: string, harm: Damage["do"], what: RegExp, id = "long"): Damage => ({
  name,
  do: harm,
  where: `tank ${id}`,
  what,
});

const OF_TELEMETRY: readonly Damage[] = [
  onTank(
    "a total too high",
    `UPDATE head SET total = total + 1 WHERE tank = ${LONG}`,
    /^it has 70000 readings, the total says 70001$/,
  ),
  onTank("a total of none", `UPDATE head SET total = 0 WHERE tank = ${SHORT}`, /^it has 50 .* says 0$/, "short"),
  ...[0, 1].map((level) =>
    onTank(
      `a rank index node of level ${level} that counts wrong`,
      inLastGroup(READING_INDEX, LONG, level, miscounted),
      new RegExp(`^the node of level ${level} at 1970-01-01T\\d\\d:\\d\\d:\\d\\d.000Z should have offset (\\d+), it has \\d+$`),
    ),
  ),
  ...[0, 1].map((level) =>
    onTank(
      `the rank index nodes of level ${level} gone`,
      `DELETE FROM reading_index WHERE tank = ${LONG} AND level = ${level}`,
      /should have \d+ nodes, it has/,
    ),
  ),
  onTank(
    "no rank index nodes at all",
    `DELETE FROM reading_index WHERE tank = ${LONG}`,
    /level 0 of its rank index should have 546 nodes, it has 0/,
  ),
  onTank(
    "a rank index node that is not where a block begins",
    inLastGroup(READING_INDEX, LONG, 0, ({ at, ...group }) => ({ ...group, at: at.with(-1, [Number(at.at(-1)?.[0]) + 1]) })),
    /it has 546, the first missing one at 1970-01-01T19:22:40.000Z/,
  ),
  onTank(
    "a group of rank index nodes that is not where it says",
    `UPDATE reading_index SET start = start + 1 WHERE tank = ${LONG} AND level = 0 AND start = ${AT(64)}`,
    /^a group of level 0 of its rank index is stored under 1970-01-01T02:16:32.001Z, but begins at 1970-01-01T02:16:32.000Z$/,
  ),
  onTank(
    "a group of rank index nodes that is cut off",
    `UPDATE reading_index SET offsets = substr(offsets, 1, 80) WHERE tank = ${LONG} AND level = 0 AND start = ${AT(64)}`,
    /should have 546 nodes, it has 482, the first missing one at 1970-01-01T02:16:32.000Z$/,
  ),
  onTank(
    "rank index nodes of a tank without blocks",
    `INSERT INTO reading_index (tank, level, start, starts, offsets) SELECT ${SHORT}, level, start, starts, offsets
      FROM reading_index WHERE tank = ${LONG} AND level = 1`,
    /its rank index should not have level 1/,
    "short",
  ),
  onTank("two blocks in each other's place", SWAP, /should be in order|should end before/),
  onTank(
    "a block that begins late",
    `UPDATE block SET start = start + 1500 WHERE tank = ${LONG} AND start = ${AT(4)}`,
    /should end before/,
  ),
  onTank(
    "a first block that does not begin at the beginning",
    `UPDATE block SET start = 0 WHERE tank = ${LONG} AND start = ${EARLIEST}`,
    /should begin at the start, they begin at 1970/,
  ),
  onTank(
    "a head that begins in the last block",
    `UPDATE head SET start = start - 5000 WHERE tank = ${LONG}`,
    /should end before/,
  ),
  onTank(
    "a head that does not begin at the beginning",
    `UPDATE head SET start = 0 WHERE tank = ${SHORT}`,
    /should begin at/,
    "short",
  ),
  onTank(
    "a block that stands twice",
    `INSERT INTO block (tank, start, data) SELECT tank, start + 1, data FROM block WHERE tank = ${LONG} AND start = ${AT(4)}`,
    /should be in order/,
  ),
];

const OF_OBJECTS: readonly Damage[] = [
  {
    name: "a tank_count too high",
    do: "UPDATE customer SET tank_count = 301 WHERE id = 'c0'",
    where: "customer c0",
    what: /^it has 300 tanks, tank_count says 301$/,
  },
  {
    name: "a negative tank_count",
    do: "UPDATE customer SET tank_count = -1 WHERE id = 'c7'",
    where: "customer c7",
    what: /^it has 0 tanks, tank_count says -1$/,
  },
  {
    name: "rank index nodes of no tank",
    do: "INSERT INTO reading_index (tank, level, start, starts, offsets) VALUES (999999, 0, 1, x'', x'')",
    where: "table reading_index",
    what: /^rows of 1 tanks belong to no tank \(999999\)$/,
  },
  {
    name: "rank index nodes of no list",
    do: "INSERT INTO list_index (series, level, created_at, id, created_ats, ids, offsets) VALUES ('tank colour red', 0, 1, '', x'', '[]', x'')",
    where: 'list "tank colour red"',
    what: /there is no such list, but it has a rank index/,
  },
  {
    name: "rank index nodes of a short list that count wrong",
    do: `INSERT INTO list_index (series, level, created_at, id, created_ats, ids, offsets)
      SELECT 'tank owner_id c1', level, created_at, id, created_ats, ids, offsets FROM list_index WHERE series = 'customer'`,
    where: "list of the tanks of customer c1",
    what: /should have offset 1, it has 128/,
  },
  {
    name: "an index that misses a row",
    do: (db) => behindIndex(db, "customer_by_email", "UPDATE customer SET pk = 9999 WHERE id = 'c9'"),
    where: "the database",
    what: /index customer_by_email/,
  },
];

/** The index is forgotten, rows are changed behind its back, and it is remembered again. */
export function behindIndex(db: DatabaseSync, index: string, sql: string): void {
  db.enableDefensive(false);
  db.exec("PRAGMA writable_schema = ON");
  const row = db.prepare("SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema WHERE name = ?").get(index) ?? {};
  db.prepare("DELETE FROM sqlite_schema WHERE name = ?").run(index);
  db.exec(`PRAGMA writable_schema = RESET; ${sql}; PRAGMA writable_schema = ON`);
  db.prepare("INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES (?, ?, ?, ?, ?)").run(...Object.values(row));
  db.exec("PRAGMA writable_schema = RESET");
}

const miscountedList = (series: string, where: string, level: number): Damage => ({
  name: `${where}: a rank index node of level ${level} that counts wrong`,
  do: inLastGroup(LIST_INDEX, `'${series}'`, level, miscounted),
  where,
  what: new RegExp(`^the node of level ${level} at 1970-.* should have offset \\d+, it has \\d+$`),
});

/** Of lists with two levels of rank index nodes. */
export const OF_LONG_LISTS: readonly Damage[] = LISTS.filter(([series]) => series.startsWith("tank")).map(([series, where]) =>
  miscountedList(series, where, 1),
);

const OF_LISTS: readonly Damage[] = LISTS.flatMap(([series, where]): Damage[] => {
  return [
    miscountedList(series, where, 0),
    {
      name: `${where}: two rank index nodes in each other's place, and counts that fit`,
      do: inLastGroup(LIST_INDEX, `'${series}'`, 0, swapped),
      where,
      what: /^level 0 of its rank index should be in order, the node at .* is not/,
    },
    {
      name: `${where}: rank index nodes gone`,
      do: inLastGroup(LIST_INDEX, `'${series}'`, 0, ({ at, offsets, ...group }) => ({
        ...group,
        at: at.slice(0, 1),
        offsets: offsets.slice(0, 1),
      })),
      where,
      what: /a segment should have at most 256 entries, one has|should have \d+ nodes/,
    },
    {
      name: `${where}: no rank index nodes`,
      do: `DELETE FROM list_index WHERE series = '${series}'`,
      where,
      what: /its \d+ entries should have a rank index, they have none/,
    },
  ];
});

const UNREADABLE: readonly Damage[] = [
  "ids = 'x' || ids",
  "ids = 'null'",
  "ids = json_remove(ids, '$[1]')",
  "ids = json_set(ids, '$[1]', NULL)",
  "ids = json_set(ids, '$[1]', json('{}'))",
  "offsets = substr(offsets, 1, 8)",
  "created_ats = substr(created_ats, 1, 12)",
  "created_ats = x''",
].map((sql) => ({
  name: `a rank index that cannot be read, ${sql}`,
  do: `UPDATE list_index SET ${sql} WHERE series = 'customer'`,
  where: "list of all customers",
  what: /^its rank index should not have level 0$/,
}));

/** Repaired, these leave every answer as it was. */
export const REPAIRABLE: readonly Damage[] = [...OF_TELEMETRY, ...OF_OBJECTS, ...OF_LISTS, ...UNREADABLE];

/** Two tanks have one device. */
export const TWINS =
  "UPDATE tank SET assigned_device_id = 'moved' WHERE id = 'long'; DELETE FROM device WHERE id = 'device of long'";

/** Nothing can be derived: each is told again after a repair. */
export const UNREPAIRABLE: readonly Damage[] = [
  onTank(
    "a block that is no block",
    `UPDATE block SET data = x'07070707' WHERE tank = ${LONG} AND start = ${AT(3)}`,
    /cannot be read: restore a backup/,
  ),
  onTank(
    "a head that is no block",
    `UPDATE head SET data = x'ff' WHERE tank = ${SHORT}`,
    /cannot be read: restore a backup/,
    "short",
  ),
  onTank(
    "an owner that is not there",
    "UPDATE tank SET owner_id = 'nobody' WHERE id = 'long'; UPDATE customer SET tank_count = 0 WHERE id = 'c1'",
    /owner_id: there is no customer nobody: import/,
  ),
  onTank(
    "an alert outside the scale",
    "UPDATE tank SET min_fill_alert_percentage = 101 WHERE id = 'long'; UPDATE fleet SET threshold = 101, urgency = -95 WHERE tank = 'long'",
    /min_fill_alert_percentage: must be from 0 to 100; correct it and import/,
  ),
  onTank(
    "an instant outside the calendar",
    "UPDATE tank SET updated_at = 9000000000000000 WHERE id = 'long'",
    /updated_at: 9000000000000000 is not an instant/,
  ),
  onTank(
    "a place that is not on Earth",
    "UPDATE tank SET latitude = 91 WHERE id = 'long'",
    /location.latitude: must be from -90 to 90/,
  ),
  {
    name: "a customer changed before it was made",
    do: "UPDATE customer SET updated_at = -1 WHERE id = 'c7'",
    where: "customer c7",
    what: /updated_at: must not be before created_at/,
  },
  {
    name: "readings of no tank",
    do: "INSERT INTO block (tank, start, data) VALUES (999999, 1, x'')",
    where: "table block",
    what: /^rows of 1 tanks belong to no tank \(999999\): restore a backup/,
  },
  {
    name: "a head of no tank",
    do: "INSERT INTO head (tank) VALUES (999999)",
    where: "table head",
    what: /^rows of 1 tanks belong to no tank \(999999\): restore/,
  },
  {
    name: "a device that serves two tanks",
    do: `DROP INDEX tank_by_device; ${TWINS}`,
    where: "device moved",
    what: /should serve one tank, but long and short name it: assign/,
  },
  {
    name: "a key of no customer",
    do: "UPDATE api_key SET customer_id = 'nobody' WHERE id = 'k'",
    where: "key k",
    what: /customer_id: there is no customer nobody/,
  },
  {
    name: "a key with an unknown role",
    do: "UPDATE api_key SET role = 'boss' WHERE id = 'k'",
    where: "key k",
    what: /role: must be one of read, ingest, manage, not boss; revoke/,
  },
  {
    name: "a key whose successor is not there",
    do: "UPDATE api_key SET replaced_by = 'gone' WHERE id = 'k'",
    where: "key k",
    what: /its successor gone does not exist/,
  },
];
