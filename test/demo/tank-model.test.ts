import assert from "node:assert/strict";
import test from "node:test";
import { createFleet } from "../../src/demo/fleet.ts";
import { readingsSince } from "../../src/demo/tank-model.ts";
import type { ReadingBatch } from "../../src/domain/reading.ts";

const NOW = Date.parse("2026-11-14T09:30:00Z");
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;
const INTERVAL = 4 * HOUR;
const READINGS_PER_YEAR = 2190;

const tanks = createFleet("demo", NOW).tanks.map(({ tank }) => tank);
const started = performance.now();
const histories = tanks.map((tank) => ({ tank, batch: readingsSince(tank.created_at, tank, "demo", NOW) }));
const elapsed = performance.now() - started;
const fullYears = histories.filter(({ tank }) => tank.created_at < NOW - YEAR);
const [{ tank: first, batch: firstBatch } = assert.fail()] = histories;

test("the readings of a tank are one batch, generated quickly, and identical for the same seed", () => {
  assert.ok(elapsed < 5000, `${elapsed} ms`);
  for (const { tank, batch } of histories) {
    assert.deepEqual(batch.tankIds, [tank.id]);
    assert.deepEqual([batch.createdAt.length, batch.tank.length], [batch.fill.length, batch.fill.length], tank.id);
  }
  assert.deepEqual(readingsSince(first.created_at, first, "demo", NOW), firstBatch);
  assert.notDeepEqual(readingsSince(first.created_at, first, "another", NOW), firstBatch);
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
      assert.ok(pause > 0 && pause <= 11 * DAY && pause % INTERVAL === 0, `${tank.id} was silent for ${pause / DAY} days`);
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
    batch.fill.every((fill) => fill >= 0 && fill <= 100 && Math.round(fill * factor) / factor === fill);
  for (const { tank, batch } of histories) assert.ok(hasDecimals(batch, 100), tank.id);
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

test("some tanks are below their threshold at the end, but not most", () => {
  const low = histories.filter(({ tank, batch }) => (batch.fill.at(-1) ?? 100) < tank.min_fill_alert_percentage).length;
  assert.ok(low >= 15 && low <= 125, `${low} are low`);
});

test("a demo that is started again adds the readings it would have had", () => {
  for (const { tank, batch } of histories.slice(0, 100)) {
    const middle = batch.createdAt.length >> 1;
    const more = readingsSince(batch.createdAt[middle - 1] ?? 0, tank, "demo", NOW);
    assert.deepEqual(more.createdAt, batch.createdAt.subarray(middle), tank.id);
    const isSimilar = more.fill.every((fill, i) => Math.abs(fill - (batch.fill[middle + i] ?? 0)) < 3);
    assert.ok(isSimilar, tank.id);
  }
});

test("no more than a year is added, and nothing if nothing is due", () => {
  const count = readingsSince(NOW - 5 * YEAR, first, "demo", NOW).fill.length;
  assert.ok(count <= READINGS_PER_YEAR && count > READINGS_PER_YEAR * 0.85, `${count}`);
  for (const after of [NOW, NOW + DAY]) assert.equal(readingsSince(after, first, "demo", NOW).fill.length, 0);
});

function change(batch: ReadingBatch, i: number): number {
  return i === 0 ? 0 : (batch.fill[i] ?? 0) - (batch.fill[i - 1] ?? 0);
}

function used(useCase: string, months: readonly number[]): number {
  const chosen = fullYears.slice(0, 200).filter(({ tank }) => tank.use_case === useCase);
  assert.ok(chosen.length > 15);
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
