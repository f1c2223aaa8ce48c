// Imports a file: lines → records → batches of one kind → store. Every batch is durable by itself, so an import can be
// interrupted anywhere and run again.

import type { Clock } from "../domain/instant.ts";
import type { CustomerRecord, DeviceRecord, TankRecord } from "../domain/records.ts";
import type { Writes } from "../domain/store.ts";
import { csvRowDecoder, type DecodedLine, type DeviceReading, decodeJsonLine, type LineDecoder } from "./import-formats.ts";
import { createIngest, type IncomingReading, type Ingest, type ReadingResult } from "./ingest.ts";
import { type Line, readLines } from "./lines.ts";
import type { ReadingRecord } from "./records.ts";

export type ImportSummary = { read: number; new: number; changed: number; unchanged: number; rejected: number; waiting: number };
export const emptySummary = (): ImportSummary => ({ read: 0, new: 0, changed: 0, unchanged: 0, rejected: 0, waiting: 0 });
export type RejectedLine = { readonly line: number; readonly reason: string; readonly text: string };
export type ImportFormat = "ndjson" | "csv";

type ImportWrites = Pick<Writes, "importCustomers" | "importTanks" | "importDevices" | "ingest">;
type LineResult = "new" | "changed" | "unchanged" | "waiting" | { readonly rejected: string };
type TextLine = { readonly number: number; readonly text: string };
type Records = {
  readonly customer: CustomerRecord;
  readonly tank: TankRecord;
  readonly device: DeviceRecord;
  readonly telemetry: ReadingRecord;
  readonly device_reading: DeviceReading;
  readonly rejected: string;
};
/** Consecutive lines of one kind, written together. */
type Batch = {
  [K in keyof Records]: { readonly kind: K; readonly lines: TextLine[]; readonly records: Records[K][] };
}[keyof Records];

/** Batches are short, so that other writes get their turn in between. Readings cost less when written together. */
const MAX_BATCH_LINES = 1000;
const MAX_BATCH_READINGS = 10_000;
const MAX_BATCH_CHARACTERS = 2_097_152;
/** While one batch is written, the next ones are decoded. */
const MAX_BATCHES_IN_PROGRESS = 3;

export class Import {
  readonly summary = emptySummary();
  readonly #writes: ImportWrites;
  readonly #ingest: Ingest;
  readonly #onRejected: (line: RejectedLine) => void;
  readonly #inProgress: Promise<void>[] = [];
  #batch: Batch | undefined;
  #characters = 0;

  constructor(writes: ImportWrites, onRejected: (line: RejectedLine) => void, clock: Clock = Date.now) {
    this.#writes = writes;
    this.#ingest = createIngest(writes, clock);
    this.#onRejected = onRejected;
  }

  async run(source: AsyncIterable<Buffer>, format: ImportFormat): Promise<void> {
    let decode: LineDecoder | undefined = format === "ndjson" ? decodeJsonLine : undefined;
    try {
      for await (const group of readLines(source)) {
        for (const line of group) {
          if (decode !== undefined) this.#add(line, decode);
          else decode = this.#readHeader(line);
          // Checked here too: an await for every line would be slow.
          if (this.#inProgress.length > MAX_BATCHES_IN_PROGRESS) await this.#waitUntilInProgress(MAX_BATCHES_IN_PROGRESS);
        }
      }
      this.#send();
      await this.#waitUntilInProgress(0);
    } finally {
      await Promise.allSettled(this.#inProgress);
    }
  }

  /** Without a valid header every line of the file is rejected. */
  #readHeader(line: Line): LineDecoder {
    const decoder = "text" in line ? csvRowDecoder(line.text) : { error: line.unreadable };
    if (typeof decoder === "function") return decoder;
    const reject: LineDecoder = () => ({ kind: "rejected", reason: decoder.error });
    this.#add(line, reject);
    return reject;
  }

  #add(line: Line, decode: LineDecoder): void {
    if ("text" in line && line.text.trim() === "") return;
    this.summary.read++;
    const text = "text" in line ? line.text : "";
    const decoded: DecodedLine = "text" in line ? decode(text) : { kind: "rejected", reason: line.unreadable };
    const maxLines = decoded.kind === "telemetry" ? MAX_BATCH_READINGS : MAX_BATCH_LINES;
    let batch = this.#batch;
    if (batch?.kind !== decoded.kind || batch.lines.length >= maxLines || this.#characters > MAX_BATCH_CHARACTERS) {
      this.#send();
      batch = { kind: decoded.kind, lines: [], records: [] } as Batch;
      this.#batch = batch;
      this.#characters = 0;
    }
    this.#characters += text.length;
    batch.lines.push({ number: line.number, text });
    (batch.records as unknown[]).push(decoded.kind === "rejected" ? decoded.reason : decoded.record);
  }

  /** Batches are written and reported in the order of the file. */
  #send(): void {
    const batch = this.#batch;
    if (batch === undefined) return;
    this.#batch = undefined;
    const previous = this.#inProgress.at(-1);
    const reported = Promise.all([this.#write(batch), previous]).then(([results]) => this.#report(batch, results));
    // An error surfaces where the batch is awaited; until then it must not count as unhandled.
    reported.catch(() => {});
    this.#inProgress.push(reported);
  }

  async #waitUntilInProgress(limit: number): Promise<void> {
    while (this.#inProgress.length > limit) {
      await this.#inProgress[0];
      this.#inProgress.shift();
    }
  }

  #report({ lines }: Batch, results: readonly LineResult[]): void {
    results.forEach((result, i) => {
      if (typeof result === "string") {
        this.summary[result]++;
        return;
      }
      this.summary.rejected++;
      const { number = 0, text = "" } = lines[i] ?? {};
      this.#onRejected({ line: number, reason: result.rejected, text });
    });
  }

  async #write(batch: Batch): Promise<LineResult[]> {
    switch (batch.kind) {
      case "customer":
        return this.#writes.importCustomers(batch.records);
      case "tank":
        return this.#writes.importTanks(batch.records);
      case "device":
        return this.#writes.importDevices(batch.records);
      case "telemetry":
        return (await this.#ingest(batch.records.map(toIncoming), { customerId: null, deviceId: null })).map(toLineResult);
      case "device_reading":
        return this.#ingestDeviceReadings(batch.records);
      case "rejected":
        return batch.records.map((rejected) => ({ rejected }));
    }
  }

  /** Each with the customer its sender was bound to when it became pending. */
  async #ingestDeviceReadings(records: readonly DeviceReading[]): Promise<LineResult[]> {
    const results: LineResult[] = [];
    const byCustomer = Map.groupBy(records.entries(), ([, { customerId }]) => customerId);
    for (const [customerId, entries] of byCustomer) {
      const readings = entries.map(([, { reading }]) => reading);
      const ingested = await this.#ingest(readings, { customerId, deviceId: null, wasPending: true });
      entries.forEach(([index], i) => {
        results[index] = toLineResult(ingested[i] ?? { rejected: "" });
      });
    }
    return results;
  }
}

function toIncoming({ tankId, reading }: ReadingRecord): IncomingReading {
  return { source: { tankId }, createdAt: reading.created_at, measurement: { fill: reading.fill_percentage } };
}

const LINE_RESULTS = { stored: "new", replaced: "changed", duplicate: "unchanged", waiting: "waiting" } as const;

function toLineResult(result: ReadingResult): LineResult {
  return typeof result === "string" ? LINE_RESULTS[result] : result;
}
