// Keys: their secrets are made here, told once, and kept by nobody.

import type { IdempotencyKey } from "../domain/commands/command.ts";
import { EXPIRES_IN_PAST, NewKey } from "../domain/commands/keys.ts";
import type { FieldError } from "../domain/errors.ts";
import { newId } from "../domain/id.ts";
import { type Clock, type Instant, instantOrNull, parseInstant } from "../domain/instant.ts";
import { hashSecret, type Key, newSecret, UNRESTRICTED } from "../domain/key.ts";
import type { Static } from "../domain/schema.ts";
import type { Reads, Writes } from "../domain/store.ts";
import { errorsInObject, invalidBody } from "../domain/validate.ts";
import { carryOut, type Done } from "./orders.ts";

/** Null where the making of a key is replayed: its secret was told then. */
export type MadeKey = Done & { readonly secret: string | null };
type Keys = Pick<Writes, "execute"> & Pick<Reads, "customerById">;
type Given = Static<typeof NewKey>;

export async function createKey(store: Keys, clock: Clock, fields: unknown, by: string, once?: IdempotencyKey): Promise<MadeKey> {
  const now = clock();
  const errors = [...errorsInObject(NewKey, fields), ...faultsInBinding(fields)];
  // What changes with time is judged with the order, so that one that is repeated is answered as it was.
  if (errors.length > 0) throw invalidBody([...errors, ...faultsInEnd(fields, now), ...(await faultsInCustomer(store, fields))]);
  const given = fields as Given;
  const key: Key = {
    id: newId("key", now),
    name: given.name,
    role: given.role ?? "read",
    customer_id: given.customer_id ?? null,
    device_id: given.device_id ?? null,
    rate: given.rate ?? null,
    created_at: now,
    expires_at: instantOrNull(given.expires_at),
    revoked_at: null,
    replaced_by: null,
  };
  const secret = newSecret();
  const done = await carryOut(store, clock, { type: "create_key", key, hash: hashSecret(secret) }, by, once);
  return { ...done, secret: done.replayed ? null : secret };
}

/** A successor with a lifetime as long as the old key's; the old one works on for `overlap` milliseconds. */
export async function rotateKey(store: Keys, clock: Clock, id: string, overlap: number, by: string): Promise<MadeKey> {
  const secret = newSecret();
  const order = { type: "rotate_key", id, overlap, newId: newId("key", clock()), hash: hashSecret(secret) } as const;
  return { ...(await carryOut(store, clock, order, by)), secret };
}

function faultsInBinding(fields: unknown): FieldError[] {
  const { role = "read", customer_id = null, device_id = null } = (fields ?? {}) as Partial<Given>;
  const faults: FieldError[] = [];
  if (role === "manage" && customer_id !== null) {
    faults.push({ field: "customer_id", message: "is not for a key of the role manage, which sees everything" });
  }
  if (device_id !== null && (role !== "ingest" || customer_id !== null)) {
    faults.push({ field: "device_id", message: "is for a key of the role ingest alone, and then nothing else binds it" });
  }
  return faults;
}

function faultsInEnd(fields: unknown, now: Instant): FieldError[] {
  const { expires_at } = (fields ?? {}) as Partial<Given>;
  const ends = typeof expires_at === "string" ? parseInstant(expires_at)?.instant : undefined;
  return ends !== undefined && ends <= now ? [EXPIRES_IN_PAST] : [];
}

async function faultsInCustomer(store: Keys, fields: unknown): Promise<FieldError[]> {
  const { customer_id } = (fields ?? {}) as { customer_id?: unknown };
  if (typeof customer_id !== "string") return [];
  const customer = await store.customerById(customer_id, UNRESTRICTED);
  if (customer === undefined) return [{ field: "customer_id", message: "names no customer" }];
  return customer === "deleted" ? [{ field: "customer_id", message: "names a customer that is deleted" }] : [];
}
