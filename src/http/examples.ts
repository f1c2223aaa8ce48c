// One customer, tank and reading, as the OpenAPI document and the documentation page show them.

import type { CustomerObject } from "../domain/customer.ts";
import type { TelemetryObject } from "../domain/reading.ts";
import type { Static } from "../domain/schema.ts";
import type { TankObject } from "../domain/tank.ts";

export const customerExample: Static<typeof CustomerObject> = {
  id: "cus_01kxa8w5s0v3m4q9t7r2n6c8d1",
  object: "customer",
  created_at: "2025-03-02T08:15:30.000Z",
  email: "office@brenner-gas.example",
  is_verified: true,
  last_seen_at: "2026-11-14T09:30:00.000Z",
  name: "Brenner Gas GmbH",
  phone: "+49 30 5550 0142",
  tank_count: 3,
  updated_at: "2025-06-11T14:02:11.250Z",
  verified_at: "2025-03-02T08:40:02.000Z",
};

export const tankExample: Static<typeof TankObject> = {
  id: "tank_01kxa8w5s0b6h1k3p5x9z2f4g7",
  object: "tank",
  assigned_device_id: "a84041c2f1827d3e",
  capacity: 2700,
  capacity_unit: "liters",
  created_at: "2025-03-04T10:00:00.000Z",
  custom_id: "HALL-3",
  location: {
    city: "Freiburg",
    country: "Germany",
    district: "Wiehre",
    latitude: 47.9883,
    longitude: 7.8567,
    postal_code: "79100",
    region: "Baden-Württemberg",
    street: "Lindenweg",
    street_number: "12a",
  },
  min_fill_alert_percentage: 20,
  name: "Hall 3, north side",
  owner_id: customerExample.id,
  updated_at: "2026-02-19T07:45:00.000Z",
  use_case: "commercial",
};

export const telemetryExample: Static<typeof TelemetryObject> = {
  object: "telemetry",
  created_at: "2026-11-14T08:00:00.000Z",
  fill_percentage: 63.4,
};

export const shapeExample = { kind: "upright", height: 2.1, unit: "m", sensor_height: 2.3 };
