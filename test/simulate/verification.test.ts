// Each kind of difference is caused on purpose, and must be found.

import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import { seededFleet } from "../../src/simulate/fleet.ts";
import { httpClient, httpTransport } from "../../src/simulate/http.ts";
import { provision } from "../../src/simulate/provision.ts";
import { verify } from "../../src/simulate/results.ts";
import { putReadings } from "../support/records.ts";
import { startService } from "../support/service.ts";
import { runSimulation } from "./support.ts";

/** A simulation without errors, its readings of the first device, and a function that counts differences. */
async function finished(t: TestContext) {
  const service = await startService(t);
  const manager = httpClient(service.url, await service.key({ role: "manage" }));
  const fleet = seededFleet("verify", 3, ["own", "dragino", "elsys"]);
  await provision(fleet, manager, () => {});
  const { log } = await runSimulation({ fleet, transport: httpTransport(manager), count: 120, rate: 1000 });
  const compare = async () => {
    const { missing, different, strange, faults } = await verify(log, fleet, manager, () => {});
    return { counts: [missing, different, strange], fault: faults[0] ?? "" };
  };
  assert.deepEqual(await compare(), { counts: [0, 0, 0], fault: "" });
  const [{ entries } = { entries: [] }] = log.byDevice(3);
  const [first, second, last] = [entries[0], entries[1], entries.at(-1)];
  assert.ok(entries.length > 30 && first !== undefined && second !== undefined && last !== undefined);
  const put = (at: number, fill: number) => putReadings(service.store, fleet.device(0).tankId, [[at, fill]]);
  return { service, fleet, log, compare, entries, first, second, last, put };
}

test("a stored reading that was never measured is found", async (t) => {
  const { compare, first, second, put } = await finished(t);
  assert.ok(second.at > first.at + 1);
  await put(first.at + 1, 50);
  const { counts, fault } = await compare();
  assert.deepEqual(counts, [0, 0, 1]);
  assert.match(fault, /: 50 is stored but was never measured$/);
});

test("a changed fill is found", async (t) => {
  const { compare, last, put } = await finished(t);
  await put(last.at, last.fill + 0.05);
  assert.deepEqual((await compare()).counts, [0, 1, 0]);
});

test("an acknowledged reading that is not stored is found; an unacknowledged one may be absent", async (t) => {
  const { log, compare, last } = await finished(t);
  log.add(120, 0, last.at + 1, 50);
  assert.deepEqual((await compare()).counts, [0, 0, 0]);
  log.markStored(120);
  const { counts, fault } = await compare();
  assert.deepEqual(counts, [1, 0, 0]);
  assert.match(fault, /: 50 was acknowledged but is not stored$/);
});

test("all readings of a removed tank are missing", async (t) => {
  const { service, fleet, entries, compare } = await finished(t);
  await service.store.importTanks([{ remove: fleet.device(0).tankId }]);
  assert.deepEqual((await compare()).counts, [entries.length, 0, 0]);
});
