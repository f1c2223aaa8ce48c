// ChirpStack v4: the JSON of its `up` event, by MQTT or as a webhook. What else it tells of a device (join, status, ack …)
// is not ours.

import { deviceKey } from "../../domain/device.ts";
import type { Instant } from "../../domain/instant.ts";
import { isObject, type JsonObject } from "../../domain/validate.ts";
import type { IncomingReading, Rejected } from "../ingest.ts";
import { deviceOf, instantOf, isRejected, payloadOf, rejected } from "./parts.ts";

const NOT_OURS: readonly never[] = [];

/** `topicDevice` is the EUI in the topic, where there was one: whoever may publish there speaks for that device alone. */
export function decodeChirpstack(value: unknown, now: Instant, topicDevice?: string): readonly (IncomingReading | Rejected)[] {
  if (!isObject(value)) return [rejected("must be an object")];
  const info = value["deviceInfo"];
  if (!isObject(info)) return [rejected(`deviceInfo: ${withoutInfo(value)}`)];
  if (!isUplink(value)) return NOT_OURS;
  const of = deviceOf("deviceInfo.devEui", info["devEui"]);
  if (isRejected(of)) return [of];
  if (topicDevice !== undefined && deviceKey(topicDevice) !== of.deviceId) {
    return [rejected("deviceInfo.devEui: is not the device of the topic")];
  }
  if (!isObject(value["object"]))
    return [rejected("object: is missing; the device has no codec in ChirpStack, or its codec failed")];
  const measured = payloadOf("object", value["object"]);
  if (isRejected(measured)) return [measured];
  const createdAt = instantOf("time", value["time"] ?? undefined, now);
  return [typeof createdAt === "number" ? { source: of, createdAt, measurement: measured } : createdAt];
}

function withoutInfo({ deviceInfo, devEUI }: JsonObject): string {
  if (deviceInfo !== undefined || devEUI === undefined) return "must be an object";
  return "is missing; this is an event of ChirpStack v3, and v4 is expected";
}

/**
 * Senders up to 4.0 leave out what is zero, so a missing `fPort` may be port 0, which carries no measurement; but not where
 * something was decoded. A codec that is called for an empty frame gives an empty object.
 */
function isUplink({ fPort, object, integrationName }: JsonObject): boolean {
  if (integrationName !== undefined || fPort === 0) return false;
  if (fPort !== undefined) return true;
  return isObject(object) && Object.keys(object).length > 0;
}
