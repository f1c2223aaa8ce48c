// Ingest: how data comes in. A file goes line → record → run of records of one kind → store; every run is one durable
// step, so an import can be interrupted anywhere and run again. May not: know HTTP, or an engine.

import type { DeviceRecord } from "../domain/device-record.ts";
import type { Clock } from "../domain/instant.ts";
import type { CustomerRecord, ReadingRecord, TankRecord } from "../domain/record.ts";
import type { Writes } from "../domain/store.ts";
import { csvRowDecoder } from "./csv.ts";
import type { ReadingResult as Accepted, IncomingReading, Ingest } from "./ingest.ts";
import { createIngest } from "./ingest.ts";
import { type Line, readLines } from "./lines.ts";
import { type BoundArrival, type DecodedLine, decodeLine } from "./ndjson.ts";

export type ImportSummary = { read: number; new: number; changed: number; unchanged: number; rejected: number; waiting: number };
export const emptySummary = (): ImportSummary => ({ read: 0, new: 0, changed: 0, unchanged: 0, rejected: 0, waiting: 0 });
export type RejectedLine = { readonly line: number; readonly reason: string; readonly text: string };
export type ImportFormat = "ndjson" | "csv";

type ImportWrites = Pick<Writes, "importCustomers" | "importTanks" | "importDevices" | "ingest">;
type LineResult = "new" | "changed" | "unchanged" | "waiting" | { readonly rejected: string };

/** Lines in a row that are of one kind; they are written together. */
type Run =
  | { readonly kind: "customer"; readonly lines: TextLine[]; readonly records: CustomerRecord[] }
  | { readonly kind: "tank"; readonly lines: TextLine[]; readonly records: TankRecord[] }
  | { readonly kind: "device"; readonly lines: TextLine[]; readonly records: DeviceRecord[] }
  | { readonly kind: "telemetry"; readonly lines: TextLine[]; readonly records: ReadingRecord[] }
  | { readonly kind: "arrival"; readonly lines: TextLine[]; readonly records: BoundArrival[] }
  | { readonly kind: "rejected"; readonly lines: TextLine[]; readonly records: string[] };
type TextLine = { readonly number: number; readonly text: string };

/**
 * A run is short, so that the writer can let others in between; it is also small, however long its lines are. Readings of
 * one tank that are written together cost little more than one of them: more lines of these.
 */
const RUN_LINES = 1000;
const RUN_READINGS = 10_000;
const RUN_CHARACTERS = 2_097_152;
/** While one run is written, the next are decoded. */
const RUNS_UNDER_WAY = 3;

export class Import {
  readonly summary = emptySummary();
  readonly #writes: ImportWrites;
  readonly #accept: Ingest;
  readonly #reject: (reject: RejectedLine) => void;
  readonly #underWay: Promise<void>[] = [];
  #run: Run | undefined;
  #characters = 0;

  constructor(writes: ImportWrites, reject: (reject: RejectedLine) => void, clock: Clock = Date.now) {
    this.#writes = writes;
    this.#accept = createIngest(writes, clock);
    this.#reject = reject;
  }

