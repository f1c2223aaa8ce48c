// Lines of newline-delimited JSON: the objects of the interface, and readings that name their device as they do at every
// other door.

import { isObject } from "../domain/faults.ts";
import { type DecodedRecord, decodeRecord } from "../domain/record.ts";
import type { Arrival } from "./arrival.ts";
import { ownReading } from "./decode/own.ts";

export type DecodedLine = DecodedRecord | { readonly kind: "arrival"; readonly record: Arrival };

export function decodeLine(text: string): DecodedLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return rejected(`the line is not valid JSON: ${(error as Error).message.replace(/\p{Cc}/gu, "\ufffd")}`);
  }
  if (!isObject(value) || value["object"] !== "telemetry" || !Object.hasOwn(value, "device_id")) return decodeRecord(value);
  const { object: _telemetry, ...reading } = value;
  // A file is read long after what it tells of.
  if (reading["created_at"] === undefined) return rejected("created_at: is missing");
  const record = ownReading(reading, 0);
  return "rejected" in record ? rejected(record.rejected) : { kind: "arrival", record };
}

const rejected = (reason: string): DecodedLine => ({ kind: "rejected", reason });
