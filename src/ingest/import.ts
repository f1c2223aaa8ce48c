// Imports a file: lines → records → batches of one kind → store. Every batch is durable by itself, so an import can be
// interrupted anywhere and run again.

import { hasCode, UserError } from "../domain/errors.ts";
import type { Clock } from "../domain/instant.ts";
import type { ReadingResult } from "../domain/reading.ts";
import type { CustomerRecord, DeviceRecord, TankRecord } from "../domain/records.ts";
import type { Writes } from "../domain/store.ts";
import { type CsvOptions, csvRowDecoder } from "./csv-readings.ts";
import { createIngest, type Ingest, rejectedAsDamaged } from "./ingest.ts";
import { type Line, readLines } from "./lines.ts";
import { type DecodedRecord, decodeJsonLine, type LineDecoder, type ReadingRecord } from "./records.ts";

/** `assumed_utc`: readings whose time has no offset. */
const NOTHING_READ = { read: 0, new: 0, changed: 0, unchanged: 0, rejected: 0, pending: 0, assumed_utc: 0 };
export type ImportSummary = typeof NOTHING_READ;
export const emptySummary = (): ImportSummary => ({ ...NOTHING_READ });
export type RejectedLine = { readonly line: number; readonly reason: string; readonly text: string };
export type ImportFormat = "ndjson" | "csv";

