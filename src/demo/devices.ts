// The devices of the demo fleet, as the simulator sends for them: each tank has a sensor of some maker and a shape. Drawn from
// the seed and the tank alone, so that a demo started again finds every tank as it was.

import type { Reading } from "../domain/reading.ts";
import type { Tank } from "../domain/tank.ts";
import type { Device, Fleet } from "../simulate/device.ts";
import type { Maker } from "../simulate/makers.ts";
import { type Seed, seeded } from "../simulate/random.ts";
import { shapeFor } from "../simulate/vessel.ts";
import { TankLife } from "./life.ts";

const LITRES_IN_A_GALLON = 3.785411784;

/** Whose radio has which first digits; the last are those of a radio that many build in. */
const MAKERS: Readonly<Record<string, readonly Maker[]>> = {
  a84041: ["dragino"],
  "70b3d5": ["decentlab"],
  "0004a3": ["own", "milesight", "milesight-tts", "elsys", "mopeka"],
};

export type KnownTank = { readonly tank: Tank; readonly last: Reading };

export function deviceOf(tank: Tank, seed: Seed): Device {
  const random = seeded(`${seed}/${tank.id}/device`);
  const id = tank.assigned_device_id;
  const maker = random.pick(MAKERS[id.slice(0, 6)] ?? (["own"] as const));
  const litres = tank.capacity * (tank.capacity_unit === "gallons" ? LITRES_IN_A_GALLON : 1);
  return { id, tankId: tank.id, maker, shape: shapeFor(litres, random) };
}

/** Each tank lives on from its last reading. */
export function demoFleet(known: readonly KnownTank[], seed: Seed): Fleet {
  const members = known.map(({ tank, last }) => ({
    device: deviceOf(tank, seed),
    life: new TankLife(tank, seed, { at: last.created_at, fill: last.fill_percentage }),
  }));
  const member = (number: number) => {
    const found = members[number];
    if (found === undefined) throw new Error(`there is no device ${number}`);
    return found;
  };
  return {
    size: members.length,
    device: (number) => member(number).device,
    fillAt: (number, at) => member(number).life.readingAt(at)?.fill_percentage,
  };
}
