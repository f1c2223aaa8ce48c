// Lines of newline-delimited JSON: the objects of the interface, and readings that name their device as they do at every
// other door.

import { type DecodedRecord, decodeRecord } from "../domain/record.ts";
import { isObject } from "../domain/validate.ts";
import { BatchContext } from "./decode/delivery.ts";
import { idFault } from "./decode/parts.ts";
import { decodeIncomingReading } from "./decode/readings.ts";
import type { IncomingReading } from "./ingest.ts";

/** A reading that names its device, and the customer its sender was bound to, whose tanks alone it may go to. */
export type BoundArrival = { readonly arrival: IncomingReading; readonly customerId: string | null };
export type DecodedLine = DecodedRecord | { readonly kind: "arrival"; readonly record: BoundArrival };

export function decodeLine(text: string): DecodedLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return rejected(`the line is not valid JSON: ${(error as Error).message.replace(/\p{Cc}/gu, "\ufffd")}`);
  }
  if (!isObject(value) || value["object"] !== "telemetry" || !Object.hasOwn(value, "device_id")) return decodeRecord(value);
  const { object: _telemetry, customer_id = null, ...reading } = value;
  const fault = customer_id === null ? undefined : idFault("customer_id", customer_id);
  if (fault !== undefined) return rejected(fault.rejected);
  // A file is read long after what it tells of.
  if (reading["created_at"] === undefined) return rejected("created_at: is missing");
  const arrival = decodeIncomingReading(reading, new BatchContext(0));
  if ("rejected" in arrival) return rejected(arrival.rejected);
  return { kind: "arrival", record: { arrival, customerId: customer_id as string | null } };
}

const rejected = (reason: string): DecodedLine => ({ kind: "rejected", reason });
