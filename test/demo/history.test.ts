import assert from "node:assert/strict";
import test from "node:test";
import { makeFleet } from "../../src/demo/fleet.ts";
import { history } from "../../src/demo/history.ts";
import type { ReadingBatch } from "../../src/domain/reading.ts";

const NOW = Date.parse("2026-11-14T09:30:00Z");
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;
const SLOTS = 2190;

const tanks = makeFleet("demo", NOW).tanks.map(({ tank }) => tank);
const started = performance.now();
const batches = [...history(tanks, "demo", NOW)];
const elapsed = performance.now() - started;
const pasts = tanks.map((tank, i) => ({ tank, batch: batchAt(i) }));
const settled = pasts.filter(({ tank }) => tank.created_at < NOW - YEAR);

test("a batch for each tank, in their order, the same from the same seed", () => {
  assert.deepEqual(
    batches.map(({ tankIds }) => tankIds),
    tanks.map(({ id }) => [id]),
  );
  const some = tanks.slice(0, 20);
  assert.deepEqual([...history(some, "demo", NOW)], batches.slice(0, 20));
  assert.notDeepEqual([...history(some, "another", NOW)], batches.slice(0, 20));
});

test("a year of readings comes quickly", (t) => {
  t.diagnostic(`${batches.reduce((sum, { fill }) => sum + fill.length, 0)} readings in ${Math.round(elapsed)} ms`);
  assert.ok(elapsed < 5000, `${elapsed} ms`);
});

test("columns are of one length and belong to the one tank", () => {
  for (const { tank, batch } of pasts) {
    assert.equal(batch.createdAt.length, batch.fill.length, tank.id);
    assert.equal(batch.tank.length, batch.fill.length, tank.id);
    assert.ok(
      batch.tank.every((index) => index === 0),
      tank.id,
    );
  }
});

test("a settled tank has 2,190 readings less its dropouts, which all tanks have now and then", () => {
  const counts = settled.map(({ batch }) => batch.fill.length);
  assert.ok(Math.max(...counts) <= SLOTS);
  assert.ok(Math.min(...counts) > SLOTS * 0.85, `${Math.min(...counts)}`);
  const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  assert.ok(mean > SLOTS * 0.96 && mean < SLOTS * 0.995, `${mean}`);
});

test("readings come every four hours, each tank at its own minute, none before the tank or after now", () => {
  for (const { tank, batch } of pasts) {
    const { createdAt } = batch;
    for (let i = 1; i < createdAt.length; i++) {
      const gap = (createdAt[i] ?? 0) - (createdAt[i - 1] ?? 0);
      assert.ok(gap > 0 && gap % (4 * HOUR) === 0, `${tank.id} ${gap}`);
      assert.ok(gap <= 6 * DAY, `${tank.id} was silent for ${gap / DAY} days`);
    }
    assert.ok((createdAt[0] ?? 0) > Math.max(tank.created_at, NOW - YEAR), tank.id);
    assert.ok((createdAt.at(-1) ?? NOW + 1) <= NOW, tank.id);
    assert.ok(createdAt.every(Number.isInteger), tank.id);
  }
  const phases = new Set(pasts.map(({ batch }) => (batch.createdAt[0] ?? 0) % (4 * HOUR)));
  assert.ok(phases.size > 480, `${phases.size} phases`);
});

test("fills are from 0 to 100 with one or two decimals", () => {
  for (const { tank, batch } of pasts) {
    assert.ok(
      batch.fill.every((fill) => fill >= 0 && fill <= 100 && Math.round(fill * 100) / 100 === fill),
      tank.id,
    );
  }
  const coarse = pasts.filter(({ batch }) => batch.fill.every((fill) => Math.round(fill * 10) / 10 === fill)).length;
  assert.ok(coarse > 150 && coarse < 450, `${coarse} with one decimal`);
});

test("every tank is refilled, to 80 or 90 percent, and only after it fell under its threshold", () => {
  for (const { tank, batch } of settled) {
    const refills = [...batch.fill.keys()].filter((i) => rise(batch, i) > 30);
    assert.ok(refills.length >= 1 && refills.length <= 20, `${tank.id} ${refills.length} refills`);
    for (const i of refills) {
      // The truck may come during a dropout, after which hours of burning are gone from the fill.
      const silence = ((batch.createdAt[i] ?? 0) - (batch.createdAt[i - 1] ?? 0)) / DAY;
      assert.ok((batch.fill[i] ?? 0) <= 91.5 && (batch.fill[i] ?? 0) > 78 - 6 * silence, `${tank.id} filled to ${batch.fill[i]}`);
      assert.ok(
        (batch.fill[i - 1] ?? 100) < tank.min_fill_alert_percentage + 1 + 6 * silence,
        `${tank.id} from ${batch.fill[i - 1]}`,
      );
    }
  }
});

test("houses burn far more in winter than in summer, industry about the same", () => {
  const ratio = (useCase: string) => burned(useCase, [11, 0, 1]) / burned(useCase, [5, 6, 7]);
  assert.ok(ratio("residential") > 2.5, `${ratio("residential")}`);
  assert.ok(ratio("commercial") > 1.5 && ratio("commercial") < ratio("residential"), `${ratio("commercial")}`);
  assert.ok(ratio("industrial") > 0.9 && ratio("industrial") < 1.4, `${ratio("industrial")}`);
});

test("in winter a fill lasts about three to ten weeks", () => {
  for (const { tank, batch } of settled) {
    const days = 80 / (burnedBy(batch, [11, 0, 1]) / 90);
    assert.ok(days > 18 && days < 110, `${tank.id} ${days} days`);
  }
});

test("some tanks are under their threshold at the end, and not most", () => {
  const low = pasts.filter(({ tank, batch }) => (batch.fill.at(-1) ?? 100) < tank.min_fill_alert_percentage).length;
  assert.ok(low >= 15 && low <= 125, `${low} are low`);
});

function batchAt(i: number): ReadingBatch {
  const batch = batches[i];
  assert.ok(batch !== undefined);
  return batch;
}

function rise(batch: ReadingBatch, i: number): number {
  return i === 0 ? 0 : (batch.fill[i] ?? 0) - (batch.fill[i - 1] ?? 0);
}

function burned(useCase: string, months: readonly number[]): number {
  const chosen = settled.filter(({ tank }) => tank.use_case === useCase);
  assert.ok(chosen.length > 20);
  return chosen.reduce((sum, { batch }) => sum + burnedBy(batch, months), 0);
}

/** All that the level fell in these months, refills left out; the noise of the sensor cancels out. */
function burnedBy(batch: ReadingBatch, months: readonly number[]): number {
  let sum = 0;
  for (let i = 1; i < batch.fill.length; i++) {
    const change = rise(batch, i);
    if (change < 30 && months.includes(new Date(batch.createdAt[i] ?? 0).getUTCMonth())) sum -= change;
  }
  return sum;
}
