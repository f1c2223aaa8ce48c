// Commands on keys. Secrets are created elsewhere; only their hashes are known here.

import { type AuditedChange, type AuditedFields, differences } from "../audit.ts";
import type { FieldError } from "../errors.ts";
import { type Instant, instantOrNull, LAST_INSTANT, parseInstant } from "../instant.ts";
import { KEY_DEFAULTS, type Key, keyState, MAX_RATE, MIN_RATE, ROLES, type StoredKey } from "../key.ts";
import { findOne, type Lookups } from "../lookups.ts";
import { keyFields, keyResource } from "../resource.ts";
import { idField, instantField, nullable, number, object, oneOf, partial, type Static, textField } from "../schema.ts";
import { errorsInObject } from "../validate.ts";
import {
  type ChangeSet,
  type Commands,
  changeSet,
  commandError,
  customerReferenceErrors,
  existing,
  type IfMatch,
  invalidFields,
  isCommandError,
  type KeyChange,
  type PlanResult,
} from "./command.ts";

const changeable = {
  name: textField("What the key is for", "dashboard"),
  rate: nullable(number({ minimum: MIN_RATE, maximum: MAX_RATE, description: "Requests a second", examples: [50] })),
  expires_at: nullable(instantField("When the key expires")),
};

export const KeyChangeObject = partial({ properties: changeable }, { description: "The fields to change" });
export const NewKey = object(
  {
    ...changeable,
    role: oneOf(ROLES, { description: "What the key may do", default: "read", examples: ["ingest"] }),
    customer_id: nullable(idField("The only customer the key can see", "cus_01kxa8w5s0v3m4q9t7r2n6c8d1")),
    device_id: nullable(idField("The only device an ingest key can send for", "a84041c2f1827d3e")),
  },
  { description: "A key to create" },
  ["rate", "expires_at", "role", "customer_id", "device_id"],
);

type KeyInput = Static<typeof NewKey>;

export async function createKey(lookups: Lookups, { newId, fields, hash }: Commands["create_key"], at: Instant): PlanResult {
  const errors = [...errorsInObject(NewKey, fields), ...bindingErrors(fields), ...expiryErrors(fields, at)];
  const { customer_id } = (fields ?? {}) as { customer_id?: unknown };
  if (typeof customer_id === "string") {
    errors.push(...customerReferenceErrors("customer_id", await findOne(lookups.customers, customer_id)));
  }
  if (errors.length > 0) return invalidFields(errors);
  const input = fields as KeyInput;
  const key = { ...KEY_DEFAULTS, ...input, id: newId, created_at: at, expires_at: instantOrNull(input.expires_at) };
  return keyChangeSet({ before: undefined, after: key, hash }, "created", at);
}

function bindingErrors(fields: unknown): FieldError[] {
  const { role = "read", customer_id = null, device_id = null } = (fields ?? {}) as Partial<KeyInput>;
  const errors: FieldError[] = [];
  if (customer_id !== null && (role === "manage" || role === "metrics")) {
    const sees = role === "manage" ? "everything" : "no customer";
    errors.push({ field: "customer_id", message: `is not allowed for a key with the role ${role}, which sees ${sees}` });
  }
  if (device_id !== null && (role !== "ingest" || customer_id !== null)) {
    errors.push({ field: "device_id", message: "is only for a key with the role ingest and without customer_id" });
  }
  return errors;
}

function expiryErrors(fields: unknown, now: Instant): FieldError[] {
  const { expires_at } = (fields ?? {}) as { expires_at?: unknown };
  const expiry = typeof expires_at === "string" ? parseInstant(expires_at)?.instant : undefined;
  return expiry !== undefined && expiry <= now ? [{ field: "expires_at", message: "must be in the future" }] : [];
}

/** The successor is valid for as long as the old key was when it was created. */
export async function rotateKey(lookups: Lookups, command: Commands["rotate_key"], at: Instant): PlanResult {
  const { id, overlap, newId, hash } = command;
  const old = await existingKey(lookups, id, undefined, at);
  if (isCommandError(old)) return old;
  const state = keyState(old, at);
  if (state !== "active") return commandError("state_conflict", `Key ${id} cannot be rotated: it is ${state}.`);
  if (old.replaced_by !== null) {
    return commandError("state_conflict", `Key ${id} was rotated already; its successor is ${old.replaced_by}.`);
  }
  const { customer_deleted: _, ...key } = old;
  const expires_at = old.expires_at === null ? null : Math.min(at + (old.expires_at - old.created_at), LAST_INSTANT);
  const successor: Key = { ...key, id: newId, created_at: at, expires_at };
  const endsAt = Math.min(at + overlap, old.expires_at ?? Number.POSITIVE_INFINITY);
  const replaced = { before: old, after: { ...key, expires_at: endsAt, replaced_by: newId }, hash: undefined };
  const created = keyChangeSet({ before: undefined, after: successor, hash }, "created", at);
  return { ...created, keys: [...created.keys, replaced], audit: [auditOf(replaced, "rotated"), ...created.audit] };
}

export async function changeKey(lookups: Lookups, { id, fields, ifMatch }: Commands["change_key"], at: Instant): PlanResult {
  const before = await existingKey(lookups, id, ifMatch, at);
  if (isCommandError(before)) return before;
  if (before.revoked_at !== null)
    return commandError("state_conflict", `Key ${id} is revoked and cannot be changed. Create a new one.`);
  const errors = errorsInObject(KeyChangeObject, fields);
  if (errors.length > 0) return invalidFields(errors);
  const { name = before.name, rate = before.rate, expires_at } = fields as Partial<Static<typeof KeyChangeObject>>;
  const after = { ...before, name, rate, expires_at: expires_at === undefined ? before.expires_at : instantOrNull(expires_at) };
  return keyChangeSet({ before, after, hash: undefined }, "changed", at);
}

export async function revokeKey(lookups: Lookups, { id, ifMatch }: Commands["revoke_key"], at: Instant): PlanResult {
  const before = await existingKey(lookups, id, ifMatch, at);
  if (isCommandError(before)) return before;
  return keyChangeSet({ before, after: { ...before, revoked_at: before.revoked_at ?? at }, hash: undefined }, "revoked", at);
}

async function existingKey(lookups: Lookups, id: string, ifMatch: IfMatch, at: Instant) {
  return existing("key", await findOne(lookups.keys, id), ifMatch, (key) => keyResource(key, at));
}

function keyChangeSet(change: KeyChange, action: AuditedChange["action"], at: Instant): ChangeSet {
  const entry = auditOf(change, action);
  const isChanged = change.before === undefined || Object.keys(entry.changes).length > 0;
  const customer_deleted = (change.before as StoredKey | undefined)?.customer_deleted ?? false;
  const resource = keyResource({ ...change.after, customer_deleted }, at);
  return changeSet(resource, isChanged ? { keys: [change], audit: [entry] } : {});
}

function auditOf({ before, after }: KeyChange, action: AuditedChange["action"]): AuditedChange {
  const changes = differences(before === undefined ? {} : auditedFields(before), auditedFields(after));
  return { object: "key", id: after.id, action, changes };
}

function auditedFields(key: Key): AuditedFields {
  const { id, object, created_at, ...fields } = keyFields(key);
  return fields;
}
