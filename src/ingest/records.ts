// The lines of import and export files: objects as in the API, plus fields that only the operator has.
// Decoding turns a line into a record, or says what is wrong with it.

import {
  DEFAULT_TANK_ALERT_SETTINGS,
  errorsInTankAlertSettings,
  mergeTankAlertSettings,
  type TankAlertSettingsInput,
  tankAlertSettingsObject,
} from "../domain/alerts/tank-alert-settings.ts";
import type { CustomerState } from "../domain/changes.ts";
import {
  type Customer,
  CustomerObject,
  customerObject,
  NotificationSettings,
  notificationSettingsObject,
} from "../domain/customer.ts";
import { assignmentObjects, type DeviceAssignment, deviceObject } from "../domain/device.ts";
import { deviceKey, isPossibleId } from "../domain/id.ts";
import {
  EARLIEST,
  formatInstant,
  hasOffset,
  type Instant,
  instantOf,
  instantOrNull,
  UPDATED_BEFORE_CREATED,
} from "../domain/instant.ts";
import type { PendingReading } from "../domain/placement.ts";
import { errorsInProfile, profileOf } from "../domain/profile.ts";
import { telemetryObject } from "../domain/reading.ts";
import type { CustomerRecord, DeviceRecord, TankRecord } from "../domain/records.ts";
import {
  array,
  boolean,
  idField,
  instantField,
  integer,
  literal,
  nullable,
  object,
  partial,
  type Static,
} from "../domain/schema.ts";
import { errorsInShape, shapeOf } from "../domain/shape.ts";
import type { ExportRecord } from "../domain/store.ts";
import { Location, NO_LOCATION, TankObject, tankObject } from "../domain/tank.ts";
import { errorInObject, firstError, type JsonObject } from "../domain/validate.ts";
import { BatchContext, decodeIncomingReading, idError } from "./decode.ts";
import type { IncomingReading } from "./ingest.ts";

/** `customerId`: of a reading that was pending when it was exported, the customer its sender was bound to. */
export type ReadingRecord = { readonly reading: IncomingReading; readonly customerId: string | null };

export type DecodedRecord =
  | { readonly kind: "customer"; readonly record: CustomerRecord }
  | { readonly kind: "tank"; readonly record: TankRecord }
  | { readonly kind: "device"; readonly record: DeviceRecord }
  | { readonly kind: "telemetry"; readonly record: ReadingRecord; readonly isAssumedUtc: boolean }
  | { readonly kind: "rejected"; readonly reason: string };

export type LineDecoder = (text: string) => DecodedRecord;

export const rejectedRecord = (reason: string): DecodedRecord => ({ kind: "rejected", reason });

