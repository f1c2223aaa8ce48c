// From a message to its readings: our own JSON format, events of ChirpStack v4, and messages of The Things Stack v3. Over MQTT the
// topic names the format and the device. A message may have 10,000 readings, so the checks are written by hand.

import { isUtf8 } from "node:buffer";
import { deviceKey, ID_MAX_LENGTH, isDotSegment, isLongerThan, isPossibleId, NO_DOT_SEGMENT } from "../domain/id.ts";
import { type Clock, type Instant, parseInstant } from "../domain/instant.ts";
import { FILL, MAX_READINGS, type ReadingItem, type ReadingResult, type Rejected } from "../domain/reading.ts";
import { quoted, suggestion } from "../domain/text.ts";
import {
  isObject,
  type JsonObject,
  MAX_JSON_DEPTH,
  MAX_JSON_FIELDS,
  measureJson,
  TOO_DEEP,
  TOO_MANY_FIELDS,
} from "../domain/validate.ts";
import type { IncomingReading, ReadingSender } from "./ingest.ts";
import type { SlicedIngest } from "./slices.ts";

type Source = IncomingReading["source"];
type Measurement = IncomingReading["measurement"];
/** Empty where the message carries no reading. */
type Decoded = readonly (IncomingReading | Rejected)[];

type TopicMatch =
  | { readonly format: "readings" | "chirpstack" | "tts"; readonly device: string }
  /** Something other than a measurement, from a network server. */
  | { readonly format: "ignored" };

/** Kept as text while it waits to be decoded: its bytes would keep the whole network buffer in memory. */
export type MqttMessage = {
  readonly topic: TopicMatch | undefined;
  readonly text: string | Rejected;
  readonly receivedAt: Instant;
};

/** The topics with readings, to subscribe to. */
export const TOPIC_FILTERS = ["tanks/+/readings", "application/+/device/+/event/up", "v3/+/devices/+/up"] as const;
/** A message of 10,000 readings, each with a time and one other value, has as many. It is parsed at once, so others wait meanwhile. */
const MAX_VALUES = 40_000;
const IGNORED: TopicMatch = { format: "ignored" };

export function matchTopic(topic: string): TopicMatch | undefined {
  const parts = topic.split("/");
  const [first, second = "", third, fourth = "", fifth, sixth] = parts;
  if (first === "tanks" && third === "readings" && parts.length === 3) return { format: "readings", device: second };
  if (first === "application" && third === "device") {
    return fifth === "event" && sixth === "up" && parts.length === 6 ? { format: "chirpstack", device: fourth } : IGNORED;
  }
  if (first === "v3" && third === "devices") {
    return fifth === "up" && parts.length === 5 ? { format: "tts", device: fourth } : IGNORED;
  }
  return undefined;
}

export function createMqttMessage(topic: string, bytes: Buffer, receivedAt: Instant): MqttMessage {
  const match = matchTopic(topic);
  const hasReadings = match !== undefined && match.format !== "ignored";
  return { topic: match, text: hasReadings ? checkedText(bytes) : "", receivedAt };
}

/** Parsed values need many times the memory of their text, so their number and depth are checked first. */
function checkedText(bytes: Buffer): string | Rejected {
  if (!isUtf8(bytes)) return rejected("the message is not valid UTF-8");
  const { values, depth, fields } = measureJson(bytes, MAX_VALUES);
  if (depth > MAX_JSON_DEPTH) return rejected(`the message ${TOO_DEEP}`);
  if (fields > MAX_JSON_FIELDS) return rejected(`the message ${TOO_MANY_FIELDS}`);
  if (values > MAX_VALUES) return rejected(`the message must have at most ${MAX_VALUES} values`);
  return bytes.toString("utf8");
}

/** A message that cannot be read is one `Rejected`. */
export function decodeMqttMessage({ topic, text, receivedAt }: MqttMessage): Decoded {
  if (topic === undefined) return [rejected("topic not recognised")];
  if (topic.format === "ignored") return [];
  if (typeof text !== "string") return [text];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [rejected("the message is not valid JSON")];
  }
  switch (topic.format) {
    case "readings":
      return decodeDeviceReadings(topic.device, value, receivedAt);
    case "chirpstack":
      return decodeChirpstack(value, receivedAt, topic.device);
    case "tts":
      return decodeTts(value, receivedAt, topic.device);
  }
}

