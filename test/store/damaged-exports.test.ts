// Pages of a SQLite file are overwritten: an export has the rows of all other pages, and names what it leaves out.

import assert from "node:assert/strict";
import { closeSync, copyFileSync, openSync, writeSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { after, before, suite, test } from "node:test";
import { databaseFolder } from "../support/stores.ts";
import { expectMissing, exported, fillManyPages, type Missing } from "./corruption/pages.ts";

const PAGE_BYTES = 4096;

type Leaf = { readonly page: number; readonly rows: number };

suite("the export of a SQLite file with damaged pages", () => {
  const sound = databaseFolder({ after });
  let records: ReadonlySet<string>;

  before(async () => {
    const store = await sound.open();
    await fillManyPages(store);
    const { records: all, damages } = await exported(store);
    records = all;
    assert.deepEqual(damages, []);
    await store.close();
  });

  /** The page in the middle of a table or an index. */
  function middleOf(name: string): Leaf {
    using db = new DatabaseSync(sound.file, { readOnly: true });
    const pages = db.prepare("SELECT pageno, ncell FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path").all(name);
    assert.ok(pages.length > 0, `${name} has ${pages.length} leaves`);
    const { pageno, ncell } = pages[pages.length >> 1] ?? {};
    return { page: Number(pageno), rows: Number(ncell) };
  }

  const lost = {
    customer: /^customer (?<id>\w+) cannot be read: /,
    tank: /^tank (?<id>\w+) cannot be read: /,
    device: /^device (?<id>.+) cannot be read: /,
    head: /^tank (?<id>\w+): its head cannot be read: /,
    block: /^tank (?<id>\w+): the block from \S+ cannot be read: /,
  };
  for (const [names, missing, count] of [
    [["customer"], { customer: lost.customer }, (on: number) => on],
    // A device is compared with its tank.
    [["tank"], { tank: lost.tank, device: lost.device }, (on: number) => 2 * on],
    [["head"], { readings: lost.head }, (on: number) => on],
    [["block"], { readings: lost.block }, (on: number) => on],
    [["device"], { device: /^devices after device .+ before device .+ may be missing: / }, (on: number) => on],
    // Two of each device; one device may have them on two pages.
    [["device_assignment"], { device: lost.device }, (on: number) => on / 2 + 1],
    [["pending_reading"], { pending: /^pending readings after device .+ before device .+ may be missing: / }, (on: number) => on],
    [["sqlite_autoindex_customer_1"], {}, () => 0],
    [["block_by_start"], {}, () => 0],
    // Devices are compared with their tanks by this index.
    [
      ["sqlite_autoindex_tank_1", "head"],
      { device: lost.device, readings: /^the newest readings of tanks may be missing: / },
      (on: number, other: number) => on + other,
    ],
  ] as const satisfies readonly (readonly [
    names: readonly string[],
    missing: Missing,
    count: (on: number, other: number) => number,
  ])[]) {
    test(`of ${names.join(" and ")}`, async (t) => {
      const { file, open } = databaseFolder(t);
      copyFileSync(sound.file, file);
      const leaves = names.map(middleOf);
      const descriptor = openSync(file, "r+");
      for (const { page } of leaves)
        writeSync(descriptor, Buffer.alloc(PAGE_BYTES, 0x5a), 0, PAGE_BYTES, (page - 1) * PAGE_BYTES);
      closeSync(descriptor);
      const missed = await expectMissing(await open(), records, missing);
      const [first = 0, second = 0] = leaves.map(({ rows }) => rows);
      assert.ok(missed <= count(first, second), `${missed} are missing`);
    });
  }
});
