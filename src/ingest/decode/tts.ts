// The Things Stack v3: the JSON of an uplink message, by MQTT or as a webhook. Join accepts, answers to downlinks and uplinks
// without `f_port`, which carry no measurement, are not ours.

import type { Instant } from "../../domain/instant.ts";
import { isObject, type JsonObject } from "../../domain/validate.ts";
import type { IncomingReading, Rejected } from "../ingest.ts";
import { deviceOf, instantOf, isRejected, payloadOf, rejected } from "./parts.ts";

const NOT_OURS: readonly never[] = [];

/** `topicDevice` is the device id in the topic, where there was one. It says nothing of the EUI, which is believed. */
export function decodeTts(value: unknown, now: Instant, topicDevice?: string): readonly (IncomingReading | Rejected)[] {
  if (!isObject(value)) return [rejected("must be an object")];
  const ids = value["end_device_ids"];
  if (!isObject(ids)) return [rejected("end_device_ids: must be an object")];
  const uplink = value["uplink_message"];
  if (!isObject(uplink) || !isPort(uplink["f_port"])) return NOT_OURS;
  if (topicDevice !== undefined && topicDevice !== ids["device_id"]) {
    return [rejected("end_device_ids.device_id: is not the device of the topic")];
  }
  // Somebody presses a button in the console: the level is made up, and the tank is real.
  if (value["simulated"] === true) return [rejected("simulated: a simulated uplink is not stored")];
  return [arrivalOf(ids, value, uplink, now)];
}

const isPort = (port: unknown): boolean => port !== undefined && port !== null && port !== 0;

function arrivalOf(ids: JsonObject, value: JsonObject, uplink: JsonObject, now: Instant): IncomingReading | Rejected {
  const of = nameOf(ids);
  if (isRejected(of)) return of;
  if (!isObject(uplink["decoded_payload"])) {
    return rejected("uplink_message.decoded_payload: is missing; the device has no payload formatter, or it failed");
  }
  const measured = payloadOf("uplink_message.decoded_payload", uplink["decoded_payload"]);
  if (isRejected(measured)) return measured;
  const createdAt = instantOf("received_at", value["received_at"] ?? uplink["received_at"] ?? undefined, now);
  return typeof createdAt === "number" ? { source: of, createdAt, measurement: measured } : createdAt;
}

/** The EUI is a device's name wherever it goes; the `device_id` was made up for one application. */
function nameOf(ids: JsonObject): { readonly deviceId: string } | Rejected {
  const eui = ids["dev_eui"];
  return eui === undefined || eui === null || eui === ""
    ? deviceOf("end_device_ids.device_id", ids["device_id"])
    : deviceOf("end_device_ids.dev_eui", eui);
}
