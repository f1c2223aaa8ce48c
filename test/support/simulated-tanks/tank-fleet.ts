// A simulated fleet of which the truth is known: tanks of all uses and fluids, in towns of both hemispheres, with good and bad sensors.

import type { Instant } from "../../../src/domain/instant.ts";
import { type Seed, seeded } from "../../../src/simulate/random.ts";
import { type TankHistory, tankHistory } from "./tank-history.ts";
import type { Use } from "./tank-use.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Positions in these lists are drawn at random; what is common is listed more than once. */
const COMMON_USES: readonly Use[] = [
  "heating",
  "heating",
  "heating",
  "heating_and_water",
  "heating_and_water",
  "heating_and_water",
  "commercial",
];
const OTHER_USES: readonly Use[] = ["process", "process", "process", "idle", "generator", "site", "dosing", "dosing"];
const LATITUDES = [36, 40, 43, 45, 47, 48, 50, 51, 53, 55, 58, 62, -34, -38, -41, -44] as const;
const INTERVALS: Readonly<Record<Use, readonly number[]>> = {
  heating: [15 * MINUTE, HOUR, 4 * HOUR, 4 * HOUR, 6 * HOUR, DAY, DAY, 7 * DAY],
  heating_and_water: [15 * MINUTE, HOUR, 4 * HOUR, 4 * HOUR, 6 * HOUR, DAY, DAY, 7 * DAY],
  commercial: [15 * MINUTE, HOUR, 4 * HOUR, 6 * HOUR, DAY],
  process: [15 * MINUTE, HOUR, 4 * HOUR, DAY],
  idle: [HOUR, 4 * HOUR, DAY, 7 * DAY],
  generator: [HOUR, 4 * HOUR, DAY],
  site: [4 * HOUR, DAY],
  dosing: [DAY, 3.5 * DAY, 7 * DAY],
};

export type FleetOptions = {
  readonly seed: Seed;
  readonly tanks: number;
  readonly start: Instant;
  readonly days: number;
  /** Each tank starts to leak `perDay` percentage points a day at a random time after this day. */
  readonly leak?: { readonly afterDay: number; readonly perDay: number };
};

/** One tank after the other, because the readings of a large fleet would not fit into memory. */
export function* simulatedFleet({ seed, tanks, start, days, leak }: FleetOptions): Generator<TankHistory> {
  for (let i = 0; i < tanks; i++) {
    const random = seeded(`${seed}/${i}`);
    const use = random.pick(random.chance(0.7) ? COMMON_USES : OTHER_USES);
    const town = random.whole(0, LATITUDES.length - 1);
    yield tankHistory({
      seed: `${seed}/${i}`,
      town: `${seed}/town ${town}`,
      use,
      latitude: LATITUDES[town] ?? 48,
      start,
      days,
      interval: random.pick(INTERVALS[use]),
      isLpg: (use === "heating" || use === "heating_and_water" || use === "commercial") && random.chance(0.4),
      leak: leak && { from: start + Math.floor(random.between(leak.afterDay, days - 10) * DAY), perDay: leak.perDay },
    });
  }
}
