// Rate limits: a token bucket per key, and one per address that sends wrong keys.

import type { Clock, Instant } from "../domain/instant.ts";

/** Kept apart, so that a flood of addresses evicts no key's bucket. */
type BucketKind = "key" | "address";

/** The buckets, in this process or in the one that its workers share. */
export type Limits = {
  /** Takes one token if there is one. Returns the tokens that remain, negative if there was none. */
  readonly take: (kind: BucketKind, name: string, rate: number, burst: number) => number | Promise<number>;
};

/** Buckets in this process's memory. */
export function localLimits(clock: Clock): { readonly take: (...args: Parameters<Limits["take"]>) => number } {
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
    // Evicts the oldest. A new bucket is full, so an eviction never limits anybody.
    if (this.#buckets.size >= this.#capacity) this.#buckets.delete(this.#buckets.keys().next().value ?? "");
    const bucket = { tokens: burst, at: now };
    this.#buckets.set(name, bucket);
    return bucket;
  }
}

/** A bucket holds the requests of two seconds. */
const BURST_SECONDS = 2;

export type RateDecision = { readonly allowed: boolean; readonly retryAfter: number; readonly headers: Record<string, string> };

const WRONG_KEYS_PER_SECOND = 1;
const WRONG_KEYS_BURST = 30;

/** The limits of keys and of addresses; none where `customerRate` is 0. */
export class RateLimits {
  readonly #limits: Limits;
  readonly #customerRate: number;

  constructor(limits: Limits, customerRate: number) {
    this.#limits = limits;
    this.#customerRate = customerRate;
  }

  /** undefined: this key is not limited. */
  take(key: { id: string; customer_id: string | null; rate: number | null }): RateDecision | Promise<RateDecision> | undefined {
    if (this.#customerRate === 0) return undefined;
    const rate = key.rate ?? (key.customer_id === null ? undefined : this.#customerRate);
    if (rate === undefined) return undefined;
    const burst = Math.ceil(rate * BURST_SECONDS);
    return andThen(this.#limits.take("key", key.id, rate, burst), (remaining) => decide(remaining, rate, burst));
  }

  /** Wrong keys from one address: 30 at once, then one per second. A valid key from the same address is not affected. */
  isFlood(address: string): boolean | Promise<boolean> {
    if (this.#customerRate === 0) return false;
    return andThen(this.#limits.take("address", address, WRONG_KEYS_PER_SECOND, WRONG_KEYS_BURST), (remaining) => remaining < 0);
  }
}

function decide(remaining: number, rate: number, burst: number): RateDecision {
  const untilFull = Math.ceil((burst - Math.max(0, remaining)) / rate);
  return {
    allowed: remaining >= 0,
    retryAfter: Math.max(1, Math.ceil(-remaining / rate)),
    headers: {
      "ratelimit-policy": `"key";q=${burst};w=${Math.ceil(burst / rate)}`,
      ratelimit: `"key";r=${Math.max(0, Math.floor(remaining))};t=${untilFull}`,
    },
  };
}

/** Like `then`, but synchronous for a plain value: a promise would delay every request by a turn of the event loop. */
export function andThen<T, U>(value: T | Promise<T>, next: (value: T) => U): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
