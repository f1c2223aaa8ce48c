// A verification that could not fail would prove nothing: each kind of fault, made on purpose, is found.

import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import { byHttp } from "../../src/simulate/by-http.ts";
import { caller } from "../../src/simulate/call.ts";
import { seededFleet } from "../../src/simulate/fleet.ts";
import type { Entry, Ledger } from "../../src/simulate/ledger.ts";
import { provision } from "../../src/simulate/provision.ts";
import { verify } from "../../src/simulate/verify.ts";
import { putReadings } from "../support/records.ts";
import { startService } from "../support/service.ts";
import { simulated } from "./run.ts";

/** A simulation that went well, and a look at it that tells counts of missing, different and strange ones. */
async function wentWell(t: TestContext) {
  const service = await startService(t);
  const manager = caller(service.url, await service.key({ role: "manage" }));
  const fleet = seededFleet("verify", 3, ["own", "dragino", "elsys"]);
  await provision(fleet, manager, () => {});
  const { ledger } = await simulated({ fleet, way: byHttp(manager), count: 120, rate: 1000 });
  const look = async (book: Ledger = ledger) => {
    const { missing, different, strange, faults } = await verify(book, fleet, manager, () => {});
    return { counts: [missing, different, strange], faults };
  };
  assert.deepEqual(await look(), { counts: [0, 0, 0], faults: [] });
  return { service, fleet, ledger, look };
}

/** The readings of the first device. */
function entriesOf(ledger: Ledger): readonly Entry[] {
  const [first] = ledger.byDevice(3);
  assert.ok(first !== undefined && first.entries.length > 30);
  return first.entries;
}

test("a reading that was never measured is found, between others and beside them", async (t) => {
  const { service, fleet, ledger, look } = await wentWell(t);
  const [first, second] = entriesOf(ledger);
  assert.ok(first !== undefined && second !== undefined && second.at > first.at + 1);
  await putReadings(service.store, fleet.device(0).tankId, [[first.at + 1, 50]]);
  const { counts, faults } = await look();
  assert.deepEqual(counts, [0, 0, 1]);
  assert.match(faults[0] ?? "", /: 50 is there, which was never measured$/);
});

test("a fill that became another one is found", async (t) => {
  const { service, fleet, ledger, look } = await wentWell(t);
  const entry = entriesOf(ledger).at(-1);
  assert.ok(entry !== undefined);
  await putReadings(service.store, fleet.device(0).tankId, [[entry.at, entry.fill + 0.05]]);
  assert.deepEqual((await look()).counts, [0, 1, 0]);
});

test("a reading that was acknowledged and is not there is found; one that was not may be there or not", async (t) => {
  const { ledger, look } = await wentWell(t);
  const last = entriesOf(ledger).at(-1);
  assert.ok(last !== undefined);
  ledger.note(120, 0, last.at + 1, 50);
  assert.deepEqual((await look()).counts, [0, 0, 0]);
  ledger.outcome(120, { status: "waiting" });
  assert.deepEqual((await look()).counts, [0, 0, 0]);
  ledger.outcome(120, { status: "acknowledged" });
  const { counts, faults } = await look();
  assert.deepEqual(counts, [1, 0, 0]);
  assert.match(faults[0] ?? "", /: 50 was acknowledged and is not there$/);
});

test("a tank that is gone is missing with all its readings", async (t) => {
  const { service, fleet, ledger, look } = await wentWell(t);
  await service.store.importTanks([{ remove: fleet.device(0).tankId }]);
  assert.deepEqual((await look()).counts, [entriesOf(ledger).length, 0, 0]);
});
