// Rate limits: a token bucket a key, and one for each address that keeps sending wrong keys.

import type { Clock, Instant } from "../domain/instant.ts";

/** Two kinds, so that a flood of addresses drives no key's bucket out. */
type BucketKind = "key" | "address";

/** Where the buckets are kept: in this process, or in one that several of them ask. */
export type Limits = {
  /** Takes one token if there is one, and gives what is left: below zero where there was none. */
  readonly take: (kind: BucketKind, name: string, rate: number, burst: number) => number | Promise<number>;
};

/** Buckets in this process's memory. */
export function localLimits(clock: Clock): { readonly take: (...ask: Parameters<Limits["take"]>) => number } {
  const buckets: Readonly<Record<BucketKind, Buckets>> = { key: new Buckets(100_000), address: new Buckets(10_000) };
  return { take: (kind, name, rate, burst) => buckets[kind].take(name, rate, burst, clock()) };
}

type Bucket = { tokens: number; at: Instant };

class Buckets {
  readonly #buckets = new Map<string, Bucket>();
  readonly #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  take(name: string, rate: number, burst: number, now: Instant): number {
    const bucket = this.#bucket(name, burst, now);
    const elapsed = Math.max(0, now - bucket.at);
    bucket.tokens = Math.min(burst, bucket.tokens + (elapsed / 1000) * rate);
    bucket.at = now;
    if (bucket.tokens < 1) return bucket.tokens - 1;
    bucket.tokens -= 1;
    return bucket.tokens;
  }

  #bucket(name: string, burst: number, now: Instant): Bucket {
    const known = this.#buckets.get(name);
    if (known !== undefined) return known;
    // Bounded: the oldest goes. A bucket made anew is full, so forgetting one is never unjust to its owner.
    if (this.#buckets.size >= this.#capacity) this.#buckets.delete(this.#buckets.keys().next().value ?? "");
    const bucket = { tokens: burst, at: now };
    this.#buckets.set(name, bucket);
    return bucket;
  }
}

/** A bucket holds two seconds' worth of requests. */
const BURST_SECONDS = 2;

export type Taken = { readonly allowed: boolean; readonly retryAfter: number; readonly headers: Record<string, string> };

export class KeyLimits {
  readonly #limits: Limits;
  readonly #customerRate: number;

  constructor(limits: Limits, customerRate: number) {
    this.#limits = limits;
    this.#customerRate = customerRate;
  }

  /** undefined: this key has no limit. */
  take(key: { id: string; customer_id: string | null; rate: number | null }): Taken | Promise<Taken> | undefined {
    if (this.#customerRate === 0) return undefined;
    const rate = key.rate ?? (key.customer_id === null ? undefined : this.#customerRate);
    if (rate === undefined) return undefined;
    const burst = Math.ceil(rate * BURST_SECONDS);
    return andThen(this.#limits.take("key", key.id, rate, burst), (left) => taken(left, rate, burst));
  }
}

function taken(left: number, rate: number, burst: number): Taken {
  const remaining = Math.max(0, Math.floor(left));
  const untilFull = Math.ceil((burst - Math.max(0, left)) / rate);
  return {
    allowed: left >= 0,
    retryAfter: Math.max(1, Math.ceil(-left / rate)),
    headers: {
      "ratelimit-policy": `"key";q=${burst};w=${Math.ceil(burst / rate)}`,
      ratelimit: `"key";r=${remaining};t=${untilFull}`,
    },
  };
}

const WRONG_KEYS_A_SECOND = 1;
const WRONG_KEYS_AT_ONCE = 30;

/** Wrong keys from one address: thirty at once, then one a second. A right key from the same address is not held up. */
export class WrongKeys {
  readonly #limits: Limits;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  isFlood(address: string): boolean | Promise<boolean> {
    return andThen(this.#limits.take("address", address, WRONG_KEYS_A_SECOND, WRONG_KEYS_AT_ONCE), (left) => left < 0);
  }
}

/** What is known at once goes on at once: a promise would put every request off by a turn. */
export function andThen<T, U>(value: T | Promise<T>, go: (value: T) => U): U | Promise<U> {
  return value instanceof Promise ? value.then(go) : go(value);
}