/** Readings over HTTP: from the values in a request body to one result per reading. */
export function createHttpIngest(ingest: SlicedIngest, clock: Clock) {
  return {
    readings(items: readonly ReadingItem[], sender: ReadingSender): Promise<ReadingResult[]> {
      const context = new BatchContext(clock());
      const decode = (item: ReadingItem) =>
        "value" in item ? decodeIncomingReading(item.value, context) : rejected(item.unreadable);
      return ingest({ length: items.length, [Symbol.iterator]: () => items.values().map(decode) }, sender);
    },
    chirpstack: (message: unknown, sender: ReadingSender): Promise<ReadingResult[]> =>
      ingest(decodeChirpstack(message, clock()), sender),
    tts: (message: unknown, sender: ReadingSender): Promise<ReadingResult[]> => ingest(decodeTts(message, clock()), sender),
  };
}

// Our own format.

const DEVICE_READING_FIELDS: ReadonlySet<string> = new Set(["fill_percentage", "payload", "created_at"]);
const READING_FIELDS: ReadonlySet<string> = new Set(["tank_id", "device_id", ...DEVICE_READING_FIELDS]);

/** A reading that names its tank or its device; `checkId` says which ids are accepted. */
export function decodeIncomingReading(
  item: unknown,
  context: BatchContext,
  checkId: IdCheck = sentIdError,
): IncomingReading | Rejected {
  if (!isObject(item)) return rejected("must be an object");
  const error = unknownFieldError(item, READING_FIELDS, context);
  if (error !== undefined) return error;
  const source = parseSource(item["tank_id"], item["device_id"], checkId);
  return "rejected" in source ? source : decodeFields(source, item, context);
}

