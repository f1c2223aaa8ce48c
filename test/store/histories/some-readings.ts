// Readings as they may reach a fleet: in order, late, long before everything, sent again, corrected, imported in any order.

import type { Random } from "../../../src/simulate/random.ts";
import type { NaiveStore } from "../conformance/model.ts";
import { NEW_YEAR } from "../conformance/objects.ts";
import type { SentReading, Write } from "./write.ts";

const FIRST = Date.parse("0000-01-01T00:00:00.000Z");
const LAST = Date.parse("9999-12-31T23:59:59.999Z");

/** The tanks with long telemetry. The first alone gets readings at the ends of time: after them nothing can be appended. */
export const TELLING = ["edge", "big", "t1", "t2", "t3"];
/** Its readings, one a write, show which writes are there; it is never deleted. */
export const WITNESS = "witness";
export const within = (at: number): number => Math.min(LAST, Math.max(FIRST, at));

type Kind = (random: Random, model: NaiveStore, tankId: string, most: number) => SentReading[];

const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const fill = (random: Random): number => (random.chance(0.9) ? random.whole(0, 10_000) / 100 : random.between(0, 100));

/** The instant of some reading of the tank, or of where its first will be. */
function some(random: Random, model: NaiveStore, tankId: string): number {
  const readings = model.readings(tankId);
  return readings.length === 0 ? NEW_YEAR : random.pick(readings).created_at;
}

function append(random: Random, model: NaiveStore, tankId: string, count: number): SentReading[] {
  let at = model.readings(tankId)[0]?.created_at ?? NEW_YEAR;
  const step = random.pick([1, 60_000, 86_400_000]);
  return times(count, () => {
    at += random.whole(1, step);
    return [tankId, within(at), fill(random)];
  });
}

const KINDS: readonly (readonly [weight: number, Kind])[] = [
  [5, (random, model, tankId) => append(random, model, tankId, random.whole(1, 3))],
  [3, (random, model, tankId, most) => append(random, model, tankId, random.whole(10, Math.min(400, most)))],
  [
    5, // Late: on, beside or far from one that is there.
    (random, model, tankId) =>
      times(random.whole(1, 5), () => {
        const beside = random.pick([-1, 1, 2, random.whole(-1e6, 1e6)]);
        return [tankId, within(some(random, model, tankId) + beside), fill(random)];
      }),
  ],
  [
    2, // Before everything.
    (random, model, tankId, most) => {
      const oldest = model.readings(tankId).at(-1)?.created_at ?? NEW_YEAR;
      return times(random.whole(1, Math.min(300, most)), () => [tankId, within(oldest - random.whole(1, 1e9)), fill(random)]);
    },
  ],
  [
    4, // Sent again, a few of them corrected.
    (random, model, tankId) => {
      const readings = model.readings(tankId);
      const from = random.whole(0, readings.length);
      const again = readings.slice(from, from + random.whole(1, 200));
      const sent = again.map(({ created_at, fill_percentage }): SentReading => {
        return [tankId, created_at, random.chance(0.1) ? fill(random) : fill_percentage];
      });
      return random.chance(0.3) ? [...sent, ...sent.toReversed()] : sent;
    },
  ],
  [
    3, // A stretch crowded into one place, so that blocks are cut again and again.
    (random, model, tankId, most) => {
      const at = some(random, model, tankId);
      return times(random.whole(50, Math.min(600, most)), () => [tankId, within(at + random.whole(-2000, 2000)), fill(random)]);
    },
  ],
  [2, (random, model, tankId, most) => imported(random, model, [tankId, random.pick(TELLING), "nobody"], random.whole(1, most))],
  [1, (random) => [["edge", random.pick([FIRST, FIRST + 1, LAST - 1, LAST, -1, 0, 1]), fill(random)]]],
];

/** Readings of several tanks over a span around what is there, in any order; one may come twice. */
export function imported(random: Random, model: NaiveStore, tankIds: readonly string[], count: number): SentReading[] {
  const [at, step] = [some(random, model, tankIds[0] as string), random.pick([1, 1000, 900_000])];
  const shift = random.pick([0, -count, -count / 2]);
  const readings = times(count, (i): SentReading => {
    return [random.pick(tankIds), within(at + Math.floor((shift + i) * step)), fill(random)];
  });
  return random.chance(0.7) ? shuffled(random, readings) : readings;
}

export function shuffled<T>(random: Random, list: readonly T[]): T[] {
  const copy = [...list];
  for (let i = copy.length - 1; i > 0; i--) {
    const j = random.whole(0, i);
    [copy[i], copy[j]] = [copy[j] as T, copy[i] as T];
  }
  return copy;
}

/** `most` bounds an import. */
export function someReadings(random: Random, model: NaiveStore, most: number): Write {
  const kind = weighted(random, KINDS);
  return { kind: "readings", readings: kind(random, model, random.pick(TELLING), most) };
}

export function weighted<T>(random: Random, list: readonly (readonly [weight: number, T])[]): T {
  let left = random.between(
    0,
    list.reduce((sum, [weight]) => sum + weight, 0),
  );
  for (const [weight, one] of list) {
    left -= weight;
    if (left < 0) return one;
  }
  throw new Error("nothing to choose from");
}
