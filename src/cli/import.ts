// tank-monitor import FILE…

import { accessSync, closeSync, constants, createReadStream, openSync, rmSync, statSync, writeSync } from "node:fs";
import { UserError } from "../domain/errors.ts";
import type { Store } from "../domain/store.ts";
import { emptySummary, Import, type ImportSummary, type RejectedLine } from "../ingest/import.ts";
import { type CliCommand, configOf, withStore } from "./command.ts";
import { ProgressBar, print, say } from "./output.ts";

export const importCommand: CliCommand = {
  name: "import",
  summary: "import customers, tanks, devices and readings from files",
  usage: "FILE… [--dry-run] [--json]",
  help: `Import newline-delimited JSON in the shapes of the interface, and readings from *.csv with the header
tank_id,created_at,fill_percentage; - is stdin (JSON). Objects and readings that exist are replaced where they differ. An
interrupted import can be run again. Rejected lines are reported and written to FILE.rejects.ndjson with the reason; the
others are imported.

  --dry-run   try everything on a copy of the database, and change nothing
  --json      print the summary as JSON

Exit 1 if a line was rejected.`,
  maxArguments: Number.POSITIVE_INFINITY,
  flags: { "dry-run": { type: "boolean" }, json: { type: "boolean" } },
  async run(call) {
    const files = call.arguments;
    if (files.length === 0) throw new UserError("import: FILE is missing: name at least one file, or - for stdin", 2);
    for (const file of files) requireReadable(file);
    const isDryRun = call.flags["dry-run"] === true;
    const work = (store: Store) => (isDryRun ? importIntoCopy(store, files) : importAll(store, files));
    const summary = await withStore(configOf(call), work, true);
    print(call.flags["json"] === true ? JSON.stringify(summary) : summaryText(summary, isDryRun));
    return summary.rejected === 0 ? 0 : 1;
  },
};

function requireReadable(file: string): void {
  if (file === "-") return;
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) throw new UserError(`no such file: ${file}`);
  if (stats.isDirectory()) throw new UserError(`${file} is a folder; name the files in it`);
  try {
    accessSync(file, constants.R_OK);
  } catch {
    throw new UserError(`no permission to read ${file}`);
  }
}

async function importIntoCopy(store: Store, files: readonly string[]): Promise<ImportSummary> {
  // An orderly exit removes the copy.
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));
  const progress = new ProgressBar("copying the database");
  const copy = await store.scratchCopy((done, total) => progress.show(done, total));
  progress.end();
  try {
    return await importAll(copy, files);
  } finally {
    await copy.close();
  }
}

async function importAll(store: Store, files: readonly string[]): Promise<ImportSummary> {
  const total = emptySummary();
  for (const file of files) {
    const summary = await importFile(store, file);
    for (const name of Object.keys(total) as (keyof ImportSummary)[]) total[name] += summary[name];
  }
  return total;
}

async function importFile(store: Store, file: string): Promise<ImportSummary> {
  const progress = new ProgressBar(file === "-" ? "stdin" : file);
  const rejects = new Rejects(file);
  const task = new Import(store, (reject: RejectedLine) => {
    progress.end();
    rejects.add(reject);
  });
  const size = file === "-" ? 0 : statSync(file).size;
  let done = 0;
  async function* source(): AsyncGenerator<Buffer> {
    const stream = file === "-" ? process.stdin : createReadStream(file, { highWaterMark: 262_144 });
    for await (const chunk of stream) {
      done += chunk.length;
      progress.show(done, size, `${task.summary.read.toLocaleString("en")} lines`);
      yield chunk;
    }
  }
  try {
    await task.run(source(), file.toLowerCase().endsWith(".csv") ? "csv" : "ndjson");
  } catch (error) {
    say(`tank-monitor: import stopped after about ${task.summary.read} lines of ${file}. It can be run again safely`);
    throw error;
  } finally {
    progress.end();
    rejects.close();
  }
  return task.summary;
}

function summaryText({ read, new: created, changed, unchanged, rejected, waiting }: ImportSummary, isDryRun: boolean): string {
  const dryRun = isDryRun ? " (dry run: nothing was changed)" : "";
  const pending = waiting > 0 ? `, ${waiting} pending for a tank, a profile or a shape` : "";
  return `${read} read: ${created} new, ${changed} changed, ${unchanged} unchanged, ${rejected} rejected${pending}${dryRun}`;
}

const MAX_REJECTS_SHOWN = 20;

/** Rejected lines: the first ones on stderr, all of them in a file beside the imported one. */
class Rejects {
  readonly #source: string;
  readonly #file: string;
  #descriptor: number | undefined;
  #isUnwritable = false;
  #count = 0;

  constructor(source: string) {
    this.#source = source === "-" ? "stdin" : source;
    this.#file = `${this.#source}.rejects.ndjson`;
    try {
      rmSync(this.#file, { force: true });
    } catch {
      // Reported with the first line that cannot be written.
    }
  }

  add(reject: RejectedLine): void {
    this.#write(`${JSON.stringify(reject)}\n`);
    this.#count++;
    if (this.#count <= MAX_REJECTS_SHOWN || this.#isUnwritable) say(`${this.#source}:${reject.line}: ${reject.reason}`);
    else if (this.#count === MAX_REJECTS_SHOWN + 1) say(`… see ${this.#file} for more rejected lines`);
  }

  close(): void {
    if (this.#descriptor === undefined) return;
    closeSync(this.#descriptor);
    this.#descriptor = undefined;
    say(`${this.#count} rejected, see ${this.#file}`);
  }

  /** If the file cannot be written, all reasons go to stderr. */
  #write(line: string): void {
    if (this.#isUnwritable) return;
    try {
      this.#descriptor ??= openSync(this.#file, "w", 0o600);
      writeSync(this.#descriptor, line);
    } catch (error) {
      this.#isUnwritable = true;
      say(`tank-monitor: cannot write ${this.#file} (${(error as Error).message}); rejected lines are only shown here`);
    }
  }
}
