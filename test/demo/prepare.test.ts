// The devices of the demo, and a service with a prepared demo.

import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { createFleet } from "../../src/demo/fleet.ts";
import { BUSY_TANKS, demoFleet, deviceOf, prepareDemo, tanksWithReadings } from "../../src/demo/prepare.ts";
import { UNRESTRICTED } from "../../src/domain/key.ts";
import { httpClient, httpTransport } from "../../src/simulate/http.ts";
import { verify } from "../../src/simulate/results.ts";
import { Scenario } from "../../src/simulate/scenario.ts";
import { MAKERS } from "../../src/simulate/sensors.ts";
import { jsonClient } from "../http/client.ts";
import { runSimulation } from "../simulate/support.ts";
import { startService } from "../support/service.ts";

const NOW = Date.parse("2026-11-14T09:30:00Z");
const liveTanks = () => createFleet("demo", NOW).tanks.flatMap(({ tank, deleted }) => (deleted ? [] : [tank]));
const tanks = liveTanks();

function play(reports: number) {
  const readings: { id: string; at: number; fill: number }[] = [];
  const fleet = demoFleet(tanks, "demo");
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
  assert.ok(byTank.size > tanks.length * 0.93 && byTank.size < tanks.length, `${byTank.size} of ${tanks.length} reported`);
  for (const [id, { length }] of byTank) assert.ok(length <= 4, `${id} ${length} times`);
  assert.deepEqual(readings, play(1500));
});

test("fills change little within minutes, except of a few tanks that are emptied and filled", () => {
  const busy = new Set(tanks.slice(0, BUSY_TANKS).map(({ id }) => id));
  for (const [id, readings] of Map.groupBy(play(1500), (reading) => reading.id)) {
    if (busy.has(id)) continue;
    const steps = readings.map(({ fill }, i) => fill - (readings[i - 1]?.fill ?? fill));
    assert.ok(
      steps.every((step) => Math.abs(step) < 2.5 || step > 30),
      `${id} ${steps}`,
    );
  }
});

test("a few tanks become low and recover within minutes", () => {
  const fleet = demoFleet(tanks, "demo");
  for (const [number, { min_fill_alert_percentage: threshold }] of tanks.slice(0, BUSY_TANKS).entries()) {
    const fills = Array.from({ length: 60 }, (_, i) => fleet.fillAt(number, NOW + i * 10_000) ?? threshold);
    assert.ok(Math.min(...fills) < threshold, `${fills}`);
    assert.ok(Math.max(...fills) > threshold + 3, `${fills}`);
  }
});

suite("a service with a prepared demo", async () => {
  const service = await startService({ after });
  const preparedAt = Date.now();
  let created = 0;
  const prepare = () => prepareDemo(service.store, "demo", preparedAt, { onCreate: () => created++, onProgress: () => {} });
  before(prepare);

  test("its customers are not real, and get no mail", async () => {
    assert.equal((await service.store.notificationCounts(["low"])).isMailWanted, false);
    const { body } = await jsonClient(service, await service.key({ role: "manage" }))("GET", "/manage/v1/customers?size=100");
    const settings = (body["data"] as { notifications: { unsubscribed_at: unknown } }[]).map(
      ({ notifications }) => notifications,
    );
    assert.ok(settings.length > 90 && settings.every(({ unsubscribed_at }) => unsubscribed_at !== null));
  });

  const page = { from: undefined, to: undefined, page: 1, size: 100 };
  const alertsIn = (state: "open" | "acknowledged") =>
    service.store.alertPage({ ...page, state, kind: undefined, tank_id: undefined, owner_id: undefined }, UNRESTRICTED);

  test("there is something to do: open and acknowledged alerts, and devices without a tank", async () => {
    const { data: devices } = await service.store.deviceSearch({ page: 1, size: 100, pending: true });
    assert.deepEqual(
      devices.map(({ device, pending }) => [device.tank_id, pending]),
      [
        [null, 1],
        [null, 1],
      ],
    );
    assert.ok((await alertsIn("open")).totalItems > 10);
    const { data: acknowledged } = await alertsIn("acknowledged");
    assert.equal(acknowledged.length, 3);
    assert.ok(acknowledged.every(({ note }) => note !== null));
  });

  test("preparing it again changes neither devices, tanks nor acknowledged alerts", async () => {
    const look = async () => [
      await service.store.deviceSearch({ page: 1, size: 100, pending: undefined }),
      await service.store.tankPage(page, UNRESTRICTED),
      await alertsIn("acknowledged"),
    ];
    const found = await look();
    await prepare();
    assert.deepEqual(await look(), found);
    assert.equal(created, 1, "the fleet is created once");
  });

  test("everything that its devices send is stored as it was measured", async () => {
    const known = await tanksWithReadings(service.store);
    const fleet = demoFleet(
      known.slice(0, 50).map(({ tank }) => tank),
      "demo",
    );
    const transport = httpTransport(httpClient(service.url, await service.key({ role: "ingest" })));
    const { summary, tally } = await runSimulation({ fleet, transport, count: 200, rate: 1000 });
    assert.deepEqual([summary.stored, summary.rejected, summary.pending, summary.replaced], [200, 0, 0, 0], `${summary.reasons}`);
    const found = await verify(tally, fleet, httpClient(service.url, await service.key()), () => {});
    assert.deepEqual([found.readings, found.differences], [200, []]);
  });
});
