// Objects that were not found, or are deleted.

import type { ObjectKind } from "../../domain/commands/command.ts";
import { RequestError } from "../../domain/errors.ts";
import { literal, object, type Schema } from "../../domain/schema.ts";
import type { Found } from "../../domain/store.ts";

/** Throws if the object was not found. */
export function requireFound<T>(kind: ObjectKind, object: T | undefined): T {
  if (object === undefined) throw new RequestError(`${kind}_unknown`, `There is no ${kind} with this id.`);
  return object;
}

/** The detail for a request for the readings of a deleted tank. */
export const NO_LONGER_AVAILABLE = "This tank has been deleted; its telemetry is no longer available.";

/** What was found for a tank that exists. Throws if the tank is unknown or deleted. */
export function requireTank<T>(result: Found<T>, deleted = "This tank has been deleted."): T {
  if (result === "deleted") throw new RequestError("tank_deleted", deleted);
  return requireFound("tank", result) as T;
}

/** What remains of a deleted object. */
export const deletedSchema = (name: "customer" | "tank" | "session" | "user" | "channel", id: Schema<string>) =>
  object(
    { id: { ...id, description: `Identifier of the deleted ${name}` }, object: literal(name), deleted: literal(true) },
    { description: `A deleted ${name}` },
  );
