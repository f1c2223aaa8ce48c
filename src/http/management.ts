// What an operator does, over HTTP or from the command line. The one place where commands are executed and a CommandError
// becomes a RequestError.

import { type Command, type IdempotencyKey, isCommandError } from "../domain/commands/command.ts";
import { RequestError } from "../domain/errors.ts";
import { newId } from "../domain/id.ts";
import type { Clock } from "../domain/instant.ts";
import { hashSecret, newSecret } from "../domain/key.ts";
import type { ManagementReads } from "../domain/management-reads.ts";
import type { Resource } from "../domain/resource.ts";
import type { Writes } from "../domain/store.ts";

type ManagementStore = ManagementReads & Pick<Writes, "execute">;

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
    const secret = newSecret();
    const command = { type: "create_key", newId: newId("key", this.clock()), fields, hash: hashSecret(secret) } as const;
    const executed = await this.execute(command, by, idempotencyKey);
    return { ...executed, secret: executed.replayed ? null : secret };
  }

  /** The new key lives as long as the old one did; the old one works for `overlap` more milliseconds. */
  async rotateKey(id: string, overlap: number, by: string): Promise<CreatedKey> {
    const secret = newSecret();
    const command = { type: "rotate_key", id, overlap, newId: newId("key", this.clock()), hash: hashSecret(secret) } as const;
    return { ...(await this.execute(command, by)), secret };
  }
}
