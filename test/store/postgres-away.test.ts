// PostgreSQL goes away and comes back while the store is in use.

import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { UNRESTRICTED } from "../../src/domain/key.ts";
import type { Store } from "../../src/domain/store.ts";
import { createKey, revokeKey, rotateKey } from "../support/commands.ts";
import type { StopMode } from "../support/postgres/cluster.ts";
import { isUnavailable, openedOn, succeeds } from "../support/postgres/database.ts";
import { type OwnPostgres, ownPostgres } from "../support/postgres/server.ts";
import { putReadings } from "../support/records.ts";
import { type Lifetime, temporaryFolder } from "../support/service.ts";
import { until } from "../support/until.ts";
import {
  customer,
  customersOf,
  everything,
  key,
  managementQueries,
  NEW_YEAR,
  putCustomers,
  putTanks,
  tank,
  tanksOf,
  WHOLE,
} from "./conformance/objects.ts";

/** What the service may take to notice that the database is back. */
const BACK_MS = 2000;
const REFUSED_MS = 4000;
const noProgress = () => {};

async function filled(store: Store): Promise<void> {
  await putCustomers(store, customer("a"));
  await putTanks(store, tank("one", "a"));
  await putReadings(store, "one", [[1, 50]]);
  await createKey(store, key("k"), "hash");
}

const questions = (store: Store): Record<string, () => Promise<unknown>> => ({
  customerById: () => store.customerById("a", UNRESTRICTED),
  customerPage: () => customersOf(store),
  customerPageByEmail: () => customersOf(store, { email: "office@customers.example" }),
  tankById: () => store.tankById("one", UNRESTRICTED),
  tankPage: () => tanksOf(store),
  telemetryPage: () => store.telemetryPage("one", WHOLE, UNRESTRICTED),
  telemetryRange: () => store.telemetryPage("one", { ...WHOLE, from: 0 }, UNRESTRICTED),
  keyByHash: () => store.keyByHash("hash"),
  ping: () => store.ping(),
  keyList: () => store.keyList(),
  isEmpty: () => store.isEmpty(),
  ...managementQueries(store),
});

const writes = (store: Store, id: string): Record<string, () => Promise<unknown>> => ({
  putCustomers: () => putCustomers(store, customer(id)),
  putTanks: () => putTanks(store, tank(id, "a")),
  acceptReadings: () => putReadings(store, "one", [[2, 50]]),
  createKey: () => createKey(store, key(id), id),
  rotateKey: () => rotateKey(store, id, { overlap: 0, newId: `${id} too`, hash: `${id} too` }, NEW_YEAR),
  revokeKey: () => revokeKey(store, "k", NEW_YEAR),
  touchCustomers: () => store.updateLastSeen(new Map([["a", 1]])),
});

async function refusedSoon(name: string, ask: () => Promise<unknown>): Promise<void> {
  const asked = performance.now();
  await assert.rejects(ask, isUnavailable, name);
  const milliseconds = Math.round(performance.now() - asked);
  assert.ok(milliseconds < REFUSED_MS, `${name} was refused after ${milliseconds} ms`);
}

async function goAndReturn(life: Lifetime, server: OwnPostgres, how: StopMode): Promise<void> {
  const { store, eventKinds } = await openedOn(life, server.url);
  const folder = temporaryFolder(life);
  if (await store.isEmpty()) await filled(store);
  const before = await everything(store);

  await server.stop(how);
  await until("the loss", async () => !(await succeeds(store.ping())));
  const all = { ...questions(store), ...writes(store, "lost") };
  for (const [name, ask] of Object.entries(all)) await refusedSoon(name, ask);
  await refusedSoon("backup", () => store.backup(join(folder, "copy"), noProgress));
  await refusedSoon("records", () => everything(store));
  await refusedSoon("check", () => store.check(false, noProgress).next());
  await refusedSoon("rehearsal", () => store.scratchCopy(noProgress));
  assert.deepEqual(eventKinds(), ["store_unavailable", "writes_unavailable"]);

  await server.start();
  const back = performance.now();
  await until("the return", () => succeeds(store.ping()), BACK_MS);
  for (const [name, ask] of Object.entries(questions(store))) await assert.doesNotReject(ask, name);
  assert.deepEqual(await everything(store), before);
  for (const [name, write] of Object.entries(writes(store, how))) await assert.doesNotReject(write, name);
  const milliseconds = Math.round(performance.now() - back);
  assert.ok(milliseconds < BACK_MS, `all of it worked ${milliseconds} ms after the database was back`);
  assert.deepEqual(eventKinds(), ["store_recovered", "store_unavailable", "writes_recovered", "writes_unavailable"]);
}

test("while the server is away everything is store_unavailable, soon, and all is well when it is back", async (t) => {
  const server = await ownPostgres(t);
  for (const how of ["fast", "immediate", "kill"] as const) await t.test(how, (life) => goAndReturn(life, server, how));
});
