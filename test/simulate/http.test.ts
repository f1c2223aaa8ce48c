// Simulated devices that send to a real service over HTTP.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import test, { after } from "node:test";
import { seededFleet } from "../../src/simulate/fleet.ts";
import { httpClient, httpTransport } from "../../src/simulate/http.ts";
import { registerFleet } from "../../src/simulate/register.ts";
import { verify } from "../../src/simulate/results.ts";
import { MAKERS, sensorOf } from "../../src/simulate/sensors.ts";
import { putReadings } from "../support/records.ts";
import { startService } from "../support/service.ts";
import { runSimulation, sendTo, verified } from "./support.ts";

const fleet = seededFleet("delivery", 10, MAKERS);
const transportTo = (url: string) => httpTransport(httpClient(url, "key"));
const UNREACHABLE = "http://127.0.0.1:1";
const service = await startService({ after });

test("provisioning registers customers, tanks and devices; repeating it changes nothing", async () => {
  const send = httpClient(service.url, await service.key({ role: "manage" }));
  const fleet = seededFleet("provision", 12, MAKERS);
  const progress: number[] = [];
  await registerFleet(fleet, send, (done) => progress.push(done));
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
  await registerFleet(fleet, send, () => {});
  assert.deepEqual([await list("/manage/v1/customers"), await list("/manage/v1/tanks")], [customers, tanks]);
});

test("backlogs, duplicates and shuffled readings of every maker are stored as measured, and verified run by run", async () => {
  for (const count of [280, 140]) {
    const { verification, ...summary } = await sendTo(service, { tanks: 14, count });
    const { sent, duplicate } = summary;
    const none = { resent: 0, replaced: 0, pending: 0, rejected: 0, undelivered: 0, reasons: [] };
    assert.deepEqual(summary, { measured: count, sent, acknowledged: sent, stored: count, duplicate, ...none });
    assert.ok(duplicate > 0 && sent === count + duplicate, `${duplicate} duplicates of ${sent}`);
    assert.deepEqual(verification, verified(count, 14));
  }
});

test("a request is sent again after 429 and 5xx; any other unexpected response ends the simulation", async (t) => {
  const responses: [status: number, body: string][] = [
    [503, "{}"],
    [429, "{}"],
    [200, '{"results":[{"status":"stored"}]}'],
    [200, '{"fine":true}'],
    [403, '{"detail":"wrong role"}'],
  ];
  const server = createServer((_request, response) => {
    const [status, body] = responses.shift() ?? [500, ""];
    response.writeHead(status, { "retry-after": "0" }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const transport = transportTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const own = seededFleet("x", 1, ["generic"]);
  const { summary } = await runSimulation({ fleet: own, transport, count: 1 });
  assert.deepEqual([summary.stored, summary.resent], [1, 2]);
  for (const message of [/responded with 200: no details given/, /responded with 403: wrong role/]) {
    await assert.rejects(runSimulation({ fleet: own, transport, count: 1 }), { message });
  }
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
  const abort = AbortSignal.timeout(500);
  const { summary } = await runSimulation({ fleet, transport: transportTo(UNREACHABLE), count: 1e9, rate: 1e6, abort });
  assert.ok(summary.measured > 4000 && summary.measured < 7000, `${summary.measured}`);
});

test("rejected readings are counted, with the first reasons", async () => {
  // More than the ten minutes that a device's clock may be ahead.
  const summary = await sendTo(service, { seed: "future", count: 60, clock: () => Date.now() + 3_600_000 });
  assert.equal(summary.rejected, summary.sent);
  assert.equal(summary.verification.readings, 0);
  assert.match(summary.reasons[0] ?? "", /10 minutes in the future/);
  assert.ok(summary.reasons.length <= 5);
});

test("each difference between what was measured and what is stored is found", async () => {
  const manager = httpClient(service.url, await service.key({ role: "manage" }));
  const fleet = seededFleet("verify", 3, ["generic", "dragino", "elsys"]);
  await registerFleet(fleet, manager, () => {});
  const { tally } = await runSimulation({ fleet, transport: httpTransport(manager), count: 120, rate: 1000 });
  const expectDifferences = async (missing: number, different: number, unexpected: number, message = /^/) => {
    const { differences, ...counts } = await verify(tally, fleet, manager, () => {});
    assert.deepEqual([counts.missing, counts.different, counts.unexpected], [missing, different, unexpected]);
    assert.match(differences[0] ?? "", message);
  };
  await expectDifferences(0, 0, 0);
  const entries = tally.byDevice().get(0) ?? [];
  const [first, second, last] = [entries[0], entries[1], entries.at(-1)];
  assert.ok(entries.length > 30 && first !== undefined && second !== undefined && last !== undefined);
  const { tankId } = fleet.device(0);

  tally.measured(120, 0, last.at + 1, 50);
  await expectDifferences(0, 0, 0);
  tally.result(120, { status: "stored" });
  await expectDifferences(1, 0, 0, /: 50 was acknowledged but is not stored$/);

  await putReadings(service.store, tankId, [[last.at, last.fill + 0.05]]);
  await expectDifferences(1, 1, 0);

  assert.ok(second.at > first.at + 1);
  await putReadings(service.store, tankId, [[first.at + 1, 50]]);
  await expectDifferences(1, 1, 1, /: 50 is stored but was never measured$/);

  await service.store.importTanks([{ remove: tankId }]);
  await expectDifferences(entries.length + 1, 0, 0);
});
