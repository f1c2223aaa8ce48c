import assert from "node:assert/strict";
import test from "node:test";
import { createFleet } from "../../src/demo/fleet.ts";
import { catchUp, history, TankModel } from "../../src/demo/tank-model.ts";
import type { Reading, ReadingBatch } from "../../src/domain/reading.ts";
import type { Tank } from "../../src/domain/tank.ts";

const NOW = Date.parse("2026-11-14T09:30:00Z");
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;
const INTERVAL = 4 * HOUR;
const READINGS_PER_YEAR = 2190;

type TankHistory = { readonly tank: Tank; readonly batch: ReadingBatch };

const tanks = createFleet("demo", NOW).tanks.map(({ tank }) => tank);
const started = performance.now();
const batches = [...history(tanks, "demo", NOW)];
const elapsed = performance.now() - started;
const histories: TankHistory[] = batches.map((batch, i) => ({ tank: tanks[i] as Tank, batch }));
const fullYears = histories.filter(({ tank }) => tank.created_at < NOW - YEAR);
const [first = histories[0]] = histories;
assert.ok(first !== undefined);

test("a batch of readings per tank, in order, identical for the same seed", () => {
  for (const { tank, batch } of histories) {
    assert.deepEqual(batch.tankIds, [tank.id]);
    assert.deepEqual([batch.createdAt.length, batch.tank.length], [batch.fill.length, batch.fill.length], tank.id);
    assert.ok(!batch.tank.some((index) => index !== 0), tank.id);
  }
  const some = tanks.slice(0, 20);
  assert.deepEqual([...history(some, "demo", NOW)], batches.slice(0, 20));
  assert.notDeepEqual([...history(some, "another", NOW)], batches.slice(0, 20));
});

test("a year of readings is generated quickly", (t) => {
  t.diagnostic(`${batches.reduce((sum, { fill }) => sum + fill.length, 0)} readings in ${Math.round(elapsed)} ms`);
  assert.ok(elapsed < 5000, `${elapsed} ms`);
});

test("a year has 2,190 readings less some dropouts", () => {
  const counts = fullYears.map(({ batch }) => batch.fill.length);
  assert.ok(Math.max(...counts) <= READINGS_PER_YEAR);
  assert.ok(Math.min(...counts) > READINGS_PER_YEAR * 0.85, `${Math.min(...counts)}`);
  const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  assert.ok(mean > READINGS_PER_YEAR * 0.96 && mean < READINGS_PER_YEAR * 0.995, `${mean}`);
});

test("readings come every four hours at the tank's own minute, none before the tank or after now", () => {
  for (const { tank, batch } of histories) {
    const { createdAt } = batch;
    for (let i = 1; i < createdAt.length; i++) {
      const pause = (createdAt[i] ?? 0) - (createdAt[i - 1] ?? 0);
      assert.ok(pause > 0 && pause <= 6 * DAY && pause % INTERVAL === 0, `${tank.id} was silent for ${pause / DAY} days`);
    }
    assert.ok((createdAt[0] ?? 0) > Math.max(tank.created_at, NOW - YEAR), tank.id);
    assert.ok((createdAt.at(-1) ?? NOW + 1) <= NOW, tank.id);
    assert.ok(createdAt.every(Number.isInteger), tank.id);
  }
  const offsets = new Set(histories.map(({ batch }) => (batch.createdAt[0] ?? 0) % INTERVAL));
  assert.ok(offsets.size > 480, `${offsets.size} different minutes`);
});

test("fills are from 0 to 100 with one or two decimals", () => {
  const hasDecimals = (batch: ReadingBatch, factor: number) =>
    batch.fill.every((fill) => Math.round(fill * factor) / factor === fill);
  for (const { tank, batch } of histories) {
    assert.ok(
      batch.fill.every((fill) => fill >= 0 && fill <= 100),
      tank.id,
    );
    assert.ok(hasDecimals(batch, 100), tank.id);
  }
  const coarse = histories.filter(({ batch }) => hasDecimals(batch, 10)).length;
  assert.ok(coarse > 150 && coarse < 450, `${coarse} with one decimal`);
});

test("every tank is refilled to 80 to 90 percent, after it fell below its threshold", () => {
  for (const { tank, batch } of fullYears) {
    const refills = [...batch.fill.keys()].filter((i) => change(batch, i) > 30);
    assert.ok(refills.length >= 1 && refills.length <= 20, `${tank.id} ${refills.length} refills`);
    for (const i of refills) {
      // A delivery may fall into a dropout: then some of it is used before the next reading.
      const silence = ((batch.createdAt[i] ?? 0) - (batch.createdAt[i - 1] ?? 0)) / DAY;
      const [before, after] = [batch.fill[i - 1] ?? 100, batch.fill[i] ?? 0];
      assert.ok(after <= 91.5 && after > 78 - 6 * silence, `${tank.id} filled to ${after}`);
      assert.ok(before < tank.min_fill_alert_percentage + 1 + 6 * silence, `${tank.id} filled from ${before}`);
    }
  }
});

