// The examples of the OpenAPI document.

import type { CustomerObject } from "../domain/customer.ts";
import type { ErrorCode } from "../domain/errors.ts";
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

/** A typical `detail` of each error. */
export const ERROR_DETAILS: Readonly<Record<ErrorCode, string>> = {
  parameter_unknown: 'There is no parameter "sise". Did you mean "size"?',
  parameter_invalid: 'size must be a whole number from 1 to 100, not "500".',
  parameter_repeated: "size may be given only once, in the query or in the body.",
  encoding_invalid: "The path is not valid percent-encoded UTF-8.",
  request_malformed: "A request must have exactly one Host header.",
  body_missing: "A body is required: application/json.",
  body_malformed: 'The body is not JSON: line 2, column 7: expected a comma or }, found "x".',
  body_invalid: "location.latitude must be from -90 to 90.",
  idempotency_key_invalid: "Idempotency-Key must have 1 to 255 printable ASCII characters.",
  key_missing: "Send your key in the header X-API-Key.",
  key_invalid: "There is no such key.",
  key_expired: "This key has expired. Ask the operator for a new one.",
  key_revoked: "This key has been revoked. Ask the operator for a new one.",
  role_insufficient: 'This key has the role "read"; this endpoint requires the role "manage".',
  route_unknown: "There is nothing at this path. The interface is described at /docs.",
  customer_unknown: "There is no customer with this id.",
  tank_unknown: "There is no tank with this id.",
  tank_deleted: "This tank has been deleted; its telemetry is no longer available.",
  device_unknown: "There is no device with this id.",
  key_unknown: "There is no key with this id.",
  method_not_allowed: "POST is not allowed here; this path supports GET and HEAD.",
  request_timeout: "The request did not arrive in time.",
  device_in_use: "The device a84041c2f1827d3e already serves the tank tank_01kxa8w5s0b6h1k3p5x9z2f4g7.",
  customer_has_tanks: "This customer owns 3 tanks. Delete them first, or with the customer: tanks=true.",
  id_taken: "The id c-17 is already in use.",
  state_conflict: "This tank is deleted. Restore it first.",
  precondition_failed: "The object has changed since the version in If-Match. Read it again.",
  body_too_large: "A body here may have at most 262144 bytes.",
  url_too_long: "The URL is too long: URL and headers may have at most 16 KiB together.",
  media_type_unsupported: 'A body here must be application/json, not "text/plain".',
  idempotency_key_reused: "This Idempotency-Key was used for another request.",
  headers_too_large: "A request may have at most 100 headers.",
  rate_limited: "This key is over its rate limit. Retry after the time in Retry-After.",
  keys_throttled: "Too many wrong keys from this address. Retry after the time in Retry-After.",
  internal: "An internal error occurred. The operator can look it up by the request id.",
  store_unavailable: "The database cannot be reached right now. Try again shortly.",
  overloaded: "The service is receiving too much data. Nothing was stored; retry shortly.",
};
