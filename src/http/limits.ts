// Rate limits: a token bucket a key, and one for each address that keeps sending wrong keys. They live in this process.

import type { Instant } from "../domain/instant.ts";

/** A bucket holds two seconds' worth of requests. */
const BURST_SECONDS = 2;

type Bucket = { tokens: number; at: Instant };

class Buckets {
  readonly #buckets = new Map<string, Bucket>();
  readonly #capacity: number;

  constructor(capacity = 100_000) {
    this.#capacity = capacity;
  }

  /** Takes one token if there is one. `left` is what remains, below zero where there was none. */
  take(name: string, rate: number, burst: number, now: Instant): { readonly left: number } {
    const bucket = this.#bucket(name, burst, now);
    const elapsed = Math.max(0, now - bucket.at);
    bucket.tokens = Math.min(burst, bucket.tokens + (elapsed / 1000) * rate);
    bucket.at = now;
    if (bucket.tokens < 1) return { left: bucket.tokens - 1 };
    bucket.tokens -= 1;
    return { left: bucket.tokens };
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

export type Taken = { readonly allowed: boolean; readonly retryAfter: number; readonly headers: Record<string, string> };

export class KeyLimits {
  readonly #buckets = new Buckets();
  readonly #customerRate: number;

  constructor(customerRate: number) {
    this.#customerRate = customerRate;
  }

  /** undefined: this key has no limit. */
  take(key: { id: string; customer_id: string | null; rate: number | null }, now: Instant): Taken | undefined {
    if (this.#customerRate === 0) return undefined;
    const rate = key.rate ?? (key.customer_id === null ? undefined : this.#customerRate);
    if (rate === undefined) return undefined;
    const burst = Math.ceil(rate * BURST_SECONDS);
    const { left } = this.#buckets.take(key.id, rate, burst, now);
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
}

const WRONG_KEYS_A_SECOND = 1;
const WRONG_KEYS_AT_ONCE = 30;

/** Wrong keys from one address: thirty at once, then one a second. A right key from the same address is not held up. */
export class WrongKeys {
  readonly #buckets = new Buckets(10_000);

  isFlood(address: string, now: Instant): boolean {
    return this.#buckets.take(address, WRONG_KEYS_A_SECOND, WRONG_KEYS_AT_ONCE, now).left < 0;
  }
}
