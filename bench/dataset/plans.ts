// Which tanks there are, with how many readings each.

import type { Scale } from "../scale.ts";
import type { TankPlan } from "./readings.ts";

export type Plan = { readonly name: string; readonly tanks: readonly TankPlan[] };

/** So many tanks with so many readings each. */
export function fleet(tanks: number, readings: number): Plan {
  const plans = Array.from({ length: tanks }, (_, i) => ({ id: `tank_fleet${String(i).padStart(4, "0")}`, readings, seed: i }));
  return { name: `fleet_${tanks}x${readings}`, tanks: plans };
}

export const scaleFleet = ({ tanks, readingsATank }: Scale): Plan => fleet(tanks, readingsATank);

/** One tank a rung, each with ten times the readings of the one before. */
export function ladder(rungs: readonly number[]): Plan {
  return { name: `ladder_${rungs.at(-1)}`, tanks: rungs.map((readings) => rung(readings)) };
}

export function rung(readings: number): TankPlan {
  return { id: `tank_rung${readings}`, readings, seed: 7000 + Math.round(Math.log10(readings)) };
}

/** What peers are filled with: the fleet and their part of the ladder, in one table. */
export function peerPlan(scale: Scale): Plan {
  const rungs = scale.rungs.filter((readings) => readings <= scale.peerRungMost);
  const tanks = [...scaleFleet(scale).tanks, ...ladder(rungs).tanks];
  return { name: `peer_${scale.tanks}x${scale.readingsATank}_${scale.peerRungMost}`, tanks };
}

export function totalReadings(plan: Plan): number {
  return plan.tanks.reduce((sum, tank) => sum + tank.readings, 0);
}

/** Every tank of a plan, in an order that jumps about. */
export function jumbled<T>(items: readonly T[]): T[] {
  return items.map((_, i) => items[(i * 7919) % items.length] as T);
}
