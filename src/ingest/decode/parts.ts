// What all decoders check alike: foreign objects, the names of devices, instants and payloads. A fault is a `Rejected`, in
// the words of `domain/check.ts`.

import { deviceKey } from "../../domain/device.ts";
import { ID_MAX_LENGTH, isLongerThan, isPossibleId } from "../../domain/id.ts";
import { type Instant, parseInstant } from "../../domain/instant.ts";
import { isObject } from "../../domain/validate.ts";
import type { Rejected } from "../ingest.ts";

export const rejected = (reason: string): Rejected => ({ rejected: reason });

export function isRejected(value: object): value is Rejected {
  return "rejected" in value;
}

/** A text that can be the id of something. `name` is that of the field, for the reason. */
export function idFault(name: string, value: unknown): Rejected | undefined {
  if (typeof value === "string" && isPossibleId(value)) return undefined;
  if (value === undefined) return rejected(`${name}: is missing`);
  if (value === null) return rejected(`${name}: must not be null`);
  if (typeof value !== "string") return rejected(`${name}: must be a text`);
  if (value === "") return rejected(`${name}: must not be empty`);
  if (isLongerThan(value, ID_MAX_LENGTH)) return rejected(`${name}: must have at most ${ID_MAX_LENGTH} characters`);
  return rejected(`${name}: must not contain control characters or broken Unicode`);
}

export function deviceOf(name: string, value: unknown): { readonly deviceId: string } | Rejected {
  return idFault(name, value) ?? { deviceId: deviceKey(value as string) };
}

/** Instants are kept in milliseconds: what is finer is rounded down. Where none is given, it is that of receipt. */
export function instantOf(name: string, value: unknown, now: Instant): Instant | Rejected {
  if (value === undefined) return now;
  if (value === null) return rejected(`${name}: must not be null`);
  if (typeof value !== "string") return rejected(`${name}: must be a text`);
  return parseInstant(value)?.instant ?? rejected(`${name}: must be a datetime such as "2026-11-14T09:30:00Z"`);
}

/** Payloads of devices are three or four levels deep; one of thousands could not be handed to another thread. */
const DEEPEST = 32;
/** And they have some hundred bytes. */
const PAYLOAD_MAX_BYTES = 16_384;

/** As the text that is kept of it. */
export function payloadOf(name: string, value: unknown): { readonly payload: string } | Rejected {
  if (!isObject(value)) return rejected(value === null ? `${name}: must not be null` : `${name}: must be an object`);
  if (isDeeperThan(DEEPEST, value)) return rejected(`${name}: must not be nested deeper than ${DEEPEST} levels`);
  const payload = JSON.stringify(value);
  if (Buffer.byteLength(payload) <= PAYLOAD_MAX_BYTES) return { payload };
  return rejected(`${name}: must have at most ${PAYLOAD_MAX_BYTES} bytes as JSON, this one has ${Buffer.byteLength(payload)}`);
}

function isDeeperThan(levels: number, value: object): boolean {
  if (levels === 0) return true;
  return Object.values(value).some((part) => typeof part === "object" && part !== null && isDeeperThan(levels - 1, part));
}
