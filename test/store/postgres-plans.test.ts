// How PostgreSQL walks the store's own statements: one a question, prepared, by an index whatever the
// statistics say, and everything about telemetry by its tank.

import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { UNRESTRICTED } from "../../src/domain/key.ts";
import { Import } from "../../src/ingest/import.ts";
import { createKey } from "../support/commands.ts";
import { openedOn, postgresDatabase } from "../support/postgres/database.ts";
import { below, isWork, type Node, planOf, poolOn, type Statement, statementsDuring } from "../support/postgres/statements.ts";
import { ingest } from "../support/readings.ts";
import { putReadings } from "../support/records.ts";
import {
  customer,
  customersOf,
  key,
  putCustomers,
  putTanks,
  readingsOf,
  scopeOf,
  tank,
  tanksOf,
  WHOLE,
} from "./conformance/objects.ts";

const EMAIL = "office@customers.example";
const FAR = { page: 4 };
const ITS_PARTS = { from: 5, to: 9_000_000 };

const database = await postgresDatabase({ after });
const { store } = await openedOn({ after: database.closeFirst }, database.url);
const empty = await postgresDatabase({ after });
await openedOn({ after: empty.closeFirst }, empty.url);

const STATISTICS = { "of tables that were small": poolOn(database), none: poolOn(empty) };

const QUESTIONS: Record<string, () => Promise<unknown>> = {
  customerById: () => store.customerById("a", UNRESTRICTED),
  "customerPage, near": () => customersOf(store),
  "customerPage, far": () => customersOf(store, FAR),
  "customerPage of an e-mail, near": () => customersOf(store, { email: EMAIL, ...ITS_PARTS }),
  "customerPage of an e-mail, far": () => customersOf(store, { email: EMAIL, ...FAR }),
  "customerPage of a customer's key": () => customersOf(store, {}, scopeOf("a")),
  tankById: () => store.tankById("one", UNRESTRICTED),
  "tankPage, near": () => tanksOf(store, ITS_PARTS),
  "tankPage, far": () => tanksOf(store, FAR),
  "tankPage of an owner, near": () => tanksOf(store, {}, scopeOf("a")),
  "tankPage of an owner, far": () => tanksOf(store, FAR, scopeOf("a")),
  "telemetryPage, newest": () => readingsOf(store, "one", { size: 10 }),
  "telemetryPage, far": () => readingsOf(store, "one", FAR),
  "telemetryPage in a range": () => readingsOf(store, "one", ITS_PARTS),
  "telemetryPage of an unknown tank": () => store.telemetryPage("none", WHOLE, UNRESTRICTED),
  keyByHash: () => store.keyByHash("hash"),
  keyList: () => store.keyList(),
  isEmpty: () => store.isEmpty(),
  ping: () => store.ping(),
};

const SPREAD = ["telemetry", "block", "reading_index"];

/** Every table is reached by an index, the telemetry tables by the tank. A sort has to do with what was asked for alone. */
function checkPlan(plan: Node, text: string): void {
  const told = `${text}\n${JSON.stringify(plan, null, 1)}`;
  for (const node of below(plan)) {
    const { "Node Type": type, "Relation Name": relation, "Index Cond": condition = "" } = node;
    if (type === "ModifyTable") {
      if (SPREAD.includes(relation ?? ""))
        assert.deepEqual(node["Conflict Arbiter Indexes"] ?? [`${relation}_pkey`], [`${relation}_pkey`], told);
    } else if (relation !== undefined) {
      assert.match(type, /^Index (Only )?Scan$/, told);
      if (SPREAD.includes(relation)) assert.match(condition, /\btank (=|>=) /, told);
    }
    if (type.endsWith("Sort")) assert.ok(below(node).some(isBounded), told);
  }
}

/** What it gives is no more than a page, than was handed in, or than a few rows for each of that. */
function isBounded({ "Node Type": type, "Index Cond": condition = "" }: Node): boolean {
  return type === "Limit" || type === "Function Scan" || / = ANY /.test(condition);
}

/** Readings that are appended, late, both together, and so many that blocks and groups are split. */
async function acceptAll(): Promise<void> {
  const many = Array.from({ length: 15_000 }, (_, i) => [i * 1000, i % 100] as const);
  await putReadings(store, "one", many);
  await putReadings(store, "one", [[20_000_000, 5]]);
  await putReadings(
    store,
    "one",
    Array.from({ length: 5000 }, (_, i) => [i * 100 + 1, 7] as const),
  );
  await ingest(store, { tank: "one", at: 30_000_000, fill: 5 }, { tank: "two", at: 0, fill: 0 });
}

suite("the statements of the store", () => {
  let accepted: Statement[] = [];

  before(async () => {
    await putCustomers(store, customer("a"));
    await putTanks(store, tank("one", "a"), tank("two", "a"));
    await createKey(store, key("k"), "hash");
    // Statistics that were true once: of tables with next to nothing in them.
    await database.query("ANALYZE");
    accepted = await statementsDuring(acceptAll);
  });

  for (const [name, ask] of Object.entries(QUESTIONS)) {
    test(`${name}: one statement, prepared`, async () => {
      const statements = await statementsDuring(ask);
      assert.equal(statements.length, 1, statements.map(({ text }) => text).join("\n"));
      assert.ok(statements[0]?.name, "it has a name");
    });
  }

  test("the statements of a write are prepared, but for the transaction's own and COPY", () => {
    for (const { name, text } of accepted.filter(isWork)) assert.ok(name, text);
  });

  for (const [statistics, pool] of Object.entries(STATISTICS)) {
    test(`every question goes by an index; statistics: ${statistics}`, async () => {
      for (const [name, ask] of Object.entries(QUESTIONS)) {
        // What lists every key, asks whether there is any, or has one row is no walk of a table that grows.
        if (["keyList", "isEmpty", "ping"].includes(name)) continue;
        for (const statement of await statementsDuring(ask)) {
          const plan = await planOf(pool, statement);
          checkPlan(plan, statement.text);
          if (name.startsWith("telemetry")) assert.ok(!below(plan).some((node) => node["Node Type"].endsWith("Sort")), name);
        }
      }
    });

    test(`readings are taken in by the tank's indexes; statistics: ${statistics}`, async () => {
      const texts = new Map(accepted.filter(isWork).map((statement) => [statement.text, statement]));
      for (const [text, statement] of texts) {
        checkPlan(await planOf(pool, statement), text);
        assert.match(text, /\btank\b/, "it carries the tank");
      }
      assert.equal(texts.size, 8, [...texts.keys()].join("\n"));
    });
  }

  test("the blocks of a transaction are written by one statement, however many they are", async () => {
    const csv = Array.from({ length: 3000 }, (_, i) => `two,${new Date(i * 60_000).toISOString()},${i % 100}\n`);
    async function* file() {
      yield Buffer.from(`tank_id,created_at,fill_percentage\n${csv.join("")}`);
    }
    const imported = await statementsDuring(() => new Import(store, ({ reason }) => assert.fail(reason)).run(file(), "csv"));
    const count = (of: RegExp): number => imported.filter(({ text }) => of.test(text)).length;
    assert.deepEqual([count(/INSERT INTO block/), count(/^COMMIT/)], [1, 1]);
    assert.equal((await readingsOf(store, "two")).totalItems, 3000);
  });
});
