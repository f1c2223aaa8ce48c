// Who calls: from the key in a request to a caller with a role and a sight.

import { RequestError } from "../domain/errors.ts";
import type { Clock, Instant } from "../domain/instant.ts";
import {
  hashSecret,
  isWellFormedSecret,
  type Key,
  keyState,
  NO_ACCESS,
  type Role,
  type Scope,
  type StoredKey,
} from "../domain/key.ts";
import type { Reads } from "../domain/store.ts";

export type Caller = { readonly key: Key; readonly sight: Scope };

/** Who asks where no key is needed. */
export const NOBODY: Caller = {
  key: {
    id: "",
    name: "nobody",
    role: "read",
    customer_id: "",
    device_id: null,
    rate: null,
    created_at: 0,
    expires_at: null,
    revoked_at: null,
    replaced_by: null,
  },
  sight: NO_ACCESS,
};

/** What a route asks of a key: `open` asks for none. */
export type Reach = "open" | "read" | "ingest" | "manage";

const REACHES: Readonly<Record<Reach, readonly Role[]>> = {
  open: [],
  read: ["read", "manage"],
  ingest: ["ingest", "manage"],
  manage: ["manage"],
};

/** A key once found is believed for this long; revoking is known everywhere within a second. */
const BELIEVED_MS = 500;
const KEYS_KEPT = 10_000;

/** By the secret itself, which is in memory anyway while it is used: hashing it took longer than all else here. */
type Kept = { readonly caller: Caller; readonly known: StoredKey; readonly since: Instant };

export class KeyRing {
  readonly #reads: Pick<Reads, "keyByHash">;
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept>();

  constructor(reads: Pick<Reads, "keyByHash">, clock: Clock) {
    this.#reads = reads;
    this.#clock = clock;
  }

  /** The caller at once where the key is fresh in memory, else after asking the store. Wrong keys are never kept. */
  callerOf(secret: string): Caller | Promise<Caller> {
    const kept = this.#kept.get(secret);
    const now = this.#clock();
    // A clock that was set back believes nothing of its future.
    if (kept !== undefined && now >= kept.since && now < kept.since + BELIEVED_MS) return live(kept, now);
    if (!isWellFormedSecret(secret)) {
      throw new RequestError("key_invalid", "The value of X-API-Key is not a key: it is mistyped, cut off, or not one of ours.");
    }
    return this.#find(secret);
  }

  async #find(secret: string): Promise<Caller> {
    const known = await this.#reads.keyByHash(hashSecret(secret));
    if (known === undefined) {
      this.#kept.delete(secret);
      throw new RequestError("key_invalid", "There is no such key.");
    }
    const now = this.#clock();
    const sight = { customerId: known.role === "manage" ? null : known.customer_id };
    const kept = { known, caller: { key: known, sight }, since: now };
    if (this.#kept.size >= KEYS_KEPT) this.#kept.clear();
    this.#kept.set(secret, kept);
    return live(kept, now);
  }
}

function live(kept: Kept, now: Instant): Caller {
  switch (keyState(kept.known, now)) {
    case "active":
      return kept.caller;
    case "expired":
      throw new RequestError("key_expired", "This key has expired. Ask the operator for a new one.");
    default:
      throw new RequestError("key_revoked", "This key has been revoked. Ask the operator for a new one.");
  }
}

export function requireReach(caller: Caller, reach: Reach): void {
  const { role } = caller.key;
  if (REACHES[reach].includes(role)) return;
  throw new RequestError(
    "role_insufficient",
    `This key has the role "${role}"; here the role ${REACHES[reach].map((name) => `"${name}"`).join(" or ")} is needed.`,
  );
}