/** One reading or a list of readings of a device that is named elsewhere. */
export function decodeDeviceReadings(deviceId: string, value: unknown, now: Instant): Decoded {
  const source = parseDevice("device_id", deviceId);
  if ("rejected" in source) return [source];
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

function parseSource(tankId: unknown, deviceId: unknown, checkId: IdCheck): Source | Rejected {
  if (tankId === undefined) {
    return deviceId === undefined
      ? rejected("tank_id or device_id: one of them is required")
      : parseDevice("device_id", deviceId, checkId);
  }
  if (deviceId !== undefined) return rejected("tank_id and device_id: only one of them is allowed");
  return checkId("tank_id", tankId) ?? { tankId: tankId as string };
}

function decodeFields(source: Source, item: JsonObject, context: BatchContext): IncomingReading | Rejected {
  const time = item["created_at"];
  const measurement = parseMeasurement(source, item["fill_percentage"], item["payload"]);
  const reading = toReading(source, measurement, parseTime("created_at", time, context.receivedAt));
  if (time !== undefined || "rejected" in reading || context.claimUndated(source)) return reading;
  return rejected("created_at: is required for all but one of the readings of the same tank or device that are sent together");
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
  claimUndated(source: Source): boolean {
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

// Network servers. Where a topic names the device, whoever may publish there sends for that device only.

/** An `up` event, over MQTT or as a webhook. Other events (join, status, ack …) carry no reading. */
export function decodeChirpstack(value: unknown, now: Instant, topicDevice?: string): Decoded {
  if (!isObject(value)) return [rejected("must be an object")];
  const info = value["deviceInfo"];
  if (!isObject(info)) {
    const isVersion3 = info === undefined && value["devEUI"] !== undefined;
    const error = isVersion3
      ? "is missing; this looks like a ChirpStack v3 event, and only v4 is supported"
      : "must be an object";
    return [rejected(`deviceInfo: ${error}`)];
  }
  if (!isChirpstackUplink(value)) return [];
  const source = parseDevice("deviceInfo.devEui", info["devEui"]);
  if (topicDevice !== undefined && "deviceId" in source && deviceKey(topicDevice) !== source.deviceId) {
    return [rejected("deviceInfo.devEui: does not match the device in the topic")];
  }
  const noCodec = "is missing; the device has no codec in ChirpStack, or its codec failed";
  const measurement = parsePayload("object", value["object"], noCodec);
  return [toReading(source, measurement, parseTime("time", value["time"] ?? undefined, now))];
}

/**
 * Versions up to 4.0 omit zeros, so a missing `fPort` may be port 0, which carries no measurement, unless something was decoded.
 * A codec that is called for an empty frame returns an empty object.
 */
function isChirpstackUplink({ fPort, object, integrationName }: JsonObject): boolean {
  if (integrationName !== undefined || fPort === 0) return false;
  if (fPort !== undefined) return true;
  return isObject(object) && Object.keys(object).length > 0;
}

/**
 * An uplink message, over MQTT or as a webhook. Join accepts, downlink events and uplinks without `f_port`, which means port 0,
 * carry no reading.
 */
export function decodeTts(value: unknown, now: Instant, topicDevice?: string): Decoded {
  if (!isObject(value)) return [rejected("must be an object")];
  const ids = value["end_device_ids"];
  if (!isObject(ids)) return [rejected("end_device_ids: must be an object")];
  const uplink = value["uplink_message"];
  if (!isObject(uplink) || (uplink["f_port"] ?? 0) === 0) return [];
  if (topicDevice !== undefined && topicDevice !== ids["device_id"]) {
    return [rejected("end_device_ids.device_id: does not match the device in the topic")];
  }
  if (value["simulated"] === true) return [rejected("simulated: simulated uplinks are not stored")];
  // The EUI identifies a device everywhere, its `device_id` only within one application.
  const idName = (ids["dev_eui"] ?? "") === "" ? "device_id" : "dev_eui";
  const noFormatter = "is missing; the device has no payload formatter, or it failed";
  const measurement = parsePayload("uplink_message.decoded_payload", uplink["decoded_payload"], noFormatter);
  const time = value["received_at"] ?? uplink["received_at"] ?? undefined;
  return [toReading(parseDevice(`end_device_ids.${idName}`, ids[idName]), measurement, parseTime("received_at", time, now))];
}

// Checks that all formats share. `name` is the name of the field, for the reason.

/** The reading, or the first error. */
function toReading(
  source: Source | Rejected,
  measurement: Measurement | Rejected,
  createdAt: Instant | Rejected,
): IncomingReading | Rejected {
  if ("rejected" in source) return source;
  if ("rejected" in measurement) return measurement;
  return typeof createdAt === "number" ? { source, createdAt, measurement } : createdAt;
}

const rejected = (reason: string): Rejected => ({ rejected: reason });

type IdCheck = (name: string, value: unknown) => Rejected | undefined;

/** In a file: every id that an object can have. */
export function idError(name: string, value: unknown): Rejected | undefined {
  if (typeof value === "string" && isPossibleId(value)) return undefined;
  if (value === undefined) return rejected(`${name}: is missing`);
  if (value === null) return rejected(`${name}: must not be null`);
  if (typeof value !== "string") return rejected(`${name}: must be a string`);
  if (value === "") return rejected(`${name}: must not be empty`);
  if (isLongerThan(value, ID_MAX_LENGTH)) return rejected(`${name}: must have at most ${ID_MAX_LENGTH} characters`);
  return rejected(`${name}: must not contain control characters or broken Unicode`);
}

/** From a sender, who may not create a device that no URL can name. */
function sentIdError(name: string, value: unknown): Rejected | undefined {
  const isDots = typeof value === "string" && isDotSegment(value);
  return isDots ? rejected(`${name}: ${NO_DOT_SEGMENT}`) : idError(name, value);
}

function parseDevice(name: string, value: unknown, checkId: IdCheck = sentIdError): { readonly deviceId: string } | Rejected {
  return checkId(name, value) ?? { deviceId: deviceKey(value as string) };
}

/** Rounded down to milliseconds; `receivedAt` where there is none. */
function parseTime(name: string, value: unknown, receivedAt: Instant): Instant | Rejected {
  if (value === undefined) return receivedAt;
  if (value === null) return rejected(`${name}: must not be null`);
  if (typeof value !== "string") return rejected(`${name}: must be a string`);
  return parseInstant(value)?.instant ?? rejected(`${name}: must be a datetime such as "2026-11-14T09:30:00Z"`);
}

/** Real payloads have three or four levels and some hundred bytes. */
const MAX_PAYLOAD_DEPTH = 32;
const MAX_PAYLOAD_BYTES = 16_384;

/** `missing`: what it means that there is no object. */
function parsePayload(name: string, value: unknown, missing?: string): { readonly payload: string } | Rejected {
  if (!isObject(value)) {
    return rejected(`${name}: ${missing ?? (value === null ? "must not be null" : "must be an object")}`);
  }
  if (isDeeperThan(MAX_PAYLOAD_DEPTH, value)) {
    return rejected(`${name}: must not be nested deeper than ${MAX_PAYLOAD_DEPTH} levels`);
  }
  const payload = JSON.stringify(value);
  const bytes = Buffer.byteLength(payload);
  if (bytes <= MAX_PAYLOAD_BYTES) return { payload };
  return rejected(`${name}: must have at most ${MAX_PAYLOAD_BYTES} bytes as JSON, this one has ${bytes}`);
}

function isDeeperThan(depth: number, value: object): boolean {
  if (depth === 0) return true;
  return Object.values(value).some((part) => typeof part === "object" && part !== null && isDeeperThan(depth - 1, part));
}
