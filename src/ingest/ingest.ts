// The path of every reading, whichever endpoint received it: decoded by the endpoint, checked here, stored with its batch in one
// transaction, and reported to the sender once that transaction is durable.

import { hasCode, type RequestError } from "../domain/errors.ts";
import { deviceKey } from "../domain/id.ts";
import { type Clock, formatInstant, type Instant, MAX_AHEAD_MS } from "../domain/instant.ts";
import type { KeyBinding } from "../domain/key.ts";
import type { IngestEndpoint, Observe } from "../domain/log-events.ts";
import {
  type IncomingBatch,
  READING_OUTCOMES,
  type ReadingResult,
  type ReadingSource,
  type Rejected,
} from "../domain/reading.ts";
import type { Writes } from "../domain/store.ts";

/** A decoded reading. `createdAt` is the time of receipt where the sender gave none. */
export type IncomingReading = {
  /** `deviceId` as returned by `deviceKey`. */
  readonly source: { readonly tankId: string } | { readonly deviceId: string };
  readonly createdAt: Instant;
  /** `payload` is the decoded object of a device, which its profile interprets. As JSON text it needs a fraction of the memory. */
  readonly measurement: { readonly fill: number } | { readonly payload: string };
};

/**
 * What the key allows. `wasPending`: the readings were pending in another database, and stay so if they cannot be interpreted.
 * `endpoint`: where they arrived, for the metrics.
 */
export type ReadingSender = KeyBinding & { readonly wasPending?: boolean; readonly endpoint?: IngestEndpoint };

/**
 * Resolves with one result per reading, in order, once they are durable: acknowledge only then. Rejects with a
 * `store_unavailable` error where nothing was stored or the outcome is unknown, and with `data_damaged` where readings of some
 * sources were not stored. Sending again is safe, since duplicates are recognised.
 */
export type Ingest = (readings: readonly (IncomingReading | Rejected)[], sender: ReadingSender) => Promise<ReadingResult[]>;

const MIN_INSTANT: Instant = 0;

/** The positions of a source's readings, and what became of them. */
type SourceOutcome = { readonly positions: readonly number[]; readonly outcome: PromiseSettledResult<ReadingResult[]> };

/**
 * `onDamage`: for files. It is called when stored data is damaged, and the readings of that source are rejected. Without it they fail:
 * senders send them again.
 */
type IngestOptions = { readonly observe?: Observe; readonly onDamage?: () => void };

export function createIngest(
  writes: Pick<Writes, "ingest">,
  clock: Clock,
  { observe = () => {}, onDamage }: IngestOptions = {},
): Ingest {
  async function store(readings: readonly IncomingReading[], sender: ReadingSender): Promise<ReadingResult[]> {
    const { outcomes, reasons } = await writes.ingest(toBatch(readings, sender, clock()));
    return readings.map((_, i) => toResult(outcomes[i] ?? 0, reasons.get(i)));
  }

  function report(results: readonly ReadingResult[], { endpoint }: ReadingSender): void {
    if (endpoint === undefined) return;
    const stored = results.filter((result) => result === "stored" || result === "replaced").length;
    const rejected = results.filter((result) => typeof result === "object").length;
    observe({ kind: "readings_ingested", endpoint, stored, rejected });
  }

  async function storeValid(readings: readonly IncomingReading[], sender: ReadingSender): Promise<ReadingResult[]> {
    try {
      return await store(readings, sender);
    } catch (error) {
      if (!hasCode(error, "data_damaged")) throw error;
      onDamage?.();
      const sources = await storeBySource(readings, sender, error);
      if (onDamage !== undefined) return withRejections(sources);
      for (const { outcome } of sources) if (outcome.status === "fulfilled") report(outcome.value, sender);
      throw error;
    }
  }

  /** Data of one tank is damaged: readings of the others are stored, each source on its own. */
  async function storeBySource(
    readings: readonly IncomingReading[],
    sender: ReadingSender,
    damage: RequestError,
  ): Promise<SourceOutcome[]> {
    const bySource = Map.groupBy(readings.entries(), ([, { source }]) => JSON.stringify(source));
    const stored = Array.from(bySource.values(), (own) => {
      if (bySource.size === 1) return Promise.reject(damage);
      return store(
        own.map(([, reading]) => reading),
        sender,
      );
    });
    const outcomes = await Promise.allSettled(stored);
    return Array.from(bySource.values(), (own, i) => ({
      positions: own.map(([position]) => position),
      outcome: outcomes[i] as PromiseSettledResult<ReadingResult[]>,
    }));
  }

  return async (readings, sender) => {
    const now = clock();
    const checked = readings.map((reading) => ("rejected" in reading ? reading : (errorIn(reading, sender, now) ?? reading)));
    const valid = checked.filter((reading): reading is IncomingReading => !("rejected" in reading));
    const stored = valid.length === 0 ? [] : await storeValid(valid, sender);
    let index = 0;
    const results = checked.map((reading) => ("rejected" in reading ? reading : (stored[index++] as ReadingResult)));
    report(results, sender);
    return results;
  };
}

