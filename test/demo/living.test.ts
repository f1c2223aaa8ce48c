import assert from "node:assert/strict";
import test from "node:test";
import { makeFleet } from "../../src/demo/fleet.ts";
import { history, lastReading } from "../../src/demo/history.ts";
import { TankLife } from "../../src/demo/life.ts";
import { LivingFleet } from "../../src/demo/living.ts";

const NOW = Date.parse("2026-11-14T09:30:00Z");
const HOUR = 3_600_000;
const tanks = makeFleet("demo", NOW).tanks.flatMap(({ tank, deleted }) => (deleted ? [] : [tank]));
const known = [...history(tanks, "demo", NOW)].flatMap((batch, i) => {
  const [tank, last] = [tanks[i], lastReading(batch)];
  return tank === undefined || last === undefined ? [] : [{ tank, last }];
});

function watch(fleet: LivingFleet, seconds: number) {
  const readings: { id: string; at: number; fill: number }[] = [];
  for (let i = 1; i <= seconds; i++) {
    const batch = fleet.nextReadings(NOW + i * 1000);
    if (batch === undefined) continue;
    assert.equal(new Set(batch.tank).size, batch.fill.length);
    batch.tank.forEach((index, j) => {
      readings.push({ id: batch.tankIds[index] ?? "?", at: batch.createdAt[j] ?? 0, fill: batch.fill[j] ?? -1 });
    });
  }
  return readings;
}

test("about five tanks report each second, and each about every hundred seconds", () => {
  const readings = watch(new LivingFleet(known, "demo"), 300);
  assert.ok(readings.length > 300 * 4 && readings.length <= 300 * 5, `${readings.length}`);
  const turns = Map.groupBy(readings, ({ id }) => id);
  assert.ok(turns.size > known.length * 0.93, `${turns.size} of ${known.length} were heard`);
  for (const [id, { length }] of turns) assert.ok(length <= 4, `${id} ${length} times`);
  assert.deepEqual(readings, watch(new LivingFleet(known, "demo"), 300));
});

test("a level hardly moves within minutes, and goes on from the last reading", () => {
  const readings = Map.groupBy(watch(new LivingFleet(known, "demo"), 300), ({ id }) => id);
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

test("seconds burn as much as hours do", () => {
  const [first] = known;
  assert.ok(first !== undefined);
  const start = { at: NOW, fill: 80 };
  const [fine, coarse] = [new TankLife(first.tank, "demo", start), new TankLife(first.tank, "demo", start)];
  const end = NOW + 24 * HOUR;
  for (let at = NOW + 60_000; at < end; at += 60_000) fine.readingAt(at);
  const [one, other] = [fine.readingAt(end), coarse.readingAt(end)];
  assert.ok(one !== undefined && other !== undefined);
  assert.ok(Math.abs(one.fill_percentage - other.fill_percentage) < 1.2, `${one.fill_percentage} ${other.fill_percentage}`);
  assert.ok(one.fill_percentage < 80);
});

test("time that stands still or runs back gives no reading", () => {
  const [first] = known;
  assert.ok(first !== undefined);
  const life = new TankLife(first.tank, "demo", { at: NOW, fill: 50 });
  assert.equal(life.readingAt(NOW), undefined);
  assert.notEqual(life.readingAt(NOW + 60_000), undefined);
  assert.equal(life.readingAt(NOW + 60_000), undefined);
  assert.equal(life.readingAt(NOW + 30_000), undefined);
  const fleet = new LivingFleet(known, "demo");
  assert.notEqual(fleet.nextReadings(NOW + 1000), undefined);
  assert.equal(fleet.nextReadings(NOW + 500), undefined);
  assert.equal(new LivingFleet([], "demo").nextReadings(NOW), undefined);
});

test("after a long sleep each tank reports at most once, and trucks have come meanwhile", () => {
  const fleet = new LivingFleet(known, "demo");
  fleet.nextReadings(NOW);
  const batch = fleet.nextReadings(NOW + 100 * 24 * HOUR);
  assert.ok(batch !== undefined);
  assert.equal(new Set(batch.tankIds).size, batch.fill.length);
  assert.ok(batch.fill.length > known.length * 0.9 && batch.fill.length <= known.length);
  assert.ok(batch.fill.every((fill) => fill >= 0 && fill <= 100));
  assert.ok(batch.fill.filter((fill) => fill > 5).length > batch.fill.length * 0.9);
});