type ImportWrites = Pick<Writes, "importCustomers" | "importTanks" | "importDevices" | "ingest">;
type LineResult = "new" | "changed" | "unchanged" | "pending" | { readonly rejected: string };
type Records = {
  readonly customer: CustomerRecord;
  readonly tank: TankRecord;
  readonly device: DeviceRecord;
  readonly telemetry: ReadingRecord;
  readonly rejected: string;
};
/** Consecutive lines of one kind, written together. */
type Batch = {
  [K in keyof Records]: { readonly kind: K; readonly lines: Line[]; readonly records: Records[K][] };
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
  /** Stored data was found to be damaged. */
  #isDamaged = false;

  constructor(writes: ImportWrites, onRejected: (line: RejectedLine) => void, clock: Clock = Date.now) {
    this.#writes = writes;
    this.#ingest = createIngest(writes, clock, {
      onDamage: () => {
        this.#isDamaged = true;
      },
    });
    this.#onRejected = onRejected;
  }

  /** Batches are written and reported in the order of the file. */
  async run(file: AsyncIterable<Buffer>, format: ImportFormat, csv: CsvOptions = {}): Promise<void> {
    const inProgress: Promise<void>[] = [];
    try {
      for await (const batch of this.#batches(file, format, csv)) {
        const reported = this.#writeAfter(inProgress.at(-1), batch);
        // An error surfaces where the batch is awaited; until then it must not count as unhandled.
        reported.catch(() => {});
        inProgress.push(reported);
        if (inProgress.length > MAX_BATCHES_IN_PROGRESS) await inProgress.shift();
      }
      await Promise.all(inProgress);
    } finally {
      await Promise.allSettled(inProgress);
    }
  }

  async *#batches(file: AsyncIterable<Buffer>, format: ImportFormat, csv: CsvOptions): AsyncGenerator<Batch> {
    let decode = format === "ndjson" ? decodeJsonLine : undefined;
    let batch: Batch | undefined;
    let characters = 0;
    for await (const lines of readLines(file)) {
      for (const line of lines) {
        const { text, unreadable } = line;
        if (unreadable === undefined && text.trim() === "") continue;
        if (decode === undefined) {
          decode = csvDecoder(line, csv);
          continue;
        }
        this.summary.read++;
        const decoded: DecodedRecord = unreadable === undefined ? decode(text) : { kind: "rejected", reason: unreadable };
        if (decoded.kind === "telemetry" && decoded.isAssumedUtc) this.summary.assumed_utc++;
        const maxLines = decoded.kind === "telemetry" ? MAX_BATCH_READINGS : MAX_BATCH_LINES;
        if (batch?.kind !== decoded.kind || batch.lines.length >= maxLines || characters > MAX_BATCH_CHARACTERS) {
          if (batch !== undefined) yield batch;
          batch = { kind: decoded.kind, lines: [], records: [] } as Batch;
          characters = 0;
        }
        characters += text.length;
        batch.lines.push(line);
        (batch.records as unknown[]).push(decoded.kind === "rejected" ? decoded.reason : decoded.record);
      }
    }
    if (batch !== undefined) yield batch;
  }

  /**
   * The store gets a batch before the previous one is durable. Where data is damaged, a batch is written in parts, and those may
   * come after the next batch: batches that are in progress then are written again, and the following ones one by one.
   */
  async #writeAfter(previous: Promise<void> | undefined, batch: Batch): Promise<void> {
    const early = this.#isDamaged ? [] : await this.#write(batch);
    await previous;
    const repeated = this.#isDamaged ? await this.#write(batch) : [];
    const results = batch.lines.map((_, i) => (typeof early[i] === "string" ? early[i] : repeated[i]) ?? early[i]);
    this.#report(batch, results);
  }

  #report({ lines }: Batch, results: readonly (LineResult | undefined)[]): void {
    for (const [i, line] of lines.entries()) {
      const result = results[i] ?? { rejected: "" };
      if (typeof result === "string") this.summary[result]++;
      else {
        this.summary.rejected++;
        this.#onRejected({ line: line.number, reason: result.rejected, text: line.text });
      }
    }
  }

  async #write(batch: Batch): Promise<LineResult[]> {
    switch (batch.kind) {
      case "customer":
        return this.#writeEach(batch.records, this.#writes.importCustomers);
      case "tank":
        return this.#writeEach(batch.records, this.#writes.importTanks);
      case "device":
        return this.#writeEach(batch.records, this.#writes.importDevices);
      case "telemetry":
        return this.#ingestReadings(batch.records);
      case "rejected":
        return batch.records.map((rejected) => ({ rejected }));
    }
  }

  /** If stored data of one object is damaged, each record is written on its own, and those of that object are rejected. */
  async #writeEach<R>(records: readonly R[], write: (records: readonly R[]) => Promise<LineResult[]>): Promise<LineResult[]> {
    try {
      return await write(records);
    } catch (error) {
      if (!hasCode(error, "data_damaged")) throw error;
      this.#isDamaged = true;
      if (records.length === 1) return [rejectedAsDamaged(error)];
      const results: LineResult[] = [];
      for (const record of records) results.push(...(await this.#writeEach([record], write)));
      return results;
    }
  }

  /** Each with the customer its sender was bound to when it became pending. */
  async #ingestReadings(records: readonly ReadingRecord[]): Promise<LineResult[]> {
    const results: LineResult[] = [];
    for (const [customerId, entries] of Map.groupBy(records.entries(), ([, record]) => record.customerId)) {
      const readings = entries.map(([, { reading }]) => reading);
      const ingested = await this.#ingest(readings, { keyId: null, customerId, deviceId: null, wasPending: true });
      entries.forEach(([index], i) => {
        results[index] = toLineResult(ingested[i] ?? { rejected: "" });
      });
    }
    return results;
  }
}

/** Without a valid header no line of the file can be read. */
function csvDecoder(header: Line, options: CsvOptions): LineDecoder {
  const decoder = header.unreadable === undefined ? csvRowDecoder(header.text, options) : { error: header.unreadable };
  if (typeof decoder === "function") return decoder;
  throw new UserError(decoder.error);
}

/** The summary counts all kinds of lines: customers and tanks are new, not stored. */
const LINE_RESULTS = { stored: "new", replaced: "changed", duplicate: "unchanged", pending: "pending" } as const;

function toLineResult(result: ReadingResult): LineResult {
  return typeof result === "string" ? LINE_RESULTS[result] : result;
}
