// Records: the objects of the interface, with what only the operator sees of them, as lines of an import or export file.
// Decoding turns one parsed JSON value into a record, or says in words what is wrong with it.

import { type Customer, CustomerObject } from "./customer.ts";
import { type DeviceRecord, decodeDeviceRecord } from "./device-record.ts";
import { isPossibleId } from "./id.ts";
import { type Instant, instantOf, instantOrNull } from "./instant.ts";
import { type Reading, TelemetryObject } from "./reading.ts";
import { boolean, object, type Static } from "./schema.ts";
import { errorsInShape, type Shape, shapeOf } from "./shape.ts";
import { type Location, NO_LOCATION, type Tank, TankObject } from "./tank.ts";
import { errorInObject } from "./validate.ts";

/** A bare line: the object with this id goes, whatever it holds. */
type Removal = { readonly remove: string };
export type CustomerRecord = { readonly customer: Customer; readonly deleted: boolean } | Removal;
/** A shape that is not named stays as it is. */
export type TankRecord = { readonly tank: Tank; readonly deleted: boolean; readonly shape?: Shape | null } | Removal;
export type ReadingRecord = { readonly tankId: string; readonly reading: Reading };

export type RecordOutcome = "new" | "changed" | "unchanged" | { readonly rejected: string };

export type DecodedRecord =
  | { readonly kind: "customer"; readonly record: CustomerRecord }
  | { readonly kind: "tank"; readonly record: TankRecord }
  | { readonly kind: "device"; readonly record: DeviceRecord }
  | { readonly kind: "telemetry"; readonly record: ReadingRecord }
  | { readonly kind: "rejected"; readonly reason: string };

const { tank_count: _derived, ...customerFields } = CustomerObject.properties;
const CustomerLine = object({ ...customerFields, deleted: boolean() });
const CUSTOMER_REQUIRED = ["id", "created_at", "email", "name"];
const TankLine = object({ ...TankObject.properties, deleted: boolean() });
const TANK_REQUIRED = [
  "id",
  "assigned_device_id",
  "capacity",
  "capacity_unit",
  "created_at",
  "min_fill_alert_percentage",
  "name",
  "owner_id",
];
const TelemetryLine = object({ ...TelemetryObject.properties, tank_id: TankObject.properties.id });
const TELEMETRY_REQUIRED = ["tank_id", "created_at", "fill_percentage"];

export function decodeRecord(value: unknown): DecodedRecord {
  if (typeof value === "object" && value !== null && "object" in value) {
    const kind = value.object;
    if (kind === "telemetry") return decodeReading(value);
    if (kind === "device") {
      const record = decodeDeviceRecord(value);
      return typeof record === "string" ? rejected(record) : { kind, record };
    }
    if (kind === "customer" || kind === "tank") {
      if (isRemoval(value)) return decodeRemoval(kind, value.id);
      return kind === "customer" ? decodeCustomer(value) : decodeTank(value);
    }
  }
  return rejected('the line must be an object whose "object" is "customer", "tank", "device" or "telemetry"');
}

const rejected = (reason: string): DecodedRecord => ({ kind: "rejected", reason });

function isRemoval(value: object): value is { readonly id: unknown } {
  return Object.keys(value).length === 3 && "id" in value && "deleted" in value && value.deleted === true;
}

function decodeRemoval(kind: "customer" | "tank", id: unknown): DecodedRecord {
  if (typeof id !== "string" || !isPossibleId(id)) return rejected("id: is not one that an object can have");
  return { kind, record: { remove: id } };
}

export function decodeReading(value: unknown): DecodedRecord {
  const fault = errorInObject(TelemetryLine, TELEMETRY_REQUIRED, value);
  if (fault !== undefined) return rejected(fault);
  const line = value as Static<typeof TelemetryLine>;
  // Adding 0 turns -0 into 0, which is how it would be read back.
  const reading = { created_at: instantOf(line.created_at), fill_percentage: line.fill_percentage + 0 };
  return { kind: "telemetry", record: { tankId: line.tank_id, reading } };
}

function decodeCustomer(value: object): DecodedRecord {
  const { tank_count: _ignored, ...fields } = value as { tank_count?: unknown };
  const fault = errorInObject(CustomerLine, CUSTOMER_REQUIRED, fields);
  if (fault !== undefined) return rejected(fault);
  const line = fields as Partial<Static<typeof CustomerLine>> & Pick<Customer, "id" | "email" | "name"> & Dated;
  const verified_at = instantOrNull(line.verified_at);
  if (line.is_verified !== undefined && line.is_verified !== (verified_at !== null)) {
    return rejected("is_verified: must be true exactly when verified_at is set");
  }
  const dates = parseDates(line);
  if (dates === undefined) return rejected(UPDATED_BEFORE_CREATED);
  const customer: Customer = {
    id: line.id,
    created_at: dates.created_at,
    email: line.email,
    last_seen_at: instantOrNull(line.last_seen_at),
    name: line.name,
    phone: line.phone ?? null,
    updated_at: dates.updated_at,
    verified_at,
  };
  return { kind: "customer", record: { customer, deleted: line.deleted === true } };
}

function decodeTank(value: object): DecodedRecord {
  const { shape, ...fields } = value as { shape?: unknown };
  const fault = errorInObject(TankLine, TANK_REQUIRED, fields) ?? errorInShape(shape);
  if (fault !== undefined) return rejected(fault);
  const line = fields as Omit<Static<typeof TankLine>, "location" | "updated_at"> & { location?: Partial<Location> } & Dated;
  const dates = parseDates(line);
  if (dates === undefined) return rejected(UPDATED_BEFORE_CREATED);
  const tank: Tank = {
    id: line.id,
    assigned_device_id: line.assigned_device_id,
    capacity: line.capacity,
    capacity_unit: line.capacity_unit,
    created_at: dates.created_at,
    custom_id: line.custom_id ?? null,
    location: { ...NO_LOCATION, ...line.location },
    min_fill_alert_percentage: line.min_fill_alert_percentage + 0,
    name: line.name,
    owner_id: line.owner_id,
    updated_at: dates.updated_at,
    use_case: line.use_case ?? null,
  };
  return { kind: "tank", record: { tank, deleted: line.deleted === true, ...givenShape(shape) } };
}

function givenShape(shape: unknown): { readonly shape?: Shape | null } {
  if (shape === undefined) return {};
  return { shape: shape === null ? null : shapeOf(shape) };
}

function errorInShape(shape: unknown): string | undefined {
  if (shape === undefined || shape === null) return undefined;
  const [first] = errorsInShape(shape);
  return first && `${first.field}: ${first.message}`;
}

const UPDATED_BEFORE_CREATED = "updated_at: must not be before created_at";

type Dated = { readonly created_at: string; readonly updated_at?: string };

/** A line without `updated_at` has not changed since it was created. */
function parseDates(line: Dated): { created_at: Instant; updated_at: Instant } | undefined {
  const created_at = instantOf(line.created_at);
  const updated_at = line.updated_at === undefined ? created_at : instantOf(line.updated_at);
  return updated_at < created_at ? undefined : { created_at, updated_at };
}
