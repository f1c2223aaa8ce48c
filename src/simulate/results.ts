// What became of the readings of a simulation: counts, a log of every reading, and a comparison of that log with the
// telemetry of the service.

import { formatInstant, type Instant, parseInstant } from "../domain/instant.ts";
import type { Fleet } from "./fleet.ts";
import { forEachConcurrently, type HttpClient, unexpectedResponse } from "./http.ts";
import type { Observer, SendResult } from "./simulation.ts";

const MAX_REASONS = 5;

/** Counts of readings; one that is sent twice counts twice. */
export type Summary = Readonly<ReturnType<typeof noReadings>> & {
  /** The first distinct reasons for rejections. */
  readonly reasons: readonly string[];
};

const noReadings = () => ({
  measured: 0,
  sent: 0,
  /** Sent again because they were not acknowledged. */
  resent: 0,
  acknowledged: 0,
  /** The status of those acknowledged; a broker reports none. */
  stored: 0,
  duplicate: 0,
  replaced: 0,
  pending: 0,
  rejected: 0,
  undelivered: 0,
});

/** `isStored`: the service must have it. It may or may not have others: sent but unacknowledged, or pending. */
type LogEntry = { readonly device: number; readonly at: Instant; readonly fill: number; isStored: boolean };

export const READING_LOG_LIMIT = 5_000_000;

export class Tally implements Observer {
  readonly #keepsLog: boolean;
  /** Every reading by its number. */
  readonly #log: LogEntry[] = [];
  readonly #counts = noReadings();
  readonly #reasons = new Set<string>();

  /** A log is needed to verify the readings later. */
  constructor(keepsLog = false) {
    this.#keepsLog = keepsLog;
  }

  get isLogFull(): boolean {
    return this.#log.length >= READING_LOG_LIMIT;
  }

  measured(_number: number, device: number, at: Instant, fill: number): void {
    this.#counts.measured++;
    if (this.#keepsLog) this.#log.push({ device, at, fill, isStored: false });
  }

  sent(readings: number): void {
    this.#counts.sent += readings;
  }

  resent(readings: number): void {
    this.#counts.resent += readings;
  }

  undelivered(readings: number): void {
    this.#counts.undelivered += readings;
  }

  result(number: number, { status, reason = "" }: SendResult): void {
    this.#counts.acknowledged++;
    if (status !== "acknowledged") this.#counts[status]++;
    if (status === "rejected" && this.#reasons.size < MAX_REASONS) this.#reasons.add(reason);
    const entry = this.#log[number];
    if (entry !== undefined && status !== "pending" && status !== "rejected") entry.isStored = true;
  }

  summary(): Summary {
    return { ...this.#counts, reasons: [...this.#reasons] };
  }

  /** The logged readings of each device that has any, oldest first: a device's instants rise with its numbers. */
  byDevice(): Map<number, readonly LogEntry[]> {
    return Map.groupBy(this.#log, ({ device }) => device);
  }
}

const PAGE_SIZE = 100;
const MAX_REPORTED = 10;
/** The service computes in binary fractions of metres and rounds to hundredths; a value on the edge may round either way. */
const TOLERANCE = 0.0101;

export type VerificationResult = {
  readonly tanks: number;
  readonly readings: number;
  /** Acknowledged, but not stored. */
  readonly missing: number;
  /** Stored with another fill. */
  readonly different: number;
  /** Stored, but never measured; or stored twice. */
  readonly unexpected: number;
  /** Descriptions of the first ones. */
  readonly differences: readonly string[];
};

type StoredReading = { readonly at: Instant; readonly fill: number };
type DifferenceKind = "missing" | "different" | "unexpected";

/** Compares the log with the telemetry of the service. */
export async function verify(
  tally: Tally,
  fleet: Fleet,
  send: HttpClient,
  onProgress: (tanks: number) => void,
): Promise<VerificationResult> {
  const counts = { tanks: 0, readings: 0, missing: 0, different: 0, unexpected: 0 };
  const differences: string[] = [];
  await forEachConcurrently(tally.byDevice(), async ([device, entries]) => {
    const { tankId } = fleet.device(device);
    const stored = await fetchTelemetry(send, tankId, entries);
    counts.readings += stored.length;
    for (const [kind, at, text] of findDifferences(entries, stored)) {
      counts[kind]++;
      if (differences.length < MAX_REPORTED) differences.push(`${tankId} at ${formatInstant(at)}: ${text}`);
    }
    onProgress(++counts.tanks);
  });
  return { ...counts, differences };
}

/** The tank's readings during the simulation, oldest first. A tank that does not exist has none. */
async function fetchTelemetry(send: HttpClient, tankId: string, entries: readonly LogEntry[]): Promise<StoredReading[]> {
  const [first, last] = [entries[0]?.at ?? 0, entries.at(-1)?.at ?? 0];
  const range = `created_at_gte=${formatInstant(first)}&created_at_lte=${formatInstant(last)}`;
  const stored: StoredReading[] = [];
  for (let page = 1; ; page++) {
    const path = `/v1/tanks/${encodeURIComponent(tankId)}/telemetry?${range}&size=${PAGE_SIZE}&page=${page}`;
    const response = await send({ path });
    if (response.status === 404) return [];
    if (response.status !== 200) throw unexpectedResponse(response, "verifying");
    const data = response.body["data"] as readonly { created_at: string; fill_percentage: number }[];
    for (const { created_at, fill_percentage } of data) {
      stored.push({ at: parseInstant(created_at)?.instant ?? Number.NaN, fill: fill_percentage });
    }
    if (data.length < PAGE_SIZE) return stored.reverse();
  }
}

function findDifferences(entries: readonly LogEntry[], stored: readonly StoredReading[]): [DifferenceKind, Instant, string][] {
  const measured = new Map(entries.map((entry) => [entry.at, entry]));
  const found: [DifferenceKind, Instant, string][] = [];
  for (const { at, fill } of stored) {
    const entry = measured.get(at);
    if (entry === undefined) found.push(["unexpected", at, `${fill} is stored but was never measured`]);
    else if (Math.abs(entry.fill - fill) > TOLERANCE) found.push(["different", at, `${fill} is stored instead of ${entry.fill}`]);
    measured.delete(at);
  }
  for (const { at, fill, isStored } of measured.values()) {
    if (isStored) found.push(["missing", at, `${fill} was acknowledged but is not stored`]);
  }
  return found.sort(([, a], [, b]) => a - b);
}
