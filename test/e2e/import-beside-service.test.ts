// An import while clients read: every response is consistent, and fast.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { createKey, customer, type Line, ndjson, reading, tank } from "./fixtures.ts";
import { workspace } from "./program.ts";
import { type Item, type List, list } from "./requests.ts";

const CUSTOMERS = 60;
const TANKS = 90;
const READINGS = 20_000;
const MAX_RESPONSE_MS = 1500;
/** Shorter than a transaction of the import. */
const PAUSE_MS = 4;

/** The version is in every field of an object, and in the owner of a tank. */
function* fleet(version: number): Generator<Line> {
  for (let i = 0; i < CUSTOMERS; i++) {
    yield customer(`c${i}`, { email: `v${version}@c.example`, name: `v${version}`, phone: `v${version}` });
  }
  for (let i = 0; i < TANKS; i++) {
    yield tank(`t${i}`, `c${(i + version) % CUSTOMERS}`, { name: `v${version}`, custom_id: `v${version}`, capacity: version });
  }
  for (let i = 0; i < READINGS; i++) yield reading(`t${i % TANKS}`, Math.floor(i / TANKS), version);
}

function checkCustomer({ id, email, name, phone }: Item): void {
  assert.ok(email === `${name}@c.example` && phone === name, `mixed versions: ${id} ${email} ${name} ${phone}`);
}

function checkTank({ id, name, custom_id, capacity, owner_id }: Item): void {
  const owner = `c${(Number(`${id}`.slice(1)) + Number(capacity)) % CUSTOMERS}`;
  assert.ok(name === `v${capacity}` && custom_id === name && owner_id === owner, `mixed versions: ${id} ${name} ${owner_id}`);
}

test("during an import responses have consistent objects, exact totals that only grow, and come quickly", async (t) => {
  const here = workspace(t);
  for (const version of [1, 2]) writeFileSync(here.path(`v${version}.ndjson`), ndjson(fleet(version)));
  const key = await createKey(here);
  const service = await here.start();
  const durations: number[] = [];
  const totals = new Set<number>();
  let isImporting = true;
  let isChanging = false;

  async function watch(path: string, look: (page: List) => void): Promise<void> {
    let total = 0;
    while (isImporting) {
      const started = performance.now();
      const page = await list(service, path, key);
      durations.push(performance.now() - started);
      assert.equal(page.data.length, Math.max(0, Math.min(page.size, page.total_items - (page.page - 1) * page.size)));
      assert.ok(page.total_items >= total, `${path}: ${page.total_items} after ${total}`);
      total = page.total_items;
      totals.add(total);
      look(page);
      await pause(PAUSE_MS);
    }
  }

  const readers = Promise.all([
    watch("/v1/customers?size=100", ({ data }) => {
      data.forEach(checkCustomer);
      const counted = data.reduce((sum, { tank_count }) => sum + Number(tank_count), 0);
      assert.ok(counted <= TANKS, `${counted} tanks are counted`);
      if (isChanging) assert.equal(counted, TANKS, "a tank that changes owners is counted once");
    }),
    watch("/v1/tanks?size=7&page=9", ({ data }) => data.forEach(checkTank)),
    watchTelemetry(),
  ]);
  async function watchTelemetry(): Promise<void> {
    while (isImporting && (await list(service, "/v1/tanks", key)).total_items < TANKS) await pause(PAUSE_MS);
    await watch("/v1/tanks/t5/telemetry?size=100&page=2", ({ data }) => {
      const instants = data.map(({ created_at }) => `${created_at}`);
      assert.deepEqual(instants, [...new Set(instants)].sort().reverse());
    });
  }

  async function importBoth(): Promise<void> {
    const first = await here.spawn(["import", "v1.ndjson", "--json"]);
    assert.match(first.stdout, new RegExp(`"new":${CUSTOMERS + TANKS + READINGS},"changed":0`));
    isChanging = true;
    const second = await here.spawn(["import", "v2.ndjson", "--json"]);
    assert.match(second.stdout, new RegExp(`"new":0,"changed":${CUSTOMERS + TANKS + READINGS}`));
  }
  try {
    await Promise.race([importBoth(), readers.then(() => assert.fail("the readers stopped early"))]);
  } finally {
    isImporting = false;
  }
  await readers;

  const slowest = Math.max(...durations);
  assert.ok(slowest < MAX_RESPONSE_MS, `the slowest of ${durations.length} responses took ${Math.round(slowest)} ms`);
  assert.ok(totals.size > 2, "the readers saw the import grow");
  const { data } = await list(service, "/v1/tanks/t5/telemetry?size=1", key);
  assert.equal(data[0]?.["fill_percentage"], 2);
});
