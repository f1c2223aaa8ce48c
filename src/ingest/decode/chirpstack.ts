// ChirpStack v4: the JSON of an `up` event, over MQTT or as a webhook. Other events (join, status, ack …) carry no reading.

import { deviceKey } from "../../domain/id.ts";
import type { Instant } from "../../domain/instant.ts";
import { isObject, type JsonObject } from "../../domain/validate.ts";
import type { IncomingReading, Rejected } from "../ingest.ts";
import { isRejected, parseDevice, parsePayload, parseTime, rejected } from "./readings.ts";

/** `topicDevice` is the EUI in the topic: whoever may publish there sends for that device only. Empty where there is no reading. */
export function decodeChirpstack(value: unknown, now: Instant, topicDevice?: string): readonly (IncomingReading | Rejected)[] {
  if (!isObject(value)) return [rejected("must be an object")];
  const info = value["deviceInfo"];
  if (!isObject(info)) return [missingDeviceInfo(value)];
  return isUplink(value) ? [decodeUplink(value, info, now, topicDevice)] : [];
}

function missingDeviceInfo({ deviceInfo, devEUI }: JsonObject): Rejected {
  if (deviceInfo !== undefined || devEUI === undefined) return rejected("deviceInfo: must be an object");
  return rejected("deviceInfo: is missing; this looks like a ChirpStack v3 event, and only v4 is supported");
}

/**
 * Versions up to 4.0 omit zeros, so a missing `fPort` may be port 0, which carries no measurement, unless something was decoded.
 * A codec that is called for an empty frame returns an empty object.
 */
function isUplink({ fPort, object, integrationName }: JsonObject): boolean {
  if (integrationName !== undefined || fPort === 0) return false;
  if (fPort !== undefined) return true;
  return isObject(object) && Object.keys(object).length > 0;
}

function decodeUplink(value: JsonObject, info: JsonObject, now: Instant, topicDevice?: string): IncomingReading | Rejected {
  const source = parseDevice("deviceInfo.devEui", info["devEui"]);
  if (isRejected(source)) return source;
  if (topicDevice !== undefined && deviceKey(topicDevice) !== source.deviceId) {
    return rejected("deviceInfo.devEui: does not match the device in the topic");
  }
  if (!isObject(value["object"])) {
    return rejected("object: is missing; the device has no codec in ChirpStack, or its codec failed");
  }
  const measurement = parsePayload("object", value["object"]);
  if (isRejected(measurement)) return measurement;
  const createdAt = parseTime("time", value["time"] ?? undefined, now);
  return typeof createdAt === "number" ? { source, createdAt, measurement } : createdAt;
}
