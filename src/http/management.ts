// What an operator does, over HTTP or from the command line. The one place where commands are executed and a CommandError
// becomes a RequestError.

import { type Command, type IdempotencyKey, isCommandError } from "../domain/commands/command.ts";
import { EXPIRES_IN_PAST, NewKey } from "../domain/commands/keys.ts";
import { type FieldError, RequestError } from "../domain/errors.ts";
import { newId } from "../domain/id.ts";
import { type Clock, type Instant, instantOrNull, parseInstant } from "../domain/instant.ts";
import { hashSecret, type Key, newSecret, UNRESTRICTED } from "../domain/key.ts";
import type { ManagementReads } from "../domain/management-reads.ts";
import type { Resource } from "../domain/resource.ts";
import type { Static } from "../domain/schema.ts";
import type { Reads, Writes } from "../domain/store.ts";
import { errorsInObject, invalidBody } from "../domain/validate.ts";

type ManagementStore = ManagementReads & Pick<Writes, "execute"> & Pick<Reads, "customerById">;
type KeyFields = Static<typeof NewKey>;

/** `replayed`: an earlier request with the same idempotency key has done it. */
export type Executed = { readonly resource: Resource; readonly replayed: boolean };
/** The secret is shown once: null where the creation is replayed. */
export type CreatedKey = Executed & { readonly secret: string | null };

/** `by`: the id of the key that the audit log names. */
export class ManagementService {
  readonly clock: Clock;
  readonly reads: ManagementReads;
  readonly #store: ManagementStore;

  constructor(store: ManagementStore, clock: Clock) {
    this.clock = clock;
    this.reads = store;
    this.#store = store;
  }

  newId(prefix: "cus" | "tank"): string {
    return newId(prefix, this.clock());
  }

  async execute(command: Command, by: string, idempotencyKey?: IdempotencyKey): Promise<Executed> {
    const result = await this.#store.execute(command, { by, at: this.clock() }, idempotencyKey);
    if (!isCommandError(result)) return result;
    throw new RequestError(result.error, result.detail, result.errors === undefined ? {} : { errors: result.errors });
  }

  async createKey(fields: unknown, by: string, idempotencyKey?: IdempotencyKey): Promise<CreatedKey> {
    const now = this.clock();
    const errors = [...errorsInObject(NewKey, fields), ...bindingErrors(fields)];
    // What depends on the time or the store is otherwise checked by the command, so that a replay gets its first response.
    if (errors.length > 0) {
      throw invalidBody([...errors, ...expiryErrors(fields, now), ...(await this.#customerErrors(fields))]);
    }
    const given = fields as KeyFields;
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
    const executed = await this.execute({ type: "create_key", key, hash: hashSecret(secret) }, by, idempotencyKey);
    return { ...executed, secret: executed.replayed ? null : secret };
  }

  /** The new key lives as long as the old one did; the old one works for `overlap` more milliseconds. */
  async rotateKey(id: string, overlap: number, by: string): Promise<CreatedKey> {
    const secret = newSecret();
    const command = { type: "rotate_key", id, overlap, newId: newId("key", this.clock()), hash: hashSecret(secret) } as const;
    return { ...(await this.execute(command, by)), secret };
  }

  async #customerErrors(fields: unknown): Promise<FieldError[]> {
    const { customer_id } = (fields ?? {}) as { customer_id?: unknown };
    if (typeof customer_id !== "string") return [];
    const customer = await this.#store.customerById(customer_id, UNRESTRICTED);
    if (customer === undefined) return [{ field: "customer_id", message: "no such customer" }];
    return customer === "deleted" ? [{ field: "customer_id", message: "this customer is deleted" }] : [];
  }
}

function bindingErrors(fields: unknown): FieldError[] {
  const { role = "read", customer_id = null, device_id = null } = (fields ?? {}) as Partial<KeyFields>;
  const errors: FieldError[] = [];
  if (role === "manage" && customer_id !== null) {
    errors.push({ field: "customer_id", message: "is not allowed for a key with the role manage, which sees everything" });
  }
  if (device_id !== null && (role !== "ingest" || customer_id !== null)) {
    errors.push({ field: "device_id", message: "is only for a key with the role ingest and without customer_id" });
  }
  return errors;
}

function expiryErrors(fields: unknown, now: Instant): FieldError[] {
  const { expires_at } = (fields ?? {}) as Partial<KeyFields>;
  const expiry = typeof expires_at === "string" ? parseInstant(expires_at)?.instant : undefined;
  return expiry !== undefined && expiry <= now ? [EXPIRES_IN_PAST] : [];
}
