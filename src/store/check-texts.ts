// The check of what is kept as JSON: shapes, profiles, payloads that wait, and the changes of the audit log. Nothing of it can
// be derived. The same on every engine.

import { displayInstant } from "../domain/instant.ts";
import { errorsInProfile } from "../domain/profile.ts";
import { errorsInShape } from "../domain/shape.ts";
import { isObject } from "../domain/validate.ts";
import type { Fault } from "./series/fault.ts";

const told = (what: string): Fault[] => [{ isDerived: false, what }];

/** Undefined where the text is none. */
function read(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

export function shapeFaults(shape: string | null): Fault[] {
  if (shape === null) return [];
  const found = read(shape);
  if (found === undefined) return told("its shape cannot be read: set it again");
  const [fault] = errorsInShape(found.value);
  return fault === undefined ? [] : told(`${fault.field}: ${fault.message}; set its shape again`);
}

export function profileFaults(profile: string | null): Fault[] {
  if (profile === null) return [];
  const found = read(profile);
  if (found === undefined) return told("its profile cannot be read: set it again");
  const [fault] = errorsInProfile(found.value);
  return fault === undefined ? [] : told(`${fault.field}: ${fault.message}; set its profile again`);
}

/** Of a reading that waits. */
export function waitingFault(created_at: number, fill: number | null, payload: string | null): string | undefined {
  if (payload === null && fill !== null) return undefined;
  if (payload !== null && isObject(read(payload)?.value)) return undefined;
  const what = payload === null ? "has neither a fill nor a payload" : "has a payload that cannot be read";
  return `its reading of ${displayInstant(created_at)}, which waits, ${what}: restore a backup, or delete the device and what waits of it`;
}

export function isReadableChange(changes: string): boolean {
  return isObject(read(changes)?.value);
}

/** `unreadable` are the numbers of the first few entries that cannot be read. */
export function auditFaults(count: number, first: number, last: number, unreadable: readonly number[]): Fault[] {
  const isWhole = first === 1 && last === count;
  return [
    ...(isWhole ? [] : told(`there are ${count} entries, numbered from ${first} to ${last}: some are missing`)),
    ...(unreadable.length === 0 ? [] : told(`the changes of entry ${unreadable.join(", ")} cannot be read: restore a backup`)),
  ];
}
