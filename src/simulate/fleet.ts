// The fleet of a simulation, derived from a seed. Devices are computed on each access, so that a hundred thousand of them
// take no memory.
//
// Everything in `simulate` is a client of the service, over HTTP or MQTT: it imports only the pure parts of `domain`.

import { HOUR, type Instant } from "../domain/instant.ts";
import type { Shape } from "../domain/shape.ts";
import { type Seed, seeded } from "./random.ts";
import { type Maker, sensorOf, shapeFor } from "./sensors.ts";

/** A device and the tank it measures. */
export type SimulatedDevice = {
  /** An EUI-64 is in lower case. */
  readonly id: string;
  readonly tankId: string;
  readonly maker: Maker;
  readonly shape: Shape;
};

/** Devices are numbered from 0. */
export type Fleet = {
  readonly size: number;
  readonly device: (number: number) => SimulatedDevice;
  /** The fill of its tank. Instants of a device must rise. Undefined while its sensor is silent. */
  readonly fillAt: (number: number, at: Instant) => number | undefined;
};

/** A fleet with what is needed to register it. */
export type SeededFleet = Fleet & {
  readonly customers: number;
  readonly customer: (number: number) => { readonly id: string; readonly name: string; readonly email: string };
  readonly owner: (tank: number) => string;
  readonly capacity: (tank: number) => number;
};

const TANKS_PER_CUSTOMER = 5;
const CAPACITIES = [1200, 1775, 2700, 4850, 6400, 9100, 20_000];
const NOISE = 0.05;

export function seededFleet(seed: Seed, size: number, makers: readonly Maker[]): SeededFleet {
  // Part of every id, so that fleets of different seeds can share a service.
  const tag = seeded(`${seed}/fleet`).whole(0, 0xffffffff).toString(16).padStart(8, "0");
  const noise = seeded(`${seed}/noise`);
  const capacity = (tank: number): number => seeded(`${seed}/${tank}/capacity`).pick(CAPACITIES);
  const customerId = (number: number): string => `cus_sim_${tag}_${number + 1}`;

  return {
    size,
    customers: Math.ceil(size / TANKS_PER_CUSTOMER),
    customer: (number) => ({
      id: customerId(number),
      name: `Simulated customer ${number + 1}`,
      email: `customer-${number + 1}@sim-${tag}.example`,
    }),
    owner: (tank) => customerId(Math.floor(tank / TANKS_PER_CUSTOMER)),
    capacity,
    device(number) {
      const random = seeded(`${seed}/${number}/device`);
      const maker = random.pick(makers);
      const shape = shapeFor(capacity(number), random);
      return { id: deviceId(maker, tag, number), tankId: `tank_sim_${tag}_${number + 1}`, maker, shape };
    },
    fillAt: (number, at) => Math.min(100, Math.max(0, noise.normal(fillInCycle(seed, number, at), NOISE))),
  };
}

/** Unique: an EUI-64 contains the device's number too. */
function deviceId(maker: Maker, tag: string, number: number): string {
  const prefix = sensorOf(maker)?.euiPrefix ?? "";
  if (prefix === "") return `${maker === "generic" ? "sim" : maker}-${tag}-${number + 1}`;
  return prefix + tag.slice(0, 5) + number.toString(16).padStart(5, "0");
}

/**
 * A tank runs low within hours, not weeks, so that changes are visible. The fill depends only on the seed and the time, so
 * that the next simulation continues where this one ends.
 */
function fillInCycle(seed: Seed, number: number, at: Instant): number {
  const random = seeded(`${seed}/${number}/level`);
  const cycle = random.between(2, 12) * HOUR;
  const offset = random.next();
  const top = random.between(80, 90);
  const bottom = random.between(8, 25);
  return top - (top - bottom) * ((at / cycle + offset) % 1);
}
