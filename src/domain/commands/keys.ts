// Commands on keys. Secrets are created elsewhere; only their hashes are known here.

import { type AuditedChange, differences } from "../audit.ts";
import type { FieldError } from "../errors.ts";
import { type Instant, instantOrNull, LAST_INSTANT } from "../instant.ts";
import { type Key, keyState, MAX_RATE, ROLES, type StoredKey } from "../key.ts";
import { findOne, type Lookups } from "../lookups.ts";
import { keyFields, keyResource } from "../resource.ts";
import {
  idField,
  nullable,
  nullableInstantField,
  nullableNumber,
  object,
  oneOf,
  partial,
  type Static,
  textField,
} from "../schema.ts";
import { errorsInObject } from "../validate.ts";
import {
  type ChangeSet,
  type CommandError,
  changeSet,
  commandError,
  customerReferenceErrors,
  type IfMatch,
  invalidFields,
  isCommandError,
  type KeyChange,
  preconditionError,
} from "./command.ts";

const changeable = {
  name: textField("What the key is for", "dashboard"),
  rate: nullableNumber({ exclusiveMinimum: 0, maximum: MAX_RATE, description: "Requests a second", examples: [50] }),
  expires_at: nullableInstantField("When the key expires"),
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

export const EXPIRES_IN_PAST: FieldError = { field: "expires_at", message: "must be in the future" };

type Planned = Promise<ChangeSet | CommandError>;

export async function createKey(lookups: Lookups, key: Key, hash: string, at: Instant): Planned {
  const errors: FieldError[] = key.expires_at !== null && key.expires_at <= at ? [EXPIRES_IN_PAST] : [];
  if (key.customer_id !== null) {
    errors.push(...customerReferenceErrors("customer_id", await findOne(lookups.customers, key.customer_id)));
  }
  if (errors.length > 0) return invalidFields(errors);
  return keyChangeSet({ before: undefined, after: key, hash }, "created", at);
}

/** The successor is valid for as long as the old key was when it was created. */
export async function rotateKey(
  lookups: Lookups,
  id: string,
  overlap: number,
  newId: string,
  hash: string,
  at: Instant,
): Planned {
  const old = await loadKey(lookups, id, undefined, at);
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

export async function changeKey(lookups: Lookups, id: string, fields: unknown, ifMatch: IfMatch, at: Instant): Planned {
  const before = await loadKey(lookups, id, ifMatch, at);
  if (isCommandError(before)) return before;
  if (before.revoked_at !== null)
    return commandError("state_conflict", `Key ${id} is revoked and cannot be changed. Create a new one.`);
  const errors = errorsInObject(KeyChangeObject, fields);
  if (errors.length > 0) return invalidFields(errors);
  const { name = before.name, rate = before.rate, expires_at } = fields as Partial<Static<typeof KeyChangeObject>>;
  const after = { ...before, name, rate, expires_at: expires_at === undefined ? before.expires_at : instantOrNull(expires_at) };
  return keyChangeSet({ before, after, hash: undefined }, "changed", at);
}

export async function revokeKey(lookups: Lookups, id: string, ifMatch: IfMatch, at: Instant): Planned {
  const before = await loadKey(lookups, id, ifMatch, at);
  if (isCommandError(before)) return before;
  return keyChangeSet({ before, after: { ...before, revoked_at: before.revoked_at ?? at }, hash: undefined }, "revoked", at);
}

async function loadKey(lookups: Lookups, id: string, ifMatch: IfMatch, at: Instant): Promise<StoredKey | CommandError> {
  const key = await findOne(lookups.keys, id);
  if (key === undefined) return commandError("key_unknown", `There is no key ${id}.`);
  return preconditionError(ifMatch, keyResource(key, at)) ?? key;
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

function auditedFields(key: Key): Readonly<Record<string, unknown>> {
  const { id, object, created_at, ...fields } = keyFields(key);
  return fields;
}
