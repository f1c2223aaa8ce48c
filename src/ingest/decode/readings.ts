// Readings in our own words, as they come over HTTP and on the topic `tanks/{device_id}/readings`. Ten thousand may come at
// once, so the check is written by hand.

import type { Instant } from "../../domain/instant.ts";
import { FILL } from "../../domain/reading.ts";
import { isObject, type JsonObject } from "../../domain/validate.ts";
import type { IncomingReading, Rejected } from "../ingest.ts";
import { BatchContext } from "./delivery.ts";
import { deviceOf, idFault, instantOf, isRejected, payloadOf, rejected } from "./parts.ts";

/** In one message, or one request. */
export const MAX_READINGS = 10_000;

const MEASURED = ["fill_percentage", "payload", "created_at"];
const MEASURED_SET = new Set(MEASURED);
const NAMED = ["tank_id", "device_id", ...MEASURED];
const NAMED_SET = new Set(NAMED);

/** One reading that names its tank or its device. */
export function decodeIncomingReading(item: unknown, delivery: BatchContext): IncomingReading | Rejected {
  if (!isObject(item)) return rejected("must be an object");
  const fault = unknownField(item, NAMED_SET, NAMED, delivery);
  if (fault !== undefined) return fault;
  const of = ownerOf(item["tank_id"], item["device_id"]);
  return isRejected(of) ? of : arrivalOf(of, item, delivery);
}

/** The readings of one device, which is not named in them: one, or a list. */
export function decodeDeviceReadings(deviceId: string, value: unknown, now: Instant): (IncomingReading | Rejected)[] {
  const of = deviceOf("device_id", deviceId);
  if (isRejected(of)) return [of];
  const delivery = new BatchContext(now);
  if (!Array.isArray(value)) return [ofDevice(of, value, delivery)];
  if (value.length > MAX_READINGS) {
    return [rejected(`a message must have at most ${MAX_READINGS} readings, this one has ${value.length}`)];
  }
  return value.map((item) => ofDevice(of, item, delivery));
}

function ofDevice(of: { readonly deviceId: string }, item: unknown, delivery: BatchContext): IncomingReading | Rejected {
  if (!isObject(item)) return rejected("must be an object");
  return unknownField(item, MEASURED_SET, MEASURED, delivery) ?? arrivalOf(of, item, delivery);
}

function unknownField(
  item: JsonObject,
  known: ReadonlySet<string>,
  names: readonly string[],
  delivery: BatchContext,
): Rejected | undefined {
  for (const name in item) {
    if (!known.has(name)) return rejected(delivery.unknownField(name, item, names));
  }
  return undefined;
}

function ownerOf(tankId: unknown, deviceId: unknown): IncomingReading["source"] | Rejected {
  if (tankId === undefined) {
    return deviceId === undefined ? rejected("tank_id or device_id: one of them is needed") : deviceOf("device_id", deviceId);
  }
  if (deviceId !== undefined) return rejected("tank_id and device_id: only one of them may be given");
  return idFault("tank_id", tankId) ?? { tankId: tankId as string };
}

function arrivalOf(of: IncomingReading["source"], item: JsonObject, delivery: BatchContext): IncomingReading | Rejected {
  const measured = measuredOf(of, item["fill_percentage"], item["payload"]);
  if (isRejected(measured)) return measured;
  const createdAt = instantOf("created_at", item["created_at"], delivery.at);
  if (item["created_at"] === undefined && delivery.isUndatedAgain(of)) {
    return rejected("created_at: is needed where several readings of one tank or device come together");
  }
  return typeof createdAt === "number" ? { source: of, createdAt, measurement: measured } : createdAt;
}

function measuredOf(of: IncomingReading["source"], fill: unknown, payload: unknown): IncomingReading["measurement"] | Rejected {
  if (fill === undefined) {
    if (payload === undefined) return rejected("fill_percentage or payload: one of them is needed");
    if ("tankId" in of) return rejected("payload: is read as its device's profile says, so it needs device_id");
    return payloadOf("payload", payload);
  }
  if (payload !== undefined) return rejected("fill_percentage and payload: only one of them may be given");
  if (fill === null) return rejected("fill_percentage: must not be null");
  if (typeof fill !== "number" || !Number.isFinite(fill)) return rejected("fill_percentage: must be a number");
  if (fill < FILL.minimum || fill > FILL.maximum) {
    return rejected(`fill_percentage: must be from ${FILL.minimum} to ${FILL.maximum}`);
  }
  // Adding 0 turns -0 into 0, which is how it would be read back.
  return { fill: fill + 0 };
}
