// Which tanks a database has, and how many readings each.

import type { Scale } from "../scale.ts";
import type { TankPlan } from "./readings.ts";

export type Plan = { readonly name: string; readonly tanks: readonly TankPlan[] };

export function fleet(tanks: number, readings: number): Plan {
  const plans = Array.from({ length: tanks }, (_, i) => ({ id: `tank_fleet${String(i).padStart(4, "0")}`, readings, seed: i }));
  return { name: `fleet_${tanks}x${readings}`, tanks: plans };
}

export const scaleFleet = ({ tanks, readingsPerTank }: Scale): Plan => fleet(tanks, readingsPerTank);

/** One tank per size, each with ten times the readings of the one before. */
export function longTanks(sizes: readonly number[]): Plan {
  return { name: `ladder_${sizes.at(-1)}`, tanks: sizes.map((readings) => longTank(readings)) };
}

export function longTank(readings: number): TankPlan {
  return { id: `tank_rung${readings}`, readings, seed: 7000 + Math.round(Math.log10(readings)) };
}

/** The data of peers: the fleet and the long tanks up to their limit, in one table. */
export function peerPlan(scale: Scale): Plan {
  const sizes = scale.longTankSizes.filter((readings) => readings <= scale.maxPeerTankSize);
  const tanks = [...scaleFleet(scale).tanks, ...longTanks(sizes).tanks];
  return { name: `peer_${scale.tanks}x${scale.readingsPerTank}_${scale.maxPeerTankSize}`, tanks };
}

export function totalReadings(plan: Plan): number {
  return plan.tanks.reduce((sum, tank) => sum + tank.readings, 0);
}

/** A fixed order in which neighbours are far apart. */
export function scatterOrder<T>(items: readonly T[]): T[] {
  return items.map((_, i) => items[(i * 7919) % items.length] as T);
}