  async run(source: AsyncIterable<Buffer>, format: ImportFormat): Promise<void> {
    let decode: ((text: string) => DecodedLine) | undefined = format === "ndjson" ? decodeLine : undefined;
    try {
      for await (const group of readLines(source)) {
        for (const line of group) {
          if (decode !== undefined) this.#add(line, decode);
          else decode = this.#header(line);
          if (this.#underWay.length > RUNS_UNDER_WAY) await this.#drain(RUNS_UNDER_WAY);
        }
      }
      this.#send();
      await this.#drain(0);
    } finally {
      await Promise.allSettled(this.#underWay);
    }
  }

  /** A file whose header cannot be read is rejected line by line, not guessed at. */
  #header(line: Line): (text: string) => DecodedLine {
    const decoder = "text" in line ? csvRowDecoder(line.text) : { fault: line.unreadable };
    if (typeof decoder === "function") return decoder;
    const reject = (): DecodedLine => ({ kind: "rejected", reason: decoder.fault });
    this.#add(line, reject);
    return reject;
  }

  #add(line: Line, decode: (text: string) => DecodedLine): void {
    if ("text" in line && line.text.trim() === "") return;
    this.summary.read++;
    const text = "text" in line ? line.text : "";
    const decoded: DecodedLine = "text" in line ? decode(text) : { kind: "rejected", reason: line.unreadable };
    const most = decoded.kind === "telemetry" ? RUN_READINGS : RUN_LINES;
    if (this.#run?.kind !== decoded.kind || this.#run.records.length >= most || this.#characters > RUN_CHARACTERS) {
      this.#send();
      this.#run = { kind: decoded.kind, lines: [], records: [] } as Run;
      this.#characters = 0;
    }
    this.#characters += text.length;
    this.#run.lines.push({ number: line.number, text });
    (this.#run.records as unknown[]).push(decoded.kind === "rejected" ? decoded.reason : decoded.record);
  }

  /** Runs are handed over in the order of the file, and written in it. */
  #send(): void {
    const run = this.#run;
    if (run === undefined) return;
    this.#run = undefined;
    const written = write(this.#writes, this.#accept, run);
    const before = this.#underWay.at(-1);
    const told = Promise.all([written, before]).then(([outcomes]) => this.#tell(run, outcomes));
    // Whoever drains sees the failure; until then it must not count as unhandled.
    told.catch(() => {});
    this.#underWay.push(told);
  }

  async #drain(most: number): Promise<void> {
    while (this.#underWay.length > most) {
      await this.#underWay[0];
      this.#underWay.shift();
    }
  }

  #tell(run: Run, outcomes: readonly LineResult[]): void {
    outcomes.forEach((outcome, i) => {
      if (typeof outcome === "string") {
        this.summary[outcome]++;
        return;
      }
      this.summary.rejected++;
      const { number = 0, text = "" } = run.lines[i] ?? {};
      this.#reject({ line: number, reason: outcome.rejected, text });
    });
  }
}

/** Whoever may import reaches every tank and device. */
const ANYBODY = { customerId: null, deviceId: null };

async function write(writes: ImportWrites, accept: Ingest, run: Run): Promise<LineResult[]> {
  switch (run.kind) {
    case "customer":
      return writes.importCustomers(run.records);
    case "tank":
      return writes.importTanks(run.records);
    case "device":
      return writes.importDevices(run.records);
    case "telemetry":
      return (await accept(run.records.map(arrivalOf), ANYBODY)).map(outcomeOf);
    case "arrival":
      return acceptBound(accept, run.records);
    case "rejected":
      return run.records.map((rejected) => ({ rejected }));
  }
}

/** What waited elsewhere: each as its sender was bound. */
async function acceptBound(accept: Ingest, records: readonly BoundArrival[]): Promise<LineResult[]> {
  const outcomes: LineResult[] = [];
  const places = Map.groupBy(records.keys(), (place) => records[place]?.customerId ?? null);
  for (const [customerId, own] of places) {
    const arrivals = own.flatMap((place) => records[place]?.arrival ?? []);
    const told = await accept(arrivals, { customerId, deviceId: null, wasPending: true });
    told.forEach((outcome, i) => {
      outcomes[own[i] ?? 0] = outcomeOf(outcome);
    });
  }
  return outcomes;
}

function arrivalOf({ tankId, reading }: ReadingRecord): IncomingReading {
  return { source: { tankId }, createdAt: reading.created_at, measurement: { fill: reading.fill_percentage } };
}

const OUTCOMES = { stored: "new", replaced: "changed", duplicate: "unchanged", waiting: "waiting" } as const;

function outcomeOf(accepted: Accepted): LineResult {
  return typeof accepted === "string" ? OUTCOMES[accepted] : accepted;
}
