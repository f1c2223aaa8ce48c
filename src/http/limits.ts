// Rate limits: a token bucket per key, some per client IP address (for wrong keys, for requests for sign-in mail, and for wrong
// links and codes), and one per customer who changes their mail settings.

import type { Clock, Instant } from "../domain/instant.ts";

/** `address`: a client IP address. Kept apart, so that a flood of addresses evicts no key's bucket. */
type BucketKind = "key" | "address";

/** The buckets, in this process or in the one that its workers share. */
export type Limits = {
  /**
   * Takes one token if there is one, or none with a `count` of 0. Returns the tokens that remain, negative if there was less than
   * one.
   */
  readonly take: (kind: BucketKind, name: string, rate: number, burst: number, count?: 0 | 1) => number | Promise<number>;
};

type TokenBucket = { tokens: number; at: Instant };
const MAX_TOKEN_BUCKETS: Readonly<Record<BucketKind, number>> = { key: 100_000, address: 10_000 };

/** Buckets in this process's memory. */
export function localLimits(clock: Clock): { readonly take: (...args: Parameters<Limits["take"]>) => number } {
  const buckets = { key: new Map<string, TokenBucket>(), address: new Map<string, TokenBucket>() };

  function bucketOf(kind: BucketKind, name: string, burst: number, now: Instant): TokenBucket {
    const known = buckets[kind].get(name);
    if (known !== undefined) return known;
    // Evicts the oldest. A new bucket is full, so an eviction never limits anybody.
    if (buckets[kind].size >= MAX_TOKEN_BUCKETS[kind]) buckets[kind].delete(buckets[kind].keys().next().value ?? "");
    const bucket = { tokens: burst, at: now };
    buckets[kind].set(name, bucket);
    return bucket;
  }

  return {
    take(kind, name, rate, burst, count = 1) {
      const now = clock();
      const bucket = bucketOf(kind, name, burst, now);
      const elapsed = Math.max(0, now - bucket.at);
      bucket.tokens = Math.min(burst, bucket.tokens + (elapsed / 1000) * rate);
      bucket.at = now;
      if (bucket.tokens < 1) return bucket.tokens - 1;
      bucket.tokens -= count;
      return bucket.tokens;
    },
  };
}

/** A bucket holds the requests of two seconds. */
const BURST_SECONDS = 2;

export type RateDecision = { readonly allowed: boolean; readonly retryAfter: number; readonly headers: Record<string, string> };

/** Takes a token of a key's bucket. Synchronous where the bucket is in this process. */
export function limitRate(limits: Limits, keyId: string, rate: number): RateDecision | Promise<RateDecision> {
  const burst = Math.ceil(rate * BURST_SECONDS);
  const remaining = limits.take("key", keyId, rate, burst);
  return typeof remaining === "number" ? decide(remaining, rate, burst) : remaining.then((n) => decide(n, rate, burst));
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

/** For a service without a rate limit. */
export const UNLIMITED: Limits = { take: () => 0 };

const RULES = {
  /** Requests for sign-in mail from one client IP address: 20 at once, and 20 an hour. */
  "sign-in": { kind: "address", perSecond: 20 / 3600, burst: 20 },
  /** Sign-in mail to one e-mail address, for one client IP address: others must still be able to request it. */
  mail: { kind: "address", perSecond: 5 / 3600, burst: 5 },
  /** Changes of a customer's mail settings, by the unsubscribe link or signed in: each is in the audit log. */
  "mail settings": { kind: "key", perSecond: 10 / 60, burst: 10 },
  /** Wrong keys, and wrong links in mail other than sign-in links, from one client IP address. A valid key from the same address is not affected. */
  "wrong key": { kind: "address", perSecond: 1, burst: 30 },
  /**
   * Wrong links and codes from one client IP address. Counted apart from wrong keys, because beyond the limit valid ones are
   * rejected, too: a device with a wrong key must not keep people from signing in.
   */
  "wrong sign-in link or code": { kind: "address", perSecond: 1, burst: 30 },
} satisfies Readonly<Record<string, { kind: BucketKind; perSecond: number; burst: number }>>;

/** Counts one more, or with a `count` of 0 none, and returns whether there are too many. */
export async function exceeds(limits: Limits, rule: keyof typeof RULES, name: string, count: 0 | 1 = 1): Promise<boolean> {
  const { kind, perSecond, burst } = RULES[rule];
  return (await limits.take(kind, `${rule} ${name}`, perSecond, burst, count)) < 0;
}
