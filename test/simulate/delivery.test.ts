// How readings are delivered, and what happens where they cannot be.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import test from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { byHttp } from "../../src/simulate/by-http.ts";
import { caller } from "../../src/simulate/call.ts";
import { seededFleet } from "../../src/simulate/fleet.ts";
import { MAKERS } from "../../src/simulate/makers.ts";
import { provision } from "../../src/simulate/provision.ts";
import { startService } from "../support/service.ts";
import { sentTo, simulated } from "./run.ts";

const fleet = () => seededFleet("delivery", 10, MAKERS);

test("a key that may not send ends the simulation, with the reason", async (t) => {
  const service = await startService(t);
  for (const [key, reason] of [
    [await service.key({ role: "read" }), /403/],
    ["nonsense", /401/],
  ] as const) {
    const way = byHttp(caller(service.url, key));
    await assert.rejects(simulated({ fleet: fleet(), way, count: 1000, rate: 200 }), { name: "Error", message: reason });
  }
});

test("whatever else answers there is not taken for the service", async (t) => {
  const server = createServer((_request, response) => response.end('{"fine":true}'));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const way = byHttp(caller(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, "key"));
  await assert.rejects(simulated({ fleet: fleet(), way, count: 50 }), { message: /the service answers 200/ });
});

test("a service that is not there: devices wait, and what is given up in the end is told", async () => {
  const way = byHttp(caller("http://127.0.0.1:1", "key"));
  const { summary } = await simulated({ fleet: fleet(), way, count: 200, rate: 2000, hurry: AbortSignal.timeout(700) });
  assert.deepEqual([summary.measured, summary.acknowledged], [200, 0]);
  assert.ok(summary.undelivered >= 200, `${summary.undelivered}`);
  assert.ok(summary.resent > 0);
});

test("while nothing can be sent, memory stays bounded: devices measure no more", async () => {
  const way = byHttp(caller("http://127.0.0.1:1", "key"));
  const hurry = AbortSignal.timeout(1000);
  const { summary } = await simulated({ fleet: seededFleet("x", 1000, ["dragino"]), way, count: 1e9, rate: 1e6, hurry });
  assert.ok(summary.measured > 4000 && summary.measured < 7000, `${summary.measured}`);
});

test("what the service rejects is counted, with the first reasons", async (t) => {
  const service = await startService(t);
  // Ten minutes and more ahead of the service's clock.
  const summary = await sentTo(service, { count: 60, clock: () => Date.now() + 3_600_000 });
  assert.equal(summary.rejected, summary.sent);
  assert.equal(summary.found.readings, 0);
  assert.match(summary.reasons[0] ?? "", /10 minutes in the future/);
  assert.ok(summary.reasons.length <= 5);
});

test("a service that stops and starts again on the same port loses nothing", async (t) => {
  const first = await startService(t);
  const port = new URL(first.url).port;
  const manage = await first.key({ role: "manage" });
  const ours = fleet();
  await provision(ours, caller(first.url, manage), () => {});
  let restarted: Promise<unknown> | undefined;
  const restart = async (): Promise<void> => {
    await first.stop();
    await pause(300);
    await startService(t, { environment: { DATABASE_URL: `sqlite:${first.databaseFile}`, PORT: port } });
  };
  const { summary } = await simulated({
    fleet: ours,
    way: byHttp(caller(first.url, manage)),
    count: 600,
    rate: 500,
    watch(number) {
      if (number === 200) restarted = restart();
    },
  });
  await restarted;
  assert.deepEqual([summary.rejected, summary.undelivered, summary.waiting], [0, 0, 0]);
  assert.ok(summary.resent > 0);
  assert.equal(summary.stored + summary.duplicate, summary.sent);
  assert.ok(summary.stored <= 600);
});
