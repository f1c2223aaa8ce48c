// A tank: a container with a capacity, an alert threshold, a place and a device. It belongs to one customer.

import Type, { type Static } from "typebox";
import { IdText, InstantText, NullableNumber, NullableText, Text } from "./fields.ts";
import { formatInstant, type Instant } from "./instant.ts";

export const CAPACITY_UNITS = ["liters", "gallons"] as const;
export const USE_CASES = ["residential", "commercial", "industrial"] as const;
export type CapacityUnit = (typeof CAPACITY_UNITS)[number];
export type UseCase = (typeof USE_CASES)[number];

export const Location = Type.Object(
  {
    city: NullableText("City", "Freiburg"),
    country: NullableText("Country", "Germany"),
    district: NullableText("District", "Wiehre"),
    latitude: NullableNumber("Latitude in degrees", -90, 90, 47.9883),
    longitude: NullableNumber("Longitude in degrees", -180, 180, 7.8567),
    postal_code: NullableText("Postal code", "79100"),
    region: NullableText("Region or state", "Baden-Württemberg"),
    street: NullableText("Street", "Lindenweg"),
    street_number: NullableText("Street number", "12a"),
  },
  { additionalProperties: false, description: "Location of the tank; every key is always there and may be null" },
);
export type Location = Readonly<Static<typeof Location>>;

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

export const TankObject = Type.Object(
  {
    id: IdText("Unique identifier of the tank", "tank_01kxa8w5s0b6h1k3p5x9z2f4g7"),
    object: Type.Literal("tank", { description: "Always `tank`" }),
    assigned_device_id: IdText("Identifier of the device assigned to the tank", "a84041c2f1827d3e"),
    capacity: Type.Number({ exclusiveMinimum: 0, description: "Total capacity of the tank", examples: [2700] }),
    capacity_unit: Type.Enum([...CAPACITY_UNITS], {
      type: "string",
      description: "Unit of the capacity",
      examples: ["liters"],
    }),
    created_at: InstantText("When the tank was created"),
    custom_id: NullableText("Identifier for the customer's own internal use", "HALL-3"),
    location: Location,
    min_fill_alert_percentage: Type.Integer({
      minimum: 0,
      maximum: 100,
      description: "Fill percentage at which a low-fill alert is triggered to notify the customer",
      examples: [20],
    }),
    name: Text("The tank's name", "Hall 3, north side"),
    owner_id: IdText("Identifier of the owning customer", "cus_01kxa8w5s0v3m4q9t7r2n6c8d1"),
    updated_at: InstantText("When a data field of the tank was last changed"),
    use_case: Type.Unsafe<UseCase | null>({
      type: ["string", "null"],
      enum: [...USE_CASES, null],
      description: "What the tank is used for",
      examples: ["commercial"],
    }),
  },
  { additionalProperties: false, description: "A container with a capacity, an alert threshold, a location and a device" },
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
