// Orders as an operator may give them: few objects and devices, so that they meet; some without sense.

import type { Command } from "../../../src/domain/commands/command.ts";
import type { Random } from "../../../src/simulate/random.ts";
import { order } from "../../support/orders.ts";
import { key } from "../conformance/objects.ts";

export const CUSTOMERS = ["cus-1", "cus-2", "cus-3", "cus-4"];
export const TANKS = ["t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8"];
/** Some differ in their case alone: an EUI-64 is one device then, another id is two. */
export const DEVICES = ["d1", "d2", "d3", "D3", "0011223344aabbcc", "0011223344AABBCC", "ffeeddccbbaa0099", "d%_", "é1", "d9"];
export const NAMES = ["Alpha", "alp", "ALPINE", "Ärger", "ärger", "b%r", "b_r", "Berlin", "bErn", "z\u{10ffff}x", "Zoo"];

const SHAPES = [
  null,
  { kind: "upright", unit: "m", height: 2, sensor_height: 2.2 },
  { kind: "rectangular", unit: "cm", height: 150 },
  { kind: "horizontal_cylinder", unit: "m", diameter: 2 },
  { kind: "upright", unit: "furlong", height: 2 },
];
const PROFILES = [
  null,
  "milesight-em500-udl",
  "unheard-of",
  { value: "level", measures: "level", unit: "cm" },
  { value: "p", measures: "percent" },
];

type Fields = Record<string, unknown>;
type Maker = (random: Random, number: number, ifMatch: string | undefined) => Command;

/** Each with a chance of its own. */
function some(random: Random, fields: Record<string, () => unknown>): Fields {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(() => random.chance(0.5))
      .map(([name, value]) => [name, value()]),
  );
}

const ofCustomer = (random: Random): Fields =>
  some(random, {
    name: () => random.pick([...NAMES, ""]),
    email: () => `${random.pick(["a", "B", "c"])}@x.example`,
    phone: () => random.pick([null, "123"]),
    is_verified: () => random.chance(0.5),
  });

const ofTank = (random: Random): Fields =>
  some(random, {
    name: () => random.pick(NAMES),
    assigned_device_id: () => random.pick(DEVICES),
    min_fill_alert_percentage: () => random.whole(0, 100),
    owner_id: () => random.pick([...CUSTOMERS, ...CUSTOMERS, "nobody"]),
    custom_id: () => random.pick([null, ...NAMES]),
    location: () => ({ city: random.pick([null, ...NAMES]) }),
    shape: () => random.pick(SHAPES),
  });

const aKey = (random: Random, number: number): string => `key-${random.whole(Math.max(0, number - 30), number)}`;

const MAKERS: readonly (readonly [weight: number, make: Maker])[] = [
  [
    2,
    (random, number) => ({
      type: "create_customer",
      newId: `cus-${number}`,
      fields: { id: random.pick(CUSTOMERS), name: random.pick(NAMES), email: "a@b.example", ...ofCustomer(random) },
    }),
  ],
  [2, (random, _, ifMatch) => ({ type: "change_customer", id: random.pick(CUSTOMERS), fields: ofCustomer(random), ifMatch })],
  [
    2,
    (random, _, ifMatch) => ({
      type: random.pick(["delete_customer", "restore_customer", "restore_customer"] as const),
      id: random.pick(CUSTOMERS),
      tanks: random.chance(0.6),
      ifMatch,
    }),
  ],
  [4, (random, number) => ({ type: "create_tank", newId: `tank-${number}`, fields: newTank(random) })],
  [
    5,
    (random, _, ifMatch) => ({
      type: "change_tank",
      id: random.pick(TANKS),
      fields: ofTank(random),
      ifMatch,
      swap: random.chance(0.5),
    }),
  ],
  [1, (random, _, ifMatch) => ({ type: "delete_tank", id: random.pick(TANKS), ifMatch })],
  [
    3,
    (random, _, ifMatch) => ({
      type: "restore_tank",
      id: random.pick(TANKS),
      fields: random.chance(0.5) ? undefined : { assigned_device_id: random.pick(DEVICES) },
      ifMatch,
    }),
  ],
  [
    6,
    (random, _, ifMatch) => ({
      type: "put_device",
      id: random.pick(DEVICES),
      fields: some(random, {
        tank_id: () => random.pick(TANKS),
        profile: () => random.pick(PROFILES),
        shape: () => random.pick(SHAPES),
      }),
      ifMatch,
      swap: random.chance(0.5),
    }),
  ],
  [1, (random, _, ifMatch) => ({ type: "remove_device", id: random.pick(DEVICES), ifMatch })],
  [
    2,
    (random, number) => {
      const fields = { customer_id: random.pick([null, ...CUSTOMERS]), expires_at: random.pick([null, 9e12]) };
      return order.addKey(key(`key-${number}`, fields), `hash ${number}`);
    },
  ],
  [
    1,
    (random, number) => ({
      type: "rotate_key",
      id: aKey(random, number),
      overlap: 1000,
      newId: `key-${number}`,
      hash: `hash ${number}`,
    }),
  ],
  [1, (random, number, ifMatch) => ({ type: "change_key", id: aKey(random, number), fields: { name: "other" }, ifMatch })],
  [1, (random, number) => ({ type: "revoke_key", id: aKey(random, number) })],
  [
    2,
    (random, number) => ({
      type: "provision",
      isDryRun: random.chance(0.2),
      customers: [{ newId: `cus-${number}`, fields: { id: random.pick(CUSTOMERS), ...ofCustomer(random) } }],
      tanks: [0, 1].map((i) => ({ newId: `tank-${number}-${i}`, fields: newTank(random) })),
    }),
  ],
];

const newTank = (random: Random): Fields => ({
  id: random.pick(TANKS),
  name: "Tank",
  assigned_device_id: random.pick(DEVICES),
  capacity: 1000,
  capacity_unit: "liters",
  min_fill_alert_percentage: 20,
  owner_id: random.pick(CUSTOMERS),
  ...ofTank(random),
});

const CHOICE = MAKERS.flatMap(([weight, make]) => Array.from({ length: weight }, () => make));

/** `tags` are of objects that were shown lately. */
export function someOrder(random: Random, number: number, tags: readonly string[]): Command {
  const ifMatch = random.chance(0.15) ? random.pick(["*", '"nonsense"', ...tags]) : undefined;
  return random.pick(CHOICE)(random, number, ifMatch);
}
