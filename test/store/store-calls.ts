// Every call of a store, for tests of a database that cannot be reached.

import { join } from "node:path";
import { UNRESTRICTED } from "../../src/domain/key.ts";
import type { Store } from "../../src/domain/store.ts";
import { at, command, createKey, revokeKey } from "../support/commands.ts";
import { putReadings } from "../support/records.ts";
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

type Calls = Readonly<Record<string, () => Promise<unknown>>>;
const noProgress = () => {};

export async function fillForCalls(store: Store): Promise<void> {
  await putCustomers(store, customer("a"));
  await putTanks(store, tank("one", "a"));
  await putReadings(store, "one", [[1, 50]]);
  await createKey(store, key("k"), "hash");
}

export const readCalls = (store: Store): Calls => ({
  customerById: () => store.customerById("a", UNRESTRICTED),
  customerPage: () => customersOf(store),
  customerPageByEmail: () => customersOf(store, { email: "office@customers.example" }),
  tankById: () => store.tankById("one", UNRESTRICTED),
  tankPage: () => tanksOf(store),
  telemetryPage: () => store.telemetryPage("one", WHOLE, UNRESTRICTED),
  telemetryRange: () => store.telemetryPage("one", { ...WHOLE, from: 0 }, UNRESTRICTED),
  readingColumns: () => store.readingColumns("one", { from: 0, to: 1 }, UNRESTRICTED),
  historyColumns: () => store.historyColumns("one", { from: 0, to: 1 }),
  keyByHash: () => store.keyByHash("hash"),
  ping: () => store.ping(),
  keyList: () => store.keyList(),
  isEmpty: () => store.isEmpty(),
  ...managementQueries(store),
});

/** `id` is of the objects that are created. */
export const writeCalls = (store: Store, id: string): Calls => ({
  importCustomers: () => putCustomers(store, customer(id)),
  importTanks: () => putTanks(store, tank(id, "a")),
  importDevices: () => store.importDevices([]),
  ingest: () => putReadings(store, "one", [[2, 50]]),
  createKey: () => createKey(store, key(id), id),
  rotateKey: () => store.execute(command.rotateKey(id, 0, `${id} too`, `${id} too`), at(NEW_YEAR)),
  revokeKey: () => revokeKey(store, "k", NEW_YEAR),
  updateLastSeen: () => store.updateLastSeen(new Map([["a", 1]])),
});

export const maintenanceCalls = (store: Store, folder: string): Calls => ({
  backup: () => store.backup(join(folder, "copy"), noProgress),
  exportRecords: () => everything(store),
  check: () => store.check(false, noProgress).next(),
  scratchCopy: () => store.scratchCopy(noProgress),
});
