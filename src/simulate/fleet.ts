// A fleet made from a seed: customers, their tanks, and a device of some maker at each. Nothing of it is kept; it is worked
// out again whenever it is asked for.

import type { Instant } from "../domain/instant.ts";
import type { Device, Fleet } from "./device.ts";
import { HOUR } from "./durations.ts";
import { type Maker, sensorOf } from "./makers.ts";
import { type Seed, seeded } from "./random.ts";
import { shapeFor } from "./vessel.ts";

const TANKS_OF_A_CUSTOMER = 5;
const CAPACITIES = [1200, 1775, 2700, 4850, 6400, 9100, 20_000];
const NOISE = 0.05;
/** The truck's share of the time from one refill to the next. */
const REFILLING = 0.05;

/** What somebody who registers them has to know beside the devices. */
export type SeededFleet = Fleet & {
  readonly customers: number;
  readonly customer: (number: number) => { readonly id: string; readonly name: string; readonly email: string };
  readonly owner: (tank: number) => string;
  readonly capacity: (tank: number) => number;
};

export function seededFleet(seed: Seed, size: number, makers: readonly Maker[]): SeededFleet {
  // Fleets of different seeds may live in one service.
  const tag = seeded(`${seed}/fleet`).whole(0, 0xffffffff).toString(16).padStart(8, "0");
  const noise = seeded(`${seed}/noise`);
  const capacity = (tank: number): number => seeded(`${seed}/${tank}/capacity`).pick(CAPACITIES);
  const customerId = (number: number): string => `cus_sim_${tag}_${number + 1}`;

  return {
    size,
    customers: Math.ceil(size / TANKS_OF_A_CUSTOMER),
    customer: (number) => ({
      id: customerId(number),
      name: `Simulated customer ${number + 1}`,
      email: `customer-${number + 1}@sim-${tag}.example`,
    }),
    owner: (tank) => customerId(Math.floor(tank / TANKS_OF_A_CUSTOMER)),
    capacity,
    device(number): Device {
      const random = seeded(`${seed}/${number}/device`);
      const maker = random.pick(makers);
      const litres = capacity(number);
      return {
        id: deviceId(maker, tag, number),
        tankId: `tank_sim_${tag}_${number + 1}`,
        maker,
        shape: shapeFor(litres, random),
      };
    },
    fillAt(number, at) {
      return Math.min(100, Math.max(0, noise.normal(levelAt(seed, number, at), NOISE)));
    },
  };
}

/** An EUI-64 holds the number too, so that no two are alike. */
function deviceId(maker: Maker, tag: string, number: number): string {
  const prefix = sensorOf(maker)?.prefix ?? "";
  if (prefix === "") return `${maker === "own" ? "sim" : maker}-${tag}-${number + 1}`;
  return prefix + tag.slice(0, 5) + number.toString(16).padStart(5, "0");
}

/**
 * A fill lasts hours here, not weeks, so that whoever watches sees it move. It depends on nothing but the time, so that the
 * next simulation goes on where this one ends.
 */
function levelAt(seed: Seed, number: number, at: Instant): number {
  const random = seeded(`${seed}/${number}/level`);
  const [cycle, start, top, bottom] = [
    random.between(2, 12) * HOUR,
    random.next(),
    random.between(80, 90),
    random.between(8, 25),
  ];
  const part = (at / cycle + start) % 1;
  const burned = part < 1 - REFILLING ? part / (1 - REFILLING) : (1 - part) / REFILLING;
  return top - (top - bottom) * burned;
}
