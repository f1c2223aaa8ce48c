// Pages of a PostgreSQL server are overwritten: an export has the rows of all other pages, and names what it leaves out.

import assert from "node:assert/strict";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { openStore } from "../../../src/store/open.ts";
import { ownPostgres, query } from "../../support/postgres/server.ts";
import { expectMissing, exported, fillManyPages } from "../corruption/pages.ts";

const PAGE_BYTES = 8192;

const unnamed = (what: string) => new RegExp(`^${what} may be missing: invalid page in block \\d+ of relation`);
const lost = {
  customer: /^customer (?<id>\w+) cannot be read: invalid page in block \d+ of relation/,
  tank: /^tank (?<id>\w+) cannot be read: invalid page/,
  device: /^device (?<id>.+) cannot be read: invalid page/,
  readings: /^tank (?<id>\w+): (its head|the block from \S+) cannot be read: invalid page/,
};
const CASES = [
  // After a vacuum, the index alone says which rows there are.
  { name: "vacuumed", tables: ["customer", "tank", "head", "block"], missing: lost },
  {
    name: "customer_block",
    tables: ["customer", "block"],
    missing: { customer: unnamed("customers"), readings: unnamed("blocks of readings") },
  },
  { name: "tank", tables: ["tank"], missing: { tank: unnamed("tanks"), device: lost.device } },
  { name: "head", tables: ["head"], missing: { readings: lost.readings } },
] as const;

suite("the export of a PostgreSQL database with damaged pages", async () => {
  const server = await ownPostgres({ after });
  const urlOf = (database: string): string => server.url.replace(/postgres$/, database);
  const run = (database: string, sql: string) => query({ url: urlOf(database) }, sql);

  await run("postgres", "ALTER SYSTEM SET autovacuum = off");
  await run("postgres", "SELECT pg_reload_conf()");
  await run("postgres", "CREATE DATABASE sound");
  const store = await openStore(urlOf("sound"), () => {});
  await fillManyPages(store);
  const { records: sound } = await exported(store);
  await store.close();
  const pages: { readonly file: string; readonly page: number }[] = [];
  const lostRows = new Map<string, number>();
  for (const { name, tables } of CASES) {
    await run("postgres", `CREATE DATABASE ${name} TEMPLATE sound`);
    if (name === "vacuumed") await run(name, "VACUUM");
    const [setting] = await run(name, "SHOW data_directory");
    for (const table of tables) {
      const pageOf = "split_part(trim('(' FROM ctid::text), ',', 1)::integer";
      // The one in the middle of those that have rows.
      const used = await run(name, `SELECT ${pageOf} AS page, count(*) AS rows FROM ${table} GROUP BY 1 ORDER BY 1`);
      assert.ok(used.length > 2, table);
      const { page, rows } = used[used.length >> 1] ?? {};
      const [found] = await run(name, `SELECT pg_relation_filepath('${table}') AS file`);
      pages.push({ file: join(String(setting?.["data_directory"]), String(found?.["file"])), page: Number(page) });
      // A device is compared with its tank.
      lostRows.set(name, (lostRows.get(name) ?? 0) + Number(rows) * (table === "tank" ? 2 : 1));
    }
  }
  await server.stop("fast");
  for (const { file, page } of pages) {
    const descriptor = openSync(file, "r+");
    writeSync(descriptor, Buffer.alloc(PAGE_BYTES, 0x5a), 0, PAGE_BYTES, page * PAGE_BYTES);
    closeSync(descriptor);
  }
  await server.start();

  for (const { name, tables, missing } of CASES) {
    test(`of ${tables.join(" and ")}${name === "vacuumed" ? ", after a vacuum" : ""}`, async (t) => {
      const store = await openStore(urlOf(name), () => {});
      t.after(() => store.close());
      assert.equal(await expectMissing(store, sound, missing), lostRows.get(name));
    });
  }
});