export function decodeJsonLine(text: string): DecodedRecord {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const hint = /^\s*[[{]\s*$/.test(text) ? "; a file has one object per line, without a list around them" : "";
    return rejectedRecord(`the line is not valid JSON${hint}: ${(error as Error).message.replace(/\p{Cc}/gu, "\ufffd")}`);
  }
  return decodeRecord(value);
}

export function decodeRecord(value: unknown): DecodedRecord {
  if (typeof value === "object" && value !== null && "object" in value) {
    const kind = value.object;
    if (kind === "telemetry") return decodeTelemetry(value);
    if (kind === "device") return decodeDevice(value);
    if ((kind === "customer" || kind === "tank") && isRemoval(value)) return decodeRemoval(kind, value.id);
    if (kind === "customer") return decodeCustomer(value);
    if (kind === "tank") return decodeTank(value);
  }
  return rejectedRecord('the line must be an object whose "object" is "customer", "tank", "device" or "telemetry"');
}

/** A line with nothing but an id and `"deleted": true` deletes the object and keeps its fields. */
function isRemoval(value: object): value is { readonly id: unknown } {
  return Object.keys(value).length === 3 && "id" in value && "deleted" in value && value.deleted === true;
}

function decodeRemoval(kind: "customer" | "tank", id: unknown): DecodedRecord {
  if (typeof id !== "string" || !isPossibleId(id)) return rejectedRecord("id: is not a valid id");
  return { kind, record: { remove: id } };
}

/** A reading of a tank, or one that names its device, as exported while it was pending. */
function decodeTelemetry(value: object): DecodedRecord {
  const { object: _telemetry, ...line } = value as JsonObject;
  if (!Object.hasOwn(line, "device_id")) return decodeReading(line, null);
  const { customer_id = null, ...fields } = line;
  const error = customer_id === null ? undefined : idError("customer_id", customer_id);
  return error === undefined ? decodeReading(fields, customer_id as string | null) : rejectedRecord(error.rejected);
}

const CONTEXT = new BatchContext(0);

export function decodeReading(fields: JsonObject, customerId: string | null): DecodedRecord {
  // The time of receipt says nothing here: a file may be imported long after its readings were measured.
  const { created_at } = fields;
  if (created_at === undefined) return rejectedRecord("created_at: is missing");
  const reading = decodeIncomingReading(fields, CONTEXT, idError);
  if ("rejected" in reading) return rejectedRecord(reading.rejected);
  return { kind: "telemetry", record: { reading, customerId }, isAssumedUtc: !hasOffset(String(created_at)) };
}

const DELETION = { deleted: boolean(), deleted_at: instantField("When it was deleted") };

/** What a line says about its deletion, or what is wrong with it. */
function deletionOf({ deleted = false, deleted_at }: { readonly deleted?: boolean; readonly deleted_at?: string }) {
  if (deleted_at === undefined) return { deleted };
  return deleted ? { deleted, deletedAt: instantOf(deleted_at) } : "deleted_at: must not be given unless deleted is true";
}

const CustomerLine = object({ ...CustomerObject.properties, notifications: NotificationSettings, ...DELETION }, {}, [
  "object",
  "is_verified",
  "last_seen_at",
  "phone",
  "tank_count",
  "updated_at",
  "verified_at",
  "notifications",
  "deleted",
  "deleted_at",
]);

function decodeCustomer(value: object): DecodedRecord {
  const { tank_count: _derived, ...fields } = value as { tank_count?: unknown };
  const error = errorInObject(CustomerLine, fields);
  if (error !== undefined) return rejectedRecord(error);
  const line = fields as Static<typeof CustomerLine>;
  const verified_at = instantOrNull(line.verified_at);
  if (line.is_verified !== undefined && line.is_verified !== (verified_at !== null)) {
    return rejectedRecord("is_verified: must be true if and only if verified_at is set");
  }
  const dates = parseDates(line);
  if (dates === undefined) return rejectedRecord(UPDATED_BEFORE_CREATED);
  const deletion = deletionOf(line);
  if (typeof deletion === "string") return rejectedRecord(deletion);
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
  const { language = null, unsubscribed_at } = line.notifications ?? {};
  const notifications = { language, unsubscribed_at: instantOrNull(unsubscribed_at) };
  const given = line.notifications === undefined ? {} : { notifications };
  return { kind: "customer", record: { customer, ...deletion, ...given } };
}

const TankLine = object({ ...TankObject.properties, location: partial(Location), ...DELETION }, {}, [
  "object",
  "custom_id",
  "location",
  "updated_at",
  "use_case",
  "deleted",
  "deleted_at",
]);

function decodeTank(value: object): DecodedRecord {
  const { shape, alerts, ...fields } = value as { shape?: unknown; alerts?: unknown };
  const error =
    errorInObject(TankLine, fields) ??
    (isGiven(shape) ? firstError(errorsInShape(shape)) : undefined) ??
    (alerts === undefined ? undefined : firstError(errorsInTankAlertSettings(alerts)));
  if (error !== undefined) return rejectedRecord(error);
  const { object: _tank, deleted, deleted_at, ...line } = fields as Static<typeof TankLine>;
  const dates = parseDates(line);
  if (dates === undefined) return rejectedRecord(UPDATED_BEFORE_CREATED);
  const deletion = deletionOf({ deleted, deleted_at });
  if (typeof deletion === "string") return rejectedRecord(deletion);
  const tank = {
    ...line,
    ...dates,
    custom_id: line.custom_id ?? null,
    location: { ...NO_LOCATION, ...line.location },
    min_fill_alert_percentage: line.min_fill_alert_percentage + 0,
    use_case: line.use_case ?? null,
  };
  const given = {
    ...(shape !== undefined && { shape: shape === null ? null : shapeOf(shape) }),
    ...(alerts !== undefined && {
      alerts: mergeTankAlertSettings(DEFAULT_TANK_ALERT_SETTINGS, alerts as TankAlertSettingsInput),
    }),
  };
  return { kind: "tank", record: { tank, ...deletion, ...given } };
}

type Dates = { readonly created_at: Instant; readonly updated_at: Instant };

/** `updated_at` defaults to `created_at`. Undefined if they are in the wrong order. */
function parseDates(line: { readonly created_at: string; readonly updated_at?: string }): Dates | undefined {
  const created_at = instantOf(line.created_at);
  const updated_at = line.updated_at === undefined ? created_at : instantOf(line.updated_at);
  return updated_at < created_at ? undefined : { created_at, updated_at };
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

/** More than any device can send. */
const MAX_DROPPED = 1e12;
const tank_id = idField("A tank", "tank_01kxa8w5s0b6h1k3p5x9z2f4g7");
/** Past assignments each have an end. The current tank is set by that tank's line, and only compared here. */
const DeviceLine = object(
  {
    id: idField("The device", "a84041c2f1827d3e"),
    object: literal("device"),
    tank_id: nullable(tank_id),
    since: nullable(instantField("Start of the current assignment")),
    dropped: integer({ minimum: 0, maximum: MAX_DROPPED }),
    past_assignments: array(object({ tank_id, until: instantField("End of the assignment, exclusive") })),
  },
  {},
  ["object", "tank_id", "since", "dropped", "past_assignments"],
);

function decodeDevice(value: object): DecodedRecord {
  const { profile, pending: _derived, ...fields } = value as Partial<Record<string, unknown>>;
  const error = errorInObject(DeviceLine, fields) ?? (isGiven(profile) ? firstError(errorsInProfile(profile)) : undefined);
  if (error !== undefined) return rejectedRecord(error);
  const line = fields as Static<typeof DeviceLine>;
  const id = deviceKey(line.id);
  const assignments = line.past_assignments && assignmentsOf(id, line.past_assignments);
  if (assignments !== undefined && assignments.length !== line.past_assignments?.length) {
    return rejectedRecord("past_assignments: must not have two entries with the same until");
  }
  if (line.since === undefined && assignments !== undefined && assignments.length > 0) {
    return rejectedRecord("since: is missing, and is needed with past_assignments");
  }
  const record: DeviceRecord = {
    id,
    tank_id: line.tank_id,
    since: line.since === undefined ? undefined : (instantOrNull(line.since) ?? EARLIEST),
    profile: isGiven(profile) && typeof profile !== "string" ? profileOf(profile) : (profile as string | null | undefined),
    dropped: line.dropped,
    assignments,
  };
  return { kind: "device", record };
}

/** Returns them in order, one per instant. */
function assignmentsOf(device: string, past: NonNullable<Static<typeof DeviceLine>["past_assignments"]>): DeviceAssignment[] {
  const byEnd = new Map(past.map(({ until, tank_id: tankId }) => [instantOf(until), tankId]));
  return [...byEnd].map(([until, tankId]) => ({ device, until, tankId })).sort((a, b) => a.until - b.until);
}

/**
 * This many assignments take at most 600 kB, which leaves room for a profile within `MAX_LINE_BYTES`. An import merges the lines
 * of a device.
 */
const MAX_LINE_ASSIGNMENTS = 1000;

export function exportLines(record: ExportRecord): readonly string[] {
  switch (record.kind) {
    case "customer": {
      const notifications = notificationSettingsObject(record.notifications);
      return [JSON.stringify({ ...customerObject(record.customer), notifications, ...deletionFields(record) })];
    }
    case "tank": {
      const settings = { shape: record.shape, alerts: tankAlertSettingsObject(record.alerts) };
      return [JSON.stringify({ ...tankObject(record.tank), ...settings, ...deletionFields(record) })];
    }
    case "device": {
      const past = assignmentObjects(record.assignments);
      const line = { ...deviceObject(record.device), dropped: record.dropped };
      return Array.from({ length: Math.max(1, Math.ceil(past.length / MAX_LINE_ASSIGNMENTS)) }, (_, i) => {
        const from = i * MAX_LINE_ASSIGNMENTS;
        return JSON.stringify({ ...line, past_assignments: past.slice(from, from + MAX_LINE_ASSIGNMENTS) });
      });
    }
    case "readings":
      return record.readings.map((reading) => {
        const { object, ...rest } = telemetryObject(reading);
        return JSON.stringify({ object, tank_id: record.tankId, ...rest });
      });
    case "pending":
      return [pendingLine(record.reading)];
    case "damaged":
      return [];
  }
}

/** None for a live object. */
function deletionFields({ deleted, deletedAt }: Pick<CustomerState, "deleted" | "deletedAt">) {
  return deleted ? { deleted, ...(deletedAt !== null && { deleted_at: formatInstant(deletedAt) }) } : {};
}

/** The payload is stored as JSON. */
function pendingLine({ device, created_at, fill, payload, customer_id }: PendingReading): string {
  const binding = customer_id === null ? {} : { customer_id };
  const line = { object: "telemetry", device_id: device, ...binding, created_at: formatInstant(created_at) };
  if (payload === null) return JSON.stringify({ ...line, fill_percentage: fill });
  return `${JSON.stringify(line).slice(0, -1)},"payload":${payload}}`;
}
