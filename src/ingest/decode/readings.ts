// Readings in our own JSON format, as sent over HTTP and on the topic `tanks/{device_id}/readings`, and the field checks that
// all formats share. One request may have 10,000 readings, so the checks are written by hand.

import { deviceKey, ID_MAX_LENGTH, isLongerThan, isPossibleId } from "../../domain/id.ts";
import { type Instant, parseInstant } from "../../domain/instant.ts";
import { FILL } from "../../domain/reading.ts";
import { quoted, suggestion } from "../../domain/text.ts";
import { isObject, type JsonObject } from "../../domain/validate.ts";
import type { IncomingReading, Rejected } from "../ingest.ts";

/** In one message. */
export const MAX_READINGS = 10_000;

const DEVICE_READING_FIELDS: ReadonlySet<string> = new Set(["fill_percentage", "payload", "created_at"]);
const READING_FIELDS: ReadonlySet<string> = new Set(["tank_id", "device_id", ...DEVICE_READING_FIELDS]);

type Source = IncomingReading["source"];
type Measurement = IncomingReading["measurement"];

/** A reading that names its tank or its device. */
export function decodeIncomingReading(item: unknown, context: BatchContext): IncomingReading | Rejected {
  if (!isObject(item)) return rejected("must be an object");
  const error = unknownFieldError(item, READING_FIELDS, context);
  if (error !== undefined) return error;
  const source = parseSource(item["tank_id"], item["device_id"]);
  return isRejected(source) ? source : decodeFields(source, item, context);
}

/** One reading or a list of readings of a device that is named elsewhere. */
export function decodeDeviceReadings(deviceId: string, value: unknown, now: Instant): (IncomingReading | Rejected)[] {
  const source = parseDevice("device_id", deviceId);
  if (isRejected(source)) return [source];
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (items.length > MAX_READINGS) {
    return [rejected(`a message must have at most ${MAX_READINGS} readings, this one has ${items.length}`)];
  }
  const context = new BatchContext(now);
  return items.map((item) => {
    if (!isObject(item)) return rejected("must be an object");
    return unknownFieldError(item, DEVICE_READING_FIELDS, context) ?? decodeFields(source, item, context);
  });
}

function parseSource(tankId: unknown, deviceId: unknown): Source | Rejected {
  if (tankId === undefined) {
    return deviceId === undefined
      ? rejected("tank_id or device_id: one of them is required")
      : parseDevice("device_id", deviceId);
  }
  if (deviceId !== undefined) return rejected("tank_id and device_id: only one of them is allowed");
  return idError("tank_id", tankId) ?? { tankId: tankId as string };
}

function decodeFields(source: Source, item: JsonObject, context: BatchContext): IncomingReading | Rejected {
  const measurement = parseMeasurement(source, item["fill_percentage"], item["payload"]);
  if (isRejected(measurement)) return measurement;
  const createdAt = parseTime("created_at", item["created_at"], context.receivedAt);
  if (item["created_at"] === undefined && !context.mayOmitTime(source)) {
    return rejected("created_at: is required for all but one of the readings of the same tank or device that are sent together");
  }
  return typeof createdAt === "number" ? { source, createdAt, measurement } : createdAt;
}

function parseMeasurement(source: Source, fill: unknown, payload: unknown): Measurement | Rejected {
  if (fill === undefined) {
    if (payload === undefined) return rejected("fill_percentage or payload: one of them is required");
    if ("tankId" in source) return rejected("payload: requires device_id, because the device's profile says how to interpret it");
    return parsePayload("payload", payload);
  }
  if (payload !== undefined) return rejected("fill_percentage and payload: only one of them is allowed");
  if (fill === null) return rejected("fill_percentage: must not be null");
  if (typeof fill !== "number" || !Number.isFinite(fill)) return rejected("fill_percentage: must be a number");
  if (fill < FILL.minimum || fill > FILL.maximum) {
    return rejected(`fill_percentage: must be from ${FILL.minimum} to ${FILL.maximum}`);
  }
  // Adding 0 turns -0 into 0, which is how it would be read back.
  return { fill: fill + 0 };
}

function unknownFieldError(item: JsonObject, known: ReadonlySet<string>, context: BatchContext): Rejected | undefined {
  for (const name in item) {
    if (!known.has(name)) return rejected(context.unknownField(name, item, known));
  }
  return undefined;
}

/** Suggestions are slow to find, and a sender misspells a name in every reading alike. */
const MAX_SUGGESTIONS = 10;

/** What the readings of one request or message share. */
export class BatchContext {
  readonly receivedAt: Instant;
  readonly #undated = new Set<string>();
  readonly #unknownFields = new Map<string, string>();

