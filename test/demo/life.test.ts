import assert from "node:assert/strict";
import test from "node:test";
import { makeFleet } from "../../src/demo/fleet.ts";
import { TankLife } from "../../src/demo/life.ts";

const NOW = Date.parse("2026-11-14T09:30:00Z");
const HOUR = 3_600_000;
const tanks = makeFleet("demo", NOW).tanks.map(({ tank }) => tank);
const [first] = tanks;
assert.ok(first !== undefined);

test("seconds burn as much as hours do", () => {
  const start = { at: NOW, fill: 80 };
  const [fine, coarse] = [new TankLife(first, "demo", start), new TankLife(first, "demo", start)];
  const end = NOW + 24 * HOUR;
  for (let at = NOW + 60_000; at < end; at += 60_000) fine.readingAt(at);
  const [one, other] = [fine.readingAt(end), coarse.readingAt(end)];
  assert.ok(one !== undefined && other !== undefined);
  assert.ok(Math.abs(one.fill_percentage - other.fill_percentage) < 1.2, `${one.fill_percentage} ${other.fill_percentage}`);
  assert.ok(one.fill_percentage < 80);
});

test("time that stands still or runs back gives no reading", () => {
  const life = new TankLife(first, "demo", { at: NOW, fill: 50 });
  assert.equal(life.readingAt(NOW), undefined);
  assert.notEqual(life.readingAt(NOW + 60_000), undefined);
  assert.equal(life.readingAt(NOW + 60_000), undefined);
  assert.equal(life.readingAt(NOW + 30_000), undefined);
});

test("after a long sleep trucks have come meanwhile", () => {
  const readings = tanks.flatMap(
    (tank) => new TankLife(tank, "demo", { at: NOW, fill: 50 }).readingAt(NOW + 100 * 24 * HOUR) ?? [],
  );
  assert.ok(readings.length > tanks.length * 0.9 && readings.length <= tanks.length);
  assert.ok(readings.every(({ fill_percentage: fill }) => fill >= 0 && fill <= 100));
  assert.ok(readings.filter(({ fill_percentage: fill }) => fill > 5).length > readings.length * 0.9);
});
