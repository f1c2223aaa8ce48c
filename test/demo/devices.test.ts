// The devices of the demo, and the service they send to.

import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { demoFleet, deviceOf, type KnownTank } from "../../src/demo/devices.ts";
import { makeFleet } from "../../src/demo/fleet.ts";
import { history, lastReading } from "../../src/demo/history.ts";
import { knownTanks, prepareDemo } from "../../src/demo/prepare.ts";
import { UNRESTRICTED } from "../../src/domain/key.ts";
import { byHttp } from "../../src/simulate/by-http.ts";
import { caller } from "../../src/simulate/call.ts";
import { Course } from "../../src/simulate/course.ts";
import { verify } from "../../src/simulate/verify.ts";
import { simulated } from "../simulate/run.ts";
import { startService } from "../support/service.ts";

const NOW = Date.parse("2026-11-14T09:30:00Z");
const HOUR = 3_600_000;
const service = await startService({ after });
const prepared = Date.now();
const tanks = makeFleet("demo", NOW).tanks.flatMap(({ tank, deleted }) => (deleted ? [] : [tank]));
const known: KnownTank[] = [...history(tanks, "demo", NOW)].flatMap((batch, i) => {
  const [tank, last] = [tanks[i], lastReading(batch)];
  return tank === undefined || last === undefined ? [] : [{ tank, last }];
});

function watch(turns: number) {
  const readings: { id: string; at: number; fill: number }[] = [];
  const fleet = demoFleet(known, "demo");
  const course = new Course(fleet, "demo", {
    measured: (_, device, at, fill) => readings.push({ id: fleet.device(device).tankId, at, fill }),
  });
  for (let i = 1; i <= turns; i++) course.next(NOW + i * 200);
  return readings;
}

test("sensors of several makers, the same whenever the demo is started", () => {
  const makers = Map.groupBy(tanks, (tank) => deviceOf(tank, "demo").maker);
  for (const maker of ["own", "milesight", "milesight-tts", "dragino", "decentlab", "elsys", "mopeka"] as const) {
    assert.ok((makers.get(maker)?.length ?? 0) > 10, `${makers.get(maker)?.length} of ${maker}`);
  }
  assert.deepEqual(
    tanks.map((tank) => deviceOf(tank, "demo")),
    makeFleet("demo", NOW).tanks.flatMap(({ tank, deleted }) => (deleted ? [] : [deviceOf(tank, "demo")])),
  );
});

test("each tank has its turn, and a few of them are not heard", () => {
  const readings = watch(1500);
  const turns = Map.groupBy(readings, ({ id }) => id);
  assert.ok(turns.size > known.length * 0.93 && turns.size <= known.length, `${turns.size} of ${known.length} were heard`);
  for (const [id, { length }] of turns) assert.ok(length <= 4, `${id} ${length} times`);
  assert.deepEqual(readings, watch(1500));
});

test("a level hardly moves within minutes, and goes on from the last reading", () => {
  const readings = Map.groupBy(watch(1500), ({ id }) => id);
  let refilled = 0;
  for (const { tank, last } of known) {
    const fills = (readings.get(tank.id) ?? []).map(({ fill }) => fill);
    if (NOW - last.created_at > 5 * HOUR || fills.length === 0) continue;
    const steps = [last.fill_percentage, ...fills].map((fill, i, all) => fill - (all[i - 1] ?? fill));
    if (steps.some((step) => step > 30)) refilled++;
    else
      assert.ok(
        steps.every((step) => Math.abs(step) < 2.5),
        `${tank.id} ${steps}`,
      );
  }
  assert.ok(refilled < known.length * 0.03, `${refilled} refilled in five minutes`);
});

suite("a demo behind a service", () => {
  before(() => prepareDemo(service.store, "demo", prepared, () => {}));

  test("prepared again, it changes nothing of its devices and tanks", async () => {
    const question = { page: 1, size: 100, waiting: undefined };
    const whole = { from: undefined, to: undefined, page: 1, size: 100 };
    const look = async () => [await service.store.deviceSearch(question), await service.store.tankPage(whole, UNRESTRICTED)];
    const found = await look();
    await prepareDemo(service.store, "demo", prepared, () => {});
    assert.deepEqual(await look(), found);
  });

  test("it proves the path: all that its devices send over HTTP is stored as it was measured", async () => {
    const fleet = demoFleet(await knownTanks(service.store), "demo");
    const way = byHttp(caller(service.url, await service.key({ role: "ingest" })));
    const { summary, ledger } = await simulated({ fleet, way, count: 500, rate: 1000 });
    assert.deepEqual([summary.stored, summary.rejected, summary.waiting, summary.replaced], [500, 0, 0, 0], `${summary.reasons}`);
    const found = await verify(ledger, fleet, caller(service.url, await service.key()), () => {});
    assert.deepEqual([found.readings, found.faults], [500, []]);
  });
});