  constructor(receivedAt: Instant) {
    this.receivedAt = receivedAt;
  }

  /** True once for each source: two readings without a time would have the same one, and only one would be kept. */
  mayOmitTime(source: Source): boolean {
    const key = "tankId" in source ? `tank ${source.tankId}` : `device ${source.deviceId}`;
    const before = this.#undated.size;
    return this.#undated.add(key).size > before;
  }

  unknownField(name: string, item: JsonObject, known: ReadonlySet<string>): string {
    const cached = this.#unknownFields.get(name);
    if (cached !== undefined) return cached;
    const error = `unknown field ${quoted(name)}`;
    if (this.#unknownFields.size === MAX_SUGGESTIONS) return error;
    const reason = networkServerHint(item) ?? `${error}.${fieldHint(name, [...known])}`;
    this.#unknownFields.set(name, reason);
    return reason;
  }
}

/** Names in common use that are too different from ours to be found by edit distance. */
const SYNONYMS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    fill_percentage: ["fill", "fill_level", "percent", "percentage"],
    tank_id: ["tank"],
    device_id: ["device", "deveui", "dev_eui"],
    created_at: ["time", "timestamp", "ts"],
  }).flatMap(([name, synonyms]) => synonyms.map((synonym) => [synonym, name] as const)),
);

function fieldHint(name: string, known: readonly string[]): string {
  const synonymOf = SYNONYMS.get(name.toLowerCase());
  if (synonymOf !== undefined && known.includes(synonymOf)) return ` Did you mean "${synonymOf}"?`;
  if (name === "device_id" || name === "tank_id") return " The topic names the device.";
  return suggestion(name, known) || ' Sensor values other than a percentage belong in "payload".';
}

function networkServerHint(item: JsonObject): string | undefined {
  if ("deviceInfo" in item || "deduplicationId" in item || "devEUI" in item) {
    return "this is a ChirpStack event; send it to /ingest/v1/chirpstack";
  }
  if ("end_device_ids" in item || "uplink_message" in item) {
    return "this is a message from The Things Stack; send it to /ingest/v1/tts";
  }
  return undefined;
}

// Checks that all formats share. `name` is the name of the field, for the reason.

export const rejected = (reason: string): Rejected => ({ rejected: reason });

export function isRejected(value: object): value is Rejected {
  return "rejected" in value;
}

export function idError(name: string, value: unknown): Rejected | undefined {
  if (typeof value === "string" && isPossibleId(value)) return undefined;
  if (value === undefined) return rejected(`${name}: is missing`);
  if (value === null) return rejected(`${name}: must not be null`);
  if (typeof value !== "string") return rejected(`${name}: must be a string`);
  if (value === "") return rejected(`${name}: must not be empty`);
  if (isLongerThan(value, ID_MAX_LENGTH)) return rejected(`${name}: must have at most ${ID_MAX_LENGTH} characters`);
  return rejected(`${name}: must not contain control characters or broken Unicode`);
}

export function parseDevice(name: string, value: unknown): { readonly deviceId: string } | Rejected {
  return idError(name, value) ?? { deviceId: deviceKey(value as string) };
}

/** Rounded down to milliseconds; `receivedAt` where there is none. */
export function parseTime(name: string, value: unknown, receivedAt: Instant): Instant | Rejected {
  if (value === undefined) return receivedAt;
  if (value === null) return rejected(`${name}: must not be null`);
  if (typeof value !== "string") return rejected(`${name}: must be a string`);
  return parseInstant(value)?.instant ?? rejected(`${name}: must be a datetime such as "2026-11-14T09:30:00Z"`);
}

/** Real payloads have three or four levels and some hundred bytes. */
const MAX_PAYLOAD_DEPTH = 32;
const MAX_PAYLOAD_BYTES = 16_384;

export function parsePayload(name: string, value: unknown): { readonly payload: string } | Rejected {
  if (!isObject(value)) return rejected(value === null ? `${name}: must not be null` : `${name}: must be an object`);
  if (isDeeperThan(MAX_PAYLOAD_DEPTH, value)) {
    return rejected(`${name}: must not be nested deeper than ${MAX_PAYLOAD_DEPTH} levels`);
  }
  const payload = JSON.stringify(value);
  const bytes = Buffer.byteLength(payload);
  if (bytes <= MAX_PAYLOAD_BYTES) return { payload };
  return rejected(`${name}: must have at most ${MAX_PAYLOAD_BYTES} bytes as JSON, this one has ${bytes}`);
}

function isDeeperThan(levels: number, value: object): boolean {
  if (levels === 0) return true;
  return Object.values(value).some((part) => typeof part === "object" && part !== null && isDeeperThan(levels - 1, part));
}
