// Simulated devices that send to a real service over HTTP.

import assert from "node:assert/strict";
import { renameSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import test from "node:test";
import { UNRESTRICTED } from "../../src/domain/key.ts";
import { seededFleet } from "../../src/simulate/fleet.ts";
import { httpClient, httpTransport } from "../../src/simulate/http.ts";
import { canManage, canRead, provision } from "../../src/simulate/provision.ts";
import { verify } from "../../src/simulate/results.ts";
import { MAKERS, sensorOf } from "../../src/simulate/sensors.ts";
import { putReadings } from "../support/records.ts";
import { startService } from "../support/service.ts";
import { runSimulation, sendTo, verified } from "./support.ts";

const fleet = seededFleet("delivery", 10, MAKERS);
const transportTo = (url: string, key = "key") => httpTransport(httpClient(url, key));
const UNREACHABLE = "http://127.0.0.1:1";

test("provisioning registers customers, tanks and devices; repeating it changes nothing", async (t) => {
  const service = await startService(t);
  const send = httpClient(service.url, await service.key({ role: "manage" }));
  const fleet = seededFleet("provision", 12, MAKERS);
  const progress: number[] = [];
  await provision(fleet, send, (done) => progress.push(done));
  assert.deepEqual(progress, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  const list = async (path: string) => (await send({ path: `${path}?size=100` })).body["data"] as Record<string, unknown>[];
  const [customers, tanks] = [await list("/manage/v1/customers"), await list("/manage/v1/tanks")];
  assert.deepEqual([customers.length, tanks.length], [3, 12]);
  for (let i = 0; i < fleet.size; i++) {
    const { id, tankId, maker, shape } = fleet.device(i);
    const tank = tanks.find((known) => known["id"] === tankId);
    assert.deepEqual([tank?.["assigned_device_id"], tank?.["owner_id"], tank?.["shape"]], [id, fleet.owner(i), shape]);
    const device = (await send({ path: `/manage/v1/devices/${id}` })).body;
    assert.deepEqual([device["tank_id"], device["profile"]], [tankId, sensorOf(maker)?.profile ?? null]);
  }
  await provision(fleet, send, () => {});
  assert.deepEqual([await list("/manage/v1/customers"), await list("/manage/v1/tanks")], [customers, tanks]);
});

test("the role of a key is found by trying it", async (t) => {
  const service = await startService(t);
  const allowed = async (role: "read" | "ingest" | "manage") => {
    const send = httpClient(service.url, await service.key({ role }));
    return [await canRead(send), await canManage(send)];
  };
  assert.deepEqual(await allowed("read"), [true, false]);
  assert.deepEqual(await allowed("ingest"), [false, false]);
  assert.deepEqual(await allowed("manage"), [true, true]);
  await assert.rejects(canRead(httpClient(service.url, "nonsense")), { message: /401/ });
});

test("backlogs, duplicates and shuffled readings of every maker are stored as they were measured", async (t) => {
  const service = await startService(t);
  for (const maker of MAKERS) {
    const { verification, ...summary } = await sendTo(service, { makers: [maker], seed: maker, tanks: 4, count: 400 });
    const { sent, duplicate } = summary;
    const none = { resent: 0, replaced: 0, waiting: 0, rejected: 0, undelivered: 0, reasons: [] };
    assert.deepEqual(summary, { measured: 400, sent, acknowledged: sent, stored: 400, duplicate, ...none });
    assert.ok(duplicate > 0 && sent === 400 + duplicate, `${maker}: ${duplicate} duplicates of ${sent}`);
    assert.deepEqual(verification, verified(400, 4), maker);
  }
});

test("a second simulation with the same seed uses the same tanks, and is verified on its own", async (t) => {
  const service = await startService(t);
  await sendTo(service, { count: 200 });
  const { verification, stored } = await sendTo(service, { count: 300 });
  assert.equal(stored, 300);
  assert.deepEqual(verification, verified(300, 10));
});

test("readings of unregistered devices are pending, and stored once the devices are registered", async (t) => {
  const service = await startService(t);
  const { verification, ...summary } = await sendTo(service, { registered: false, count: 200 });
  assert.deepEqual([summary.waiting, summary.acknowledged, summary.rejected], [summary.sent, summary.sent, 0]);
  assert.deepEqual(verification, verified(0, 10));
  assert.equal((await sendTo(service, { count: 1 })).waiting, 0);
  const query = { from: undefined, to: undefined, page: 1, size: 100 };
  const { data } = await service.store.tankPage(query, UNRESTRICTED);
  const pages = await Promise.all(data.map(({ id }) => service.store.telemetryPage(id, query, UNRESTRICTED)));
  assert.equal(pages.flatMap((page) => (typeof page === "object" ? page.data : [])).length, 201);
});

test("nothing is lost while the database is unavailable", async (t) => {
  const service = await startService(t);
  const elsewhere = `${service.databaseFile}.elsewhere`;
  const { verification, ...summary } = await sendTo(service, {
    count: 1200,
    rate: 500,
    onMeasured(number) {
      if (number === 400) renameSync(service.databaseFile, elsewhere);
    },
    onResent: restoreOnce(elsewhere, service.databaseFile),
  });
  assert.ok(service.events.some(({ kind }) => kind === "store_unavailable"));
  assert.deepEqual([summary.rejected, summary.undelivered, summary.replaced, summary.waiting], [0, 0, 0, 0]);
  assert.equal(summary.stored + summary.duplicate, summary.sent);
  assert.deepEqual(verification, verified(1200, 10));
});

function restoreOnce(from: string, to: string): () => void {
  let isRestored = false;
  return () => {
    if (!isRestored) renameSync(from, to);
    isRestored = true;
  };
}

test("an invalid key, or one of another role, ends the simulation with an error", async (t) => {
  const service = await startService(t);
  const wrong = [
    [await service.key({ role: "read" }), /403/],
    ["nonsense", /401/],
  ] as const;
  for (const [key, message] of wrong) {
    await assert.rejects(runSimulation({ fleet, transport: transportTo(service.url, key), count: 1000, rate: 200 }), { message });
  }
});

test("an unexpected response ends the simulation with an error", async (t) => {
  const server = createServer((_request, response) => response.end('{"fine":true}'));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const transport = transportTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await assert.rejects(runSimulation({ fleet, transport, count: 50 }), { message: /the service responded with 200/ });
});

test("an unreachable service is retried, and what is given up is counted", async () => {
  const transport = transportTo(UNREACHABLE);
  const abort = AbortSignal.timeout(700);
  const { summary } = await runSimulation({ fleet, transport, count: 200, rate: 2000, abort });
  assert.deepEqual([summary.measured, summary.acknowledged], [200, 0]);
  assert.ok(summary.undelivered >= 200, `${summary.undelivered}`);
  assert.ok(summary.resent > 0);
});

test("devices stop measuring while the queue is full", async () => {
  const fleet = seededFleet("x", 1000, ["dragino"]);
  const abort = AbortSignal.timeout(1000);
  const { summary } = await runSimulation({ fleet, transport: transportTo(UNREACHABLE), count: 1e9, rate: 1e6, abort });
  assert.ok(summary.measured > 4000 && summary.measured < 7000, `${summary.measured}`);
});

test("rejected readings are counted, with the first reasons", async (t) => {
  const service = await startService(t);
  // More than the ten minutes that a device's clock may be ahead.
  const summary = await sendTo(service, { count: 60, clock: () => Date.now() + 3_600_000 });
  assert.equal(summary.rejected, summary.sent);
  assert.equal(summary.verification.readings, 0);
  assert.match(summary.reasons[0] ?? "", /10 minutes in the future/);
  assert.ok(summary.reasons.length <= 5);
});

test("each difference between what was measured and what is stored is found", async (t) => {
  const service = await startService(t);
  const manager = httpClient(service.url, await service.key({ role: "manage" }));
  const fleet = seededFleet("verify", 3, ["own", "dragino", "elsys"]);
  await provision(fleet, manager, () => {});
  const { log } = await runSimulation({ fleet, transport: httpTransport(manager), count: 120, rate: 1000 });
  const expectDifferences = async (missing: number, different: number, strange: number, message = /^/) => {
    const { faults, ...counts } = await verify(log, fleet, manager, () => {});
    assert.deepEqual([counts.missing, counts.different, counts.strange], [missing, different, strange]);
    assert.match(faults[0] ?? "", message);
  };
  await expectDifferences(0, 0, 0);
  const entries = log.byDevice().get(0) ?? [];
  const [first, second, last] = [entries[0], entries[1], entries.at(-1)];
  assert.ok(entries.length > 30 && first !== undefined && second !== undefined && last !== undefined);
  const { tankId } = fleet.device(0);

  log.add(0, last.at + 1, 50);
  await expectDifferences(0, 0, 0);
  log.markStored(120);
  await expectDifferences(1, 0, 0, /: 50 was acknowledged but is not stored$/);

  await putReadings(service.store, tankId, [[last.at, last.fill + 0.05]]);
  await expectDifferences(1, 1, 0);

  assert.ok(second.at > first.at + 1);
  await putReadings(service.store, tankId, [[first.at + 1, 50]]);
  await expectDifferences(1, 1, 1, /: 50 is stored but was never measured$/);

  await service.store.importTanks([{ remove: tankId }]);
  await expectDifferences(entries.length + 1, 0, 0);
});