function withRejections(sources: readonly SourceOutcome[]): ReadingResult[] {
  const results: ReadingResult[] = [];
  for (const { positions, outcome } of sources) {
    if (outcome.status === "rejected" && !hasCode(outcome.reason, "data_damaged")) throw outcome.reason;
    for (const [i, position] of positions.entries()) {
      results[position] =
        outcome.status === "fulfilled" ? (outcome.value[i] as ReadingResult) : rejectedAsDamaged(outcome.reason);
    }
  }
  return results;
}

/** For the operator, who may know the cause. */
export function rejectedAsDamaged({ cause, message }: RequestError): Rejected {
  return { rejected: `stored data is damaged: ${cause instanceof Error ? cause.message : message}` };
}

/** Adds the endpoint at which the readings arrived, for the metrics. */
export function ingestFrom<R>(
  endpoint: IngestEndpoint,
  ingest: (readings: R, sender: ReadingSender) => Promise<ReadingResult[]>,
) {
  return (readings: R, sender: ReadingSender): Promise<ReadingResult[]> => ingest(readings, { ...sender, endpoint });
}

function errorIn({ source, createdAt }: IncomingReading, { deviceId }: ReadingSender, now: Instant): Rejected | undefined {
  if (createdAt < MIN_INSTANT) return { rejected: `created_at: must not be before ${formatInstant(MIN_INSTANT)}` };
  if (createdAt > now + MAX_AHEAD_MS) {
    return { rejected: `created_at: must be at most 10 minutes in the future; the server time is ${formatInstant(now)}` };
  }
  if (deviceId === null) return undefined;
  const isOwn = "deviceId" in source && source.deviceId === deviceKey(deviceId);
  return isOwn ? undefined : { rejected: `device_id: this key may only send readings of device ${deviceId}` };
}

function toBatch(readings: readonly IncomingReading[], sender: ReadingSender, receivedAt: Instant): IncomingBatch {
  const { customerId, wasPending = false } = sender;
  const indexes = { tank: new Map<string, number>(), device: new Map<string, number>() };
  const sources: ReadingSource[] = [];
  const payloads = new Map<number, string>();
  const sourceOf = new Uint32Array(readings.length);
  const createdAt = new Float64Array(readings.length);
  const fill = new Float64Array(readings.length);
  readings.forEach((reading, i) => {
    const { source: from, measurement } = reading;
    const [kind, id] = "tankId" in from ? (["tank", from.tankId] as const) : (["device", from.deviceId] as const);
    let index = indexes[kind].get(id);
    if (index === undefined) {
      index = sources.push({ kind, id, customerId, ...(wasPending && { wasPending }) }) - 1;
      indexes[kind].set(id, index);
    }
    sourceOf[i] = index;
    createdAt[i] = reading.createdAt;
    fill[i] = "fill" in measurement ? measurement.fill : Number.NaN;
    if ("payload" in measurement) payloads.set(i, measurement.payload);
  });
  return { sources, sourceOf, createdAt, fill, payloads, receivedAt };
}

function toResult(code: number, reason: string | undefined): ReadingResult {
  const outcome = READING_OUTCOMES[code] ?? "rejected";
  if (outcome === "tank_unknown") return { rejected: "tank_id: there is no tank with this id" };
  return outcome === "rejected" ? { rejected: reason ?? "" } : outcome;
}
