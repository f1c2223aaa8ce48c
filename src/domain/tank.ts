// A tank: a container with a capacity, an alert threshold, a location and a device. It belongs to one customer.

import { errorInInstants, formatInstant, type Instant } from "./instant.ts";
import {
  idField,
  instantField,
  integer,
  literal,
  nullable,
  nullableNumberField,
  nullableTextField,
  number,
  object,
  oneOf,
  type Static,
  textField,
} from "./schema.ts";
import { errorInObject } from "./validate.ts";

export const CAPACITY_UNITS = ["liters", "gallons"] as const;
export const USE_CASES = ["residential", "commercial", "industrial"] as const;
export type CapacityUnit = (typeof CAPACITY_UNITS)[number];
export type Volume = { readonly volume: number; readonly unit: CapacityUnit };
export type UseCase = (typeof USE_CASES)[number];

export const Location = object(
  {
    city: nullableTextField("City", "Freiburg"),
    country: nullableTextField("Country", "Germany"),
    district: nullableTextField("District", "Wiehre"),
    latitude: nullableNumberField("Latitude in degrees", -90, 90, 47.9883),
    longitude: nullableNumberField("Longitude in degrees", -180, 180, 7.8567),
    postal_code: nullableTextField("Postal code", "79100"),
    region: nullableTextField("Region or state", "Baden-Württemberg"),
    street: nullableTextField("Street", "Lindenweg"),
    street_number: nullableTextField("Street number", "12a"),
  },
  { description: "Location of the tank; every key is always there and may be null" },
);
export type Location = Readonly<Static<typeof Location>>;

export const NO_LOCATION = Object.fromEntries(Object.keys(Location.properties).map((name) => [name, null])) as Location;

export type Tank = {
  readonly id: string;
  readonly assigned_device_id: string;
  readonly capacity: number;
  readonly capacity_unit: CapacityUnit;
  readonly created_at: Instant;
  readonly custom_id: string | null;
  readonly location: Location;
  readonly min_fill_alert_percentage: number;
  readonly name: string;
  readonly owner_id: string;
  readonly updated_at: Instant;
  readonly use_case: UseCase | null;
};

export const TankObject = object(
  {
    id: idField("Unique identifier of the tank", "tank_01kxa8w5s0b6h1k3p5x9z2f4g7"),
    object: literal("tank", { description: "Always `tank`" }),
    assigned_device_id: idField("Identifier of the device assigned to the tank", "a84041c2f1827d3e"),
    capacity: number({ exclusiveMinimum: 0, description: "Total capacity of the tank", examples: [2700] }),
    capacity_unit: oneOf(CAPACITY_UNITS, { description: "Unit of the capacity", examples: ["liters"] }),
    created_at: instantField("When the tank was created"),
    custom_id: nullableTextField("Identifier for the customer's own internal use", "HALL-3"),
    location: Location,
    min_fill_alert_percentage: integer({
      minimum: 0,
      maximum: 100,
      description: "Fill percentage at which a low-fill alert is triggered to notify the customer",
      examples: [20],
    }),
    name: textField("The tank's name", "Hall 3, north side"),
    owner_id: idField("Identifier of the owning customer", "cus_01kxa8w5s0v3m4q9t7r2n6c8d1"),
    updated_at: instantField("When a data field of the tank was last changed"),
    use_case: nullable(oneOf(USE_CASES, { description: "What the tank is used for", examples: ["commercial"] })),
  },
  { description: "A container with a capacity, an alert threshold, a location and a device" },
);

export function tankObject(tank: Tank): Static<typeof TankObject> {
  return {
    id: tank.id,
    object: "tank",
    assigned_device_id: tank.assigned_device_id,
    capacity: tank.capacity,
    capacity_unit: tank.capacity_unit,
    created_at: formatInstant(tank.created_at),
    custom_id: tank.custom_id,
    location: tank.location,
    min_fill_alert_percentage: tank.min_fill_alert_percentage,
    name: tank.name,
    owner_id: tank.owner_id,
    updated_at: formatInstant(tank.updated_at),
    use_case: tank.use_case,
  };
}

/** What is wrong with a stored tank. */
export function errorInTank(tank: Tank): string | undefined {
  const { created_at, updated_at } = tank;
  return errorInInstants({ created_at, updated_at }) ?? errorInObject(TankObject, tankObject(tank));
}
