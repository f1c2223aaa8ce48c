// The devices of the demo, and a service with a prepared demo.

import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { createFleet } from "../../src/demo/fleet.ts";
import { demoFleet, deviceOf, prepareDemo, type TankWithReading, tanksWithReadings } from "../../src/demo/prepare.ts";
import { history } from "../../src/demo/tank-model.ts";
import { UNRESTRICTED } from "../../src/domain/key.ts";
import { httpClient, httpTransport } from "../../src/simulate/http.ts";
import { verify } from "../../src/simulate/results.ts";
import { Scenario } from "../../src/simulate/scenario.ts";
import { MAKERS } from "../../src/simulate/sensors.ts";
import { runSimulation } from "../simulate/support.ts";
import { customerRecord } from "../support/records.ts";
import { startService } from "../support/service.ts";

const NOW = Date.parse("2026-11-14T09:30:00Z");
const HOUR = 3_600_000;
const liveTanks = () => createFleet("demo", NOW).tanks.flatMap(({ tank, deleted }) => (deleted ? [] : [tank]));
const tanks = liveTanks();
const known: TankWithReading[] = [...history(tanks, "demo", NOW)].flatMap(({ createdAt, fill }, i) => {
  const [tank, created_at, fill_percentage] = [tanks[i], createdAt.at(-1), fill.at(-1)];
  if (tank === undefined || created_at === undefined || fill_percentage === undefined) return [];
  return [{ tank, last: { created_at, fill_percentage } }];
});

function play(reports: number) {
  const readings: { id: string; at: number; fill: number }[] = [];
  const fleet = demoFleet(known, "demo");
  const scenario = new Scenario(fleet, "demo", {
    measured: (_, device, at, fill) => readings.push({ id: fleet.device(device).tankId, at, fill }),
  });
  for (let i = 1; i <= reports; i++) scenario.next(NOW + i * 200);
  return readings;
}

test("devices are of all makers, and the same whenever the demo is started", () => {
  const devices = tanks.map((tank) => deviceOf(tank, "demo"));
  const makers = Map.groupBy(devices, ({ maker }) => maker);
  for (const maker of MAKERS) assert.ok((makers.get(maker)?.length ?? 0) > 10, `${makers.get(maker)?.length} of ${maker}`);
  assert.deepEqual(
    liveTanks().map((tank) => deviceOf(tank, "demo")),
    devices,
  );
});

test("every tank reports in turn, except a few that are silent", () => {
  const readings = play(1500);
  const byTank = Map.groupBy(readings, ({ id }) => id);
  assert.ok(byTank.size > known.length * 0.93 && byTank.size <= known.length, `${byTank.size} of ${known.length} reported`);
  for (const [id, { length }] of byTank) assert.ok(length <= 4, `${id} ${length} times`);
  assert.deepEqual(readings, play(1500));
});

test("fills change little within minutes, and continue from the last reading", () => {
  const readings = Map.groupBy(play(1500), ({ id }) => id);
  let refilled = 0;
  for (const { tank, last } of known) {
    const fills = (readings.get(tank.id) ?? []).map(({ fill }) => fill);
    if (NOW - last.created_at > 5 * HOUR || fills.length === 0) continue;
    const steps = [last.fill_percentage, ...fills].map((fill, i, all) => fill - (all[i - 1] ?? fill));
    if (steps.some((step) => step > 30)) refilled++;
    else assert.ok(Math.max(...steps.map(Math.abs)) < 2.5, `${tank.id} ${steps}`);
  }
  assert.ok(refilled < known.length * 0.03, `${refilled} refilled in five minutes`);
});

test("a database with other data is left alone", async (t) => {
  const { store } = await startService(t);
  await store.importCustomers([customerRecord("cus_real")]);
  await assert.rejects(
    prepareDemo(store, "demo", NOW, () => {}),
    { message: /not from a demo/ },
  );
});

suite("a service with a prepared demo", async () => {
  const service = await startService({ after });
  const preparedAt = Date.now();
  before(() => prepareDemo(service.store, "demo", preparedAt, () => {}));

  test("preparing it again changes neither devices nor tanks", async () => {
    const query = { from: undefined, to: undefined, page: 1, size: 100 };
    const look = async () => [
      await service.store.deviceSearch({ page: 1, size: 100, waiting: undefined }),
      await service.store.tankPage(query, UNRESTRICTED),
    ];
    const found = await look();
    await prepareDemo(service.store, "demo", preparedAt, () => {});
    assert.deepEqual(await look(), found);
  });

  test("everything that its devices send is stored as it was measured", async () => {
    const fleet = demoFleet(await tanksWithReadings(service.store), "demo");
    const transport = httpTransport(httpClient(service.url, await service.key({ role: "ingest" })));
    const { summary, log } = await runSimulation({ fleet, transport, count: 500, rate: 1000 });
    assert.deepEqual([summary.stored, summary.rejected, summary.waiting, summary.replaced], [500, 0, 0, 0], `${summary.reasons}`);
    const found = await verify(log, fleet, httpClient(service.url, await service.key()), () => {});
    assert.deepEqual([found.readings, found.faults], [500, []]);
  });
});