test("homes use far more in winter than in summer, industry about the same", () => {
  const ratio = (useCase: string) => used(useCase, [11, 0, 1]) / used(useCase, [5, 6, 7]);
  assert.ok(ratio("residential") > 2.5, `${ratio("residential")}`);
  assert.ok(ratio("commercial") > 1.5 && ratio("commercial") < ratio("residential"), `${ratio("commercial")}`);
  assert.ok(ratio("industrial") > 0.9 && ratio("industrial") < 1.4, `${ratio("industrial")}`);
});

test("in winter a fill lasts about three to ten weeks", () => {
  for (const { tank, batch } of fullYears) {
    const days = 80 / (usedIn(batch, [11, 0, 1]) / 90);
    assert.ok(days > 18 && days < 110, `${tank.id} ${days} days`);
  }
});

test("some tanks are below their threshold at the end, but not most", () => {
  const low = histories.filter(({ tank, batch }) => (batch.fill.at(-1) ?? 100) < tank.min_fill_alert_percentage).length;
  assert.ok(low >= 15 && low <= 125, `${low} are low`);
});

test("catching up continues from the last reading up to now", () => {
  const later = NOW + 20 * DAY;
  let refilled = 0;
  for (const { tank, batch } of histories.slice(0, 100)) {
    const last = lastReading(batch);
    const more = catchUp(tank, "demo", last, later);
    assert.deepEqual(catchUp(tank, "demo", last, later), more);
    for (const at of more.createdAt) {
      assert.ok(at > last.created_at && at <= later && (at - last.created_at) % INTERVAL === 0, tank.id);
    }
    assert.ok((more.createdAt.at(-1) ?? 0) > later - 6 * DAY, tank.id);
    const silence = ((more.createdAt[0] ?? 0) - last.created_at) / DAY;
    const step = (more.fill[0] ?? 0) - last.fill_percentage;
    if (step > 30) refilled++;
    else assert.ok(Math.abs(step) < 1.5 + 6 * silence, `${tank.id} jumped by ${step}`);
  }
  assert.ok(refilled < 10, `${refilled} of 100 refilled at once`);
});

test("catching up is limited to a year, and adds nothing if nothing is due", () => {
  const readingsSince = (created_at: number) => catchUp(first.tank, "demo", { created_at, fill_percentage: 50 }, NOW).fill.length;
  const count = readingsSince(NOW - 5 * YEAR);
  assert.ok(count <= READINGS_PER_YEAR && count > READINGS_PER_YEAR * 0.85, `${count}`);
  assert.deepEqual([readingsSince(NOW), readingsSince(NOW + DAY)], [0, 0]);
});

test("the use does not depend on how often the model is read", () => {
  const [fine, coarse] = [modelOf(first.tank, 80), modelOf(first.tank, 80)];
  const end = NOW + DAY;
  for (let at = NOW + 60_000; at < end; at += 60_000) fine.readingAt(at);
  const [one, other] = [fine.readingAt(end)?.fill_percentage ?? 100, coarse.readingAt(end)?.fill_percentage ?? 0];
  assert.ok(Math.abs(one - other) < 1.2 && one < 80, `${one} ${other}`);
});

test("there is no reading if time stands still or goes back", () => {
  const model = modelOf(first.tank, 50);
  const read = [0, 60_000, 60_000, 30_000].map((after) => model.readingAt(NOW + after) !== undefined);
  assert.deepEqual(read, [false, true, false, false]);
});

test("tanks are refilled during a long time without readings", () => {
  const fills = tanks.flatMap((tank) => modelOf(tank, 50).readingAt(NOW + 100 * DAY)?.fill_percentage ?? []);
  assert.ok(fills.length > tanks.length * 0.9, `${fills.length}`);
  assert.ok(fills.filter((fill) => fill > 5 && fill <= 100).length > fills.length * 0.9);
});

function modelOf(tank: Tank, fill: number): TankModel {
  return new TankModel(tank, "demo", { at: NOW, fill });
}

function lastReading(batch: ReadingBatch): Reading {
  return { created_at: batch.createdAt.at(-1) ?? 0, fill_percentage: batch.fill.at(-1) ?? 0 };
}

function change(batch: ReadingBatch, i: number): number {
  return i === 0 ? 0 : (batch.fill[i] ?? 0) - (batch.fill[i - 1] ?? 0);
}

function used(useCase: string, months: readonly number[]): number {
  const chosen = fullYears.filter(({ tank }) => tank.use_case === useCase);
  assert.ok(chosen.length > 20);
  return chosen.reduce((sum, { batch }) => sum + usedIn(batch, months), 0);
}

/** The sum of all changes except refills in these months; the sensor's noise cancels out. */
function usedIn(batch: ReadingBatch, months: readonly number[]): number {
  let sum = 0;
  for (let i = 1; i < batch.fill.length; i++) {
    if (change(batch, i) < 30 && months.includes(new Date(batch.createdAt[i] ?? 0).getUTCMonth())) sum -= change(batch, i);
  }
  return sum;
}
