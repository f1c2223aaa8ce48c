// The past of the demo fleet: a reading every four hours, one batch a tank.

import type { Instant } from "../domain/instant.ts";
import type { Reading, ReadingBatch } from "../domain/reading.ts";
import type { Tank } from "../domain/tank.ts";
import { YEAR } from "../simulate/durations.ts";
import { type Seed, seeded } from "../simulate/random.ts";
import { habitsOf, REPORT_INTERVAL } from "./habits.ts";
import { type Start, TankLife } from "./life.ts";

/** The last year of each tank; of a younger tank, its whole life. */
export function* history(tanks: Iterable<Tank>, seed: Seed, now: Instant): Generator<ReadingBatch, void, undefined> {
  for (const tank of tanks) {
    const fill = seeded(`${seed}/${tank.id}/first fill`).between(tank.min_fill_alert_percentage, 88);
    yield readingsSince({ at: Math.max(tank.created_at, now - YEAR), fill }, tank, seed, now);
  }
}

/** What the tank would have sent after its last reading while nobody listened; at most the last year of it. */
export function catchUp(tank: Tank, seed: Seed, last: Reading, now: Instant): ReadingBatch {
  const start = { at: Math.max(last.created_at, now - YEAR), fill: last.fill_percentage };
  return readingsSince(start, tank, seed, now);
}

/** Of the batch of one tank. */
export function lastReading(batch: ReadingBatch): Reading | undefined {
  const created_at = batch.createdAt.at(-1);
  const fill_percentage = batch.fill.at(-1);
  return created_at === undefined || fill_percentage === undefined ? undefined : { created_at, fill_percentage };
}

function readingsSince(start: Start, tank: Tank, seed: Seed, now: Instant): ReadingBatch {
  const life = new TankLife(tank, seed, start);
  const { phase } = habitsOf(tank, seed);
  const first = start.at - ((start.at - phase) % REPORT_INTERVAL) + REPORT_INTERVAL;
  const room = Math.max(0, Math.ceil((now - start.at) / REPORT_INTERVAL));
  const createdAt = new Float64Array(room);
  const fill = new Float64Array(room);
  let count = 0;
  for (let at = first; at <= now; at += REPORT_INTERVAL) {
    const reading = life.readingAt(at);
    if (reading === undefined) continue;
    createdAt[count] = reading.created_at;
    fill[count] = reading.fill_percentage;
    count++;
  }
  return {
    tankIds: [tank.id],
    tank: new Uint32Array(count),
    createdAt: createdAt.slice(0, count),
    fill: fill.slice(0, count),
  };
}
