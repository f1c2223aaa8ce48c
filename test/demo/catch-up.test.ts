import assert from "node:assert/strict";
import test from "node:test";
import { makeFleet } from "../../src/demo/fleet.ts";
import { catchUp, history, lastReading } from "../../src/demo/history.ts";
import type { Tank } from "../../src/domain/tank.ts";

const NOW = Date.parse("2026-11-14T09:30:00Z");
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;
const SLOTS = 2190;

const tanks = makeFleet("demo", NOW)
  .tanks.slice(0, 100)
  .map(({ tank }) => tank);
const batches = [...history(tanks, "demo", NOW)];

test("catching up goes on from the last reading, on the tank's own minute, up to now", () => {
  const later = NOW + 20 * DAY;
  let refilled = 0;
  for (const [i, batch] of batches.entries()) {
    const [tank, last] = [tankAt(i), lastReading(batch)];
    assert.ok(last !== undefined);
    const more = catchUp(tank, "demo", last, later);
    assert.deepEqual(catchUp(tank, "demo", last, later), more);
    assert.ok(
      more.createdAt.every((at) => at > last.created_at && at <= later),
      tank.id,
    );
    assert.ok(
      more.createdAt.every((at) => (at - last.created_at) % (4 * HOUR) === 0),
      tank.id,
    );
    assert.ok(more.createdAt.length > 0 && (more.createdAt.at(-1) ?? 0) > later - 6 * DAY, tank.id);
    const silence = ((more.createdAt[0] ?? 0) - last.created_at) / DAY;
    const step = (more.fill[0] ?? 0) - last.fill_percentage;
    if (step > 30) refilled++;
    else assert.ok(Math.abs(step) < 1.5 + 6 * silence, `${tank.id} jumped by ${step}`);
  }
  assert.ok(refilled < 10, `${refilled} of 100 refilled at once`);
});

test("catching up is bounded to a year, and gives nothing where nothing is due", () => {
  const tank = tankAt(0);
  const year = catchUp(tank, "demo", { created_at: NOW - 5 * YEAR, fill_percentage: 50 }, NOW);
  assert.ok(year.fill.length <= SLOTS && year.fill.length > SLOTS * 0.85);
  assert.equal(catchUp(tank, "demo", { created_at: NOW, fill_percentage: 50 }, NOW).fill.length, 0);
  assert.equal(catchUp(tank, "demo", { created_at: NOW + DAY, fill_percentage: 50 }, NOW).fill.length, 0);
  assert.equal(lastReading(catchUp(tank, "demo", { created_at: NOW, fill_percentage: 50 }, NOW)), undefined);
});

function tankAt(i: number): Tank {
  const tank = tanks[i];
  assert.ok(tank !== undefined);
  return tank;
}
