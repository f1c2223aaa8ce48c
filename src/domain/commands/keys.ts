// Orders about keys. Their secrets are not known here, only what is kept of them.

import { type AuditedChange, differences } from "../audit.ts";
import type { FieldError } from "../errors.ts";
import { askFor, type Inquiry } from "../inquiry.ts";
import { type Instant, instantOrNull, LAST_INSTANT } from "../instant.ts";
import { type Key, keyState, MAX_RATE, ROLES, type StoredKey } from "../key.ts";
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
  type CommandError,
  changeSet,
  commandError,
  type IfMatch,
  invalidFields,
  isCommandError,
  type KeyChange,
  type Planning,
  preconditionError,
} from "./command.ts";

const changeable = {
  name: textField("What the key is for", "dashboard"),
  rate: nullableNumber({ exclusiveMinimum: 0, maximum: MAX_RATE, description: "Requests a second", examples: [50] }),
  expires_at: nullableInstantField("When the key ends"),
};
const boundTo = (description: string, example: string) => nullable(idField(description, example));

export const KeyChangeObject = partial({ properties: changeable }, { description: "What is to change; the rest stays" });
export const NewKey = object(
  {
    ...changeable,
    role: oneOf(ROLES, { description: "What the key may do", default: "read", examples: ["ingest"] }),
    customer_id: boundTo("The one customer the key sees", "cus_01kxa8w5s0v3m4q9t7r2n6c8d1"),
    device_id: boundTo("The one device an ingest key sends for", "a84041c2f1827d3e"),
  },
  { description: "A key to be made" },
  ["rate", "expires_at", "role", "customer_id", "device_id"],
);

export const EXPIRES_IN_PAST: FieldError = { field: "expires_at", message: "must be in the future" };

export function* createKey(key: Key, hash: string, at: Instant): Planning {
  const faults: FieldError[] = key.expires_at !== null && key.expires_at <= at ? [EXPIRES_IN_PAST] : [];
  if (key.customer_id !== null) {
    const customer = yield* askFor("customers", key.customer_id);
    const message = customer === undefined ? "names no customer" : "names a customer that is deleted";
    if (customer?.deleted !== false) faults.push({ field: "customer_id", message });
  }
  if (faults.length > 0) return invalidFields(faults);
  return keyChangeSet({ before: undefined, after: key, hash }, "created", at);
}

/** The successor has a lifetime as long as the old key's. */
export function* rotateKey(id: string, overlap: number, newId: string, hash: string, at: Instant): Planning {
  const old = yield* loadKey(id, undefined, at);
  if (isCommandError(old)) return old;
  const state = keyState(old, at);
  if (state !== "active") return commandError("state_conflict", `Key ${id} cannot be rotated: it is ${state}.`);
  if (old.replaced_by !== null) {
    return commandError("state_conflict", `Key ${id} was rotated already; its successor is ${old.replaced_by}.`);
  }
  const { customer_deleted: _, ...kept } = old;
  const expires_at = old.expires_at === null ? null : Math.min(at + (old.expires_at - old.created_at), LAST_INSTANT);
  const successor: Key = { ...kept, id: newId, created_at: at, expires_at };
  const ends = Math.min(at + overlap, old.expires_at ?? Number.POSITIVE_INFINITY);
  const ended = { before: old, after: { ...kept, expires_at: ends, replaced_by: newId }, hash: undefined };
  const made = keyChangeSet({ before: undefined, after: successor, hash }, "created", at);
  return { ...made, keys: [...made.keys, ended], audit: [auditOf(ended, "rotated"), ...made.audit] };
}

export function* changeKey(id: string, fields: unknown, ifMatch: IfMatch, at: Instant): Planning {
  const before = yield* loadKey(id, ifMatch, at);
  if (isCommandError(before)) return before;
  if (before.revoked_at !== null) return commandError("state_conflict", `Key ${id} is revoked, and stays so. Make a new one.`);
  const errors = errorsInObject(KeyChangeObject, fields);
  if (errors.length > 0) return invalidFields(errors);
  const { name = before.name, rate = before.rate, expires_at } = fields as Partial<Static<typeof KeyChangeObject>>;
  const ends = expires_at === undefined ? before.expires_at : instantOrNull(expires_at);
  return keyChangeSet({ before, after: { ...before, name, rate, expires_at: ends }, hash: undefined }, "changed", at);
}

export function* revokeKey(id: string, ifMatch: IfMatch, at: Instant): Planning {
  const before = yield* loadKey(id, ifMatch, at);
  if (isCommandError(before)) return before;
  return keyChangeSet({ before, after: { ...before, revoked_at: before.revoked_at ?? at }, hash: undefined }, "revoked", at);
}

function* loadKey(id: string, ifMatch: IfMatch, at: Instant): Inquiry<StoredKey | CommandError> {
  const key = yield* askFor("keys", id);
  if (key === undefined) return commandError("key_unknown", `There is no key ${id}.`);
  return preconditionError(ifMatch, keyResource(key, at)) ?? key;
}

function keyChangeSet(change: KeyChange, action: AuditedChange["action"], at: Instant) {
  const deed = auditOf(change, action);
  const isChanged = change.before === undefined || Object.keys(deed.changes).length > 0;
  const customer_deleted = (change.before as StoredKey | undefined)?.customer_deleted ?? false;
  const shown = keyResource({ ...change.after, customer_deleted }, at);
  return changeSet(shown, isChanged ? { keys: [change], audit: [deed] } : {});
}

function auditOf({ before, after }: KeyChange, action: AuditedChange["action"]): AuditedChange {
  const { id: _id, object: _object, created_at: _created, ...now } = keyFields(after) as Record<string, unknown>;
  const {
    id: _was,
    object: _of,
    created_at: _made,
    ...was
  } = before === undefined ? {} : (keyFields(before) as Record<string, unknown>);
  return { object: "key", id: after.id, action, changes: differences(was, now) };
}
