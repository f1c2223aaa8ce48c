// The Things Stack v3: the JSON of an uplink message, over MQTT or as a webhook. Join accepts, downlink events and uplinks
// without `f_port` carry no reading.

import type { Instant } from "../../domain/instant.ts";
import { isObject, type JsonObject } from "../../domain/validate.ts";
import type { IncomingReading, Rejected } from "../ingest.ts";
import { isRejected, parseDevice, parsePayload, parseTime, rejected } from "./readings.ts";

/** `topicDevice` is the `device_id` in the topic. Empty where there is no reading. */
export function decodeTts(value: unknown, now: Instant, topicDevice?: string): readonly (IncomingReading | Rejected)[] {
  if (!isObject(value)) return [rejected("must be an object")];
  const ids = value["end_device_ids"];
  if (!isObject(ids)) return [rejected("end_device_ids: must be an object")];
  const uplink = value["uplink_message"];
  // An omitted port is port 0, which carries no measurement.
  if (!isObject(uplink) || (uplink["f_port"] ?? 0) === 0) return [];
  if (topicDevice !== undefined && topicDevice !== ids["device_id"]) {
    return [rejected("end_device_ids.device_id: does not match the device in the topic")];
  }
  if (value["simulated"] === true) return [rejected("simulated: simulated uplinks are not stored")];
  return [decodeUplink(value, ids, uplink, now)];
}

function decodeUplink(value: JsonObject, ids: JsonObject, uplink: JsonObject, now: Instant): IncomingReading | Rejected {
  const source = parseIds(ids);
  if (isRejected(source)) return source;
  if (!isObject(uplink["decoded_payload"])) {
    return rejected("uplink_message.decoded_payload: is missing; the device has no payload formatter, or it failed");
  }
  const measurement = parsePayload("uplink_message.decoded_payload", uplink["decoded_payload"]);
  if (isRejected(measurement)) return measurement;
  const createdAt = parseTime("received_at", value["received_at"] ?? uplink["received_at"] ?? undefined, now);
  return typeof createdAt === "number" ? { source, createdAt, measurement } : createdAt;
}

/** The EUI identifies a device everywhere, its `device_id` only within one application. */
function parseIds({ dev_eui, device_id }: JsonObject): { readonly deviceId: string } | Rejected {
  return dev_eui === undefined || dev_eui === null || dev_eui === ""
    ? parseDevice("end_device_ids.device_id", device_id)
    : parseDevice("end_device_ids.dev_eui", dev_eui);
}
