// What became of the readings of a simulation: counts, a log of every reading, and a comparison of that log with the
// telemetry of the service.

import { formatInstant, type Instant, parseInstant } from "../domain/instant.ts";
import type { Fleet } from "./fleet.ts";
import { type HttpClient, unexpectedResponse } from "./http.ts";
import type { DeliveryResult, Observer } from "./simulation.ts";

const MAX_REASONS = 5;

/** Counts of readings; one that is sent twice counts twice. */
export type Summary = {
  readonly measured: number;
  readonly sent: number;
  /** Sent again because they were not acknowledged. */
  readonly resent: number;
  readonly acknowledged: number;
  /** The status of those acknowledged; a broker reports none. */
  readonly stored: number;
  readonly duplicate: number;
  readonly replaced: number;
  readonly waiting: number;
  readonly rejected: number;
  readonly undelivered: number;
  /** The first distinct reasons for rejections. */
  readonly reasons: readonly string[];
};

export class Tally implements Observer {
  readonly #log: ReadingLog | undefined;
  readonly #statuses = { stored: 0, duplicate: 0, replaced: 0, waiting: 0, rejected: 0, acknowledged: 0 };
  readonly #reasons = new Set<string>();
  #measured = 0;
  #sent = 0;
  #resent = 0;
  #undelivered = 0;

  constructor(log?: ReadingLog) {
    this.#log = log;
  }

  measured(number: number, device: number, at: Instant, fill: number): void {
    this.#measured++;
    this.#log?.add(number, device, at, fill);
  }

  sent(readings: number): void {
    this.#sent += readings;
  }

  resent(readings: number): void {
    this.#resent += readings;
  }

  undelivered(readings: number): void {
    this.#undelivered += readings;
  }

  result(number: number, { status, reason = "" }: DeliveryResult): void {
    this.#statuses[status]++;
    if (status === "rejected" && this.#reasons.size < MAX_REASONS) this.#reasons.add(reason);
    if (status !== "waiting" && status !== "rejected") this.#log?.markStored(number);
  }

  summary(): Summary {
    const { acknowledged: withoutStatus, ...statuses } = this.#statuses;
    const acknowledged = Object.values(statuses).reduce((sum, count) => sum + count, withoutStatus);
    const [measured, sent, resent, undelivered] = [this.#measured, this.#sent, this.#resent, this.#undelivered];
    return { measured, sent, resent, acknowledged, ...statuses, undelivered, reasons: [...this.#reasons] };
  }
}

export const READING_LOG_LIMIT = 5_000_000;

/** `isStored`: the service must have it. It may or may not have others: sent but unacknowledged, or pending. */
export type LogEntry = { readonly at: Instant; readonly fill: number; readonly isStored: boolean };

/** Every reading of a simulation by its number, in columns so that millions fit into memory. */
export class ReadingLog {
  readonly #device: number[] = [];
  readonly #at: Instant[] = [];
  readonly #fill: number[] = [];
  readonly #isStored: boolean[] = [];

  get isFull(): boolean {
    return this.#device.length >= READING_LOG_LIMIT;
  }

  /** Numbers come in order, from 0. */
  add(number: number, device: number, at: Instant, fill: number): void {
    this.#device[number] = device;
    this.#at[number] = at;
    this.#fill[number] = fill;
    this.#isStored[number] = false;
  }

  markStored(number: number): void {
    this.#isStored[number] = true;
  }

  /** The readings of each device that has any, oldest first: a device's instants rise with its numbers. */
  *byDevice(devices: number): Generator<{ readonly device: number; readonly entries: readonly LogEntry[] }, void, undefined> {
    const byDevice = Array.from({ length: devices }, (): number[] => []);
    for (const [number, device] of this.#device.entries()) byDevice[device]?.push(number);
    for (const [device, numbers] of byDevice.entries()) {
      if (numbers.length > 0) yield { device, entries: numbers.map((number) => this.#entry(number)) };
    }
  }

  #entry(number: number): LogEntry {
    return { at: this.#at[number] ?? 0, fill: this.#fill[number] ?? 0, isStored: this.#isStored[number] === true };
  }
}

const PAGE_SIZE = 100;
const CONCURRENCY = 8;
const MAX_REPORTED = 10;
/** The service computes in binary fractions of metres and rounds to hundredths; a value on the edge may round either way. */
const TOLERANCE = 0.0101;

export type Verification = {
  readonly tanks: number;
  readonly readings: number;
  /** Acknowledged, but not stored. */
  readonly missing: number;
  /** Stored with another fill. */
  readonly different: number;
  /** Stored, but never measured; or stored twice. */
  readonly strange: number;
  /** Descriptions of the first ones. */
  readonly faults: readonly string[];
};

type StoredReading = { readonly at: Instant; readonly fill: number };
type Difference = "missing" | "different" | "strange";

/** Compares the log with the telemetry of the service. */
export async function verify(
  log: ReadingLog,
  fleet: Fleet,
  send: HttpClient,
  onProgress: (tanks: number) => void,
): Promise<Verification> {
  const counts = { tanks: 0, readings: 0, missing: 0, different: 0, strange: 0 };
  const faults: string[] = [];
  const devices = log.byDevice(fleet.size);
  const worker = async (): Promise<void> => {
    for (const { device, entries } of devices) {
      const { tankId } = fleet.device(device);
      const stored = await fetchTelemetry(send, tankId, entries);
      counts.readings += stored.length;
      for (const [kind, at, text] of differences(entries, stored)) {
        counts[kind]++;
        if (faults.length < MAX_REPORTED) faults.push(`${tankId} at ${formatInstant(at)}: ${text}`);
      }
      onProgress(++counts.tanks);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return { ...counts, faults };
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

/** Both lists are oldest first. */
function* differences(
  entries: readonly LogEntry[],
  stored: readonly StoredReading[],
): Generator<readonly [Difference, Instant, string], void, undefined> {
  let i = 0;
  const END = Number.POSITIVE_INFINITY;
  for (const { at, fill, isStored } of [...entries, { at: END, fill: 0, isStored: false }]) {
    for (let extra = stored[i]; extra !== undefined && extra.at < at; extra = stored[++i]) {
      yield ["strange", extra.at, `${extra.fill} is stored but was never measured`];
    }
    const reading = stored[i];
    if (reading === undefined || reading.at !== at) {
      if (isStored) yield ["missing", at, `${fill} was acknowledged but is not stored`];
      continue;
    }
    if (Math.abs(reading.fill - fill) > TOLERANCE) yield ["different", at, `${reading.fill} is stored instead of ${fill}`];
    i++;
  }
}
