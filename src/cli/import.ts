// tank-monitor import FILE…

import { closeSync, createReadStream, existsSync, openSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { UserError } from "../domain/errors.ts";
import type { Store } from "../domain/store.ts";
import { quoted } from "../domain/text.ts";
import { errorInFormat } from "../ingest/csv.ts";
import { type CsvOptions, csvRowDecoder } from "../ingest/csv-readings.ts";
import { emptySummary, Import, type ImportSummary, type RejectedLine } from "../ingest/import.ts";
import { withTemporaryFile } from "../store/files.ts";
import { type CliCall, type CliCommand, configOf, decimalMark, dryRunConfig, text, withStore } from "./command.ts";
import { copyMode, exitOnSignals, isSameFile, requireReadable } from "./files.ts";
import { counted, ProgressBar, print, printMessage } from "./output.ts";

export const importCommand: CliCommand = {
  name: "import",
  summary: "import customers, tanks, devices and readings from files",
  usage: "FILE… [--dry-run] [--timezone ZONE] [--decimal-comma | --decimal-point] [--json]",
  help: `Import newline-delimited JSON with objects as in the API, and readings from *.csv and *.tsv with the header
tank_id,created_at,fill_percentage, separated by commas, semicolons or tabs; - is stdin (JSON). Objects and readings that
exist are replaced where they differ. An interrupted import can be run again. Rejected lines are reported and written to
FILE.rejects.ndjson with the reason, once FILE has been read completely; the others are imported.

  --dry-run         try everything on a copy of the database, and change nothing
  --timezone ZONE   time zone of times in CSV files without an offset, such as 2026-11-01 08:00; UTC by default
  --decimal-comma   numbers in CSV files are written as 1.200,5
  --decimal-point   numbers in CSV files are written as 1,200.5
  --json            print the summary as JSON

Exit 1 if a line was rejected.`,
  maxArguments: Number.POSITIVE_INFINITY,
  flags: {
    "dry-run": { type: "boolean" },
    timezone: { type: "string" },
    "decimal-comma": { type: "boolean" },
    "decimal-point": { type: "boolean" },
    json: { type: "boolean" },
  },
  async run(call) {
    const files = call.arguments;
    if (files.length === 0) throw new UserError("import: FILE is missing: name at least one file, or - for stdin", 2);
    for (const file of files) requireReadable(file);
    requireNoRejectsFiles(files);
    const csv = { decimal: decimalMark(call), timezone: timezoneOf(call) };
    if (!files.some(isCsv) && (csv.decimal ?? csv.timezone) !== undefined) {
      throw new UserError("import: --timezone, --decimal-comma and --decimal-point are for CSV files (*.csv, *.tsv)", 2);
    }
    const isDryRun = call.flags["dry-run"] === true;
    const work = (store: Store) => (isDryRun ? importIntoCopy(store, files, csv) : importAll(store, files, csv, true));
    exitOnSignals();
    const config = configOf(call);
    const summary = isDryRun ? await withStore(dryRunConfig(config), work, "silently") : await withStore(config, work, true);
    print(call.flags["json"] === true ? JSON.stringify(summary) : summaryText(summary, isDryRun));
    return summary.rejected === 0 ? 0 : 1;
  },
};

const isCsv = (file: string): boolean => /\.[ct]sv$/i.test(file);

function timezoneOf(call: CliCall): string | undefined {
  const timezone = text(call, "timezone");
  if (timezone === undefined) return undefined;
  try {
    return Temporal.Now.zonedDateTimeISO(timezone).timeZoneId;
  } catch {
    throw new UserError(`--timezone must be a time zone such as Europe/Berlin, not ${quoted(timezone)}`, 2);
  }
}

async function importIntoCopy(store: Store, files: readonly string[], csv: CsvOptions): Promise<ImportSummary> {
  const progress = new ProgressBar("copying the database");
  const copy = await store.scratchCopy((done, total) => progress.show(done, total));
  progress.end();
  try {
    return await importAll(copy, files, csv, false);
  } finally {
    await copy.close();
  }
}

/** `removesRejects`: an earlier list of rejected lines is removed if there are none now. */
async function importAll(
  store: Store,
  files: readonly string[],
  csv: CsvOptions,
  removesRejects: boolean,
): Promise<ImportSummary> {
  const total = emptySummary();
  for (const file of files) {
    const summary = await importFile(store, file, csv, removesRejects);
    for (const name of Object.keys(total) as (keyof ImportSummary)[]) total[name] += summary[name];
  }
  return total;
}

async function importFile(store: Store, file: string, csv: CsvOptions, removesRejects: boolean): Promise<ImportSummary> {
  return withTemporaryFile(`${rejectsFileOf(file)}.partial`, async (partial) => {
    using rejects = new Rejects(file, partial);
    const summary = await importLines(store, file, csv, rejects);
    rejects.complete(removesRejects);
    return summary;
  });
}

async function importLines(store: Store, file: string, csv: CsvOptions, rejects: Rejects): Promise<ImportSummary> {
  const name = nameOf(file);
  const progress = new ProgressBar(name);
  const task = new Import(store, (reject: RejectedLine) => {
    progress.end();
    rejects.add(reject);
  });
  const reportStop = (): void => {
    progress.end();
    if (task.summary.read === 0) return;
    printMessage(`tank-monitor: import stopped after about ${task.summary.read} lines of ${name}. It can be run again safely`);
  };
  // A signal ends the process.
  process.once("exit", reportStop);
  const size = file === "-" ? 0 : statSync(file).size;
  let done = 0;
  let start = "";
  async function* source(): AsyncGenerator<Buffer> {
    const stream = file === "-" ? process.stdin : createReadStream(file, { highWaterMark: 262_144 });
    for await (const chunk of stream) {
      const error = done === 0 ? errorInFormat(chunk) : undefined;
      if (error !== undefined) throw new UserError(error);
      if (!isCsv(file) && start.length < MAX_HEADER_BYTES && !start.includes("\n")) {
        start = `${start}${chunk.toString("utf8", 0, MAX_HEADER_BYTES)}`.slice(0, MAX_HEADER_BYTES);
        rejectCsvHeader(file, start);
      }
      done += chunk.length;
      progress.show(done, size, `${task.summary.read.toLocaleString("en")} lines`);
      yield chunk;
    }
  }
  try {
    await task.run(source(), isCsv(file) ? "csv" : "ndjson", csv);
  } catch (error) {
    reportStop();
    throw error instanceof UserError ? new UserError(`${name}: ${error.message}`) : error;
  } finally {
    progress.end();
    process.off("exit", reportStop);
  }
  return task.summary;
}

/** Longer than any header of readings, also with quotes. */
const MAX_HEADER_BYTES = 200;

/** CSV under another name: each of its lines would be rejected as JSON. */
function rejectCsvHeader(file: string, start: string): void {
  const [line = ""] = start.replace(/^\ufeff/, "").split(/\r?\n/);
  if ("error" in csvRowDecoder(line)) return;
  const advice = file === "-" ? "save it to a file whose name ends in .csv" : "rename the file so that its name ends in .csv";
  throw new UserError(`this is CSV, which is not expected here: ${advice}, and import that`);
}

function summaryText(summary: ImportSummary, isDryRun: boolean): string {
  const { read, new: created, changed, unchanged, rejected, pending, assumed_utc } = summary;
  const dryRun = isDryRun ? " (dry run: nothing was changed)" : "";
  const pendingPart = pending > 0 ? `, ${pending} pending (a tank, a profile or a shape is missing)` : "";
  const utcPart = assumed_utc > 0 ? `; ${counted(assumed_utc, "time")} without an offset read as UTC` : "";
  return `${read} read: ${created} new, ${changed} changed, ${unchanged} unchanged, ${rejected} rejected${pendingPart}${utcPart}${dryRun}`;
}

const MAX_REJECTS_SHOWN = 20;

const nameOf = (file: string): string => (file === "-" ? "stdin" : file);
const rejectsFileOf = (file: string): string => `${nameOf(file)}.rejects.ndjson`;

function requireNoRejectsFiles(files: readonly string[]): void {
  for (const file of files) {
    const own = files.find((other) => other !== "-" && isSameFile(other, rejectsFileOf(file)));
    if (own === undefined) continue;
    throw new UserError(`import: rejected lines of ${nameOf(file)} are written to ${own}: rename it, or import it by itself`, 2);
  }
}

/** Rejected lines: the first ones on stderr, all of them in a file beside the imported one, once that one is read completely. */
class Rejects {
  readonly #source: string;
  readonly #file: string;
  readonly #partial: string;
  #descriptor: number | undefined;
  #isUnwritable = false;
  #count = 0;

  constructor(source: string, partial: string) {
    this.#source = nameOf(source);
    this.#file = rejectsFileOf(source);
    this.#partial = partial;
  }

  add(reject: RejectedLine): void {
    this.#write(`${JSON.stringify(reject)}\n`);
    this.#count++;
    if (this.#count <= MAX_REJECTS_SHOWN || this.#isUnwritable) printMessage(`${this.#source}:${reject.line}: ${reject.reason}`);
    else if (this.#count === MAX_REJECTS_SHOWN + 1) printMessage(`… see ${this.#file} for more rejected lines`);
  }

  /** Replaces the list of an earlier import, or removes it. */
  complete(removesEarlier: boolean): void {
    try {
      if (this.#descriptor !== undefined) {
        this[Symbol.dispose]();
        copyMode(this.#file, this.#partial);
        renameSync(this.#partial, this.#file);
        printMessage(`${this.#count} rejected, see ${this.#file}`);
      } else if (removesEarlier && this.#count === 0 && existsSync(this.#file)) rmSync(this.#file);
    } catch (error) {
      printMessage(`tank-monitor: cannot replace ${this.#file} (${(error as Error).message})`);
    }
  }

  [Symbol.dispose](): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  /** If the file cannot be written, all reasons go to stderr. */
  #write(line: string): void {
    if (this.#isUnwritable) return;
    try {
      this.#descriptor ??= this.#open();
      writeSync(this.#descriptor, line);
    } catch (error) {
      this.#isUnwritable = true;
      printMessage(`tank-monitor: cannot write ${this.#file} (${(error as Error).message}); rejected lines are only shown here`);
    }
  }

  #open(): number {
    if (statSync(this.#file, { throwIfNoEntry: false })?.isDirectory() === true) throw new Error("it is a folder");
    return openSync(this.#partial, "wx", 0o600);
  }
}
