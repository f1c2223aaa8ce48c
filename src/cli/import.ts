// tank-monitor import FILE…

import { accessSync, constants, createReadStream, statSync } from "node:fs";
import { UserError } from "../domain/errors.ts";
import type { Store } from "../domain/store.ts";
import { emptySummary, Import, type ImportFormat, type ImportSummary, type RejectedLine } from "../ingest/import.ts";
import { type Command, configOf, print, say, withStore } from "./command.ts";
import { Progress } from "./progress.ts";
import { Rejects } from "./rejects.ts";

export const importCommand: Command = {
  name: "import",
  summary: "bring customers, tanks, devices and readings in from files",
  usage: "FILE… [--dry-run] [--json]",
  help: `Reads newline-delimited JSON in the shapes of the interface, and CSV readings from *.csv with the header
tank_id,created_at,fill_percentage; - is stdin (JSON). What is there already is left as it is; what differs is
replaced; running an interrupted import again ends in the same state. A line that cannot be taken is reported,
goes to FILE.rejects.ndjson with its number and the reason, and stops nothing else.

  --dry-run   tries everything on a copy of the database, and changes nothing
  --json      prints the summary as JSON

Exit 1 if any line was rejected.`,
  most: Number.POSITIVE_INFINITY,
  flags: { "dry-run": { type: "boolean" }, json: { type: "boolean" } },
  async run(call) {
    const files = call.arguments;
    if (files.length === 0) throw new UserError("import: name at least one file, or - for stdin", 2);
    for (const file of files) refuseUnreadable(file);
    const isDry = call.flags["dry-run"] === true;
    const take = (store: Store) => (isDry ? rehearse(store, files) : importAll(store, files));
    const summary = await withStore(configOf(call), take, true);
    if (call.flags["json"] === true) print(JSON.stringify(summary));
    else print(words(summary, isDry));
    return summary.rejected === 0 ? 0 : 1;
  },
};

function refuseUnreadable(file: string): void {
  if (file === "-") return;
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) throw new UserError(`there is no file ${file}`);
  if (stats.isDirectory()) throw new UserError(`${file} is a folder; name the files in it`);
  try {
    accessSync(file, constants.R_OK);
  } catch {
    throw new UserError(`${file} may not be read by this user`);
  }
}

async function rehearse(store: Store, files: readonly string[]): Promise<ImportSummary> {
  // An orderly exit removes the copy.
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));
  const progress = new Progress("copying the database");
  const copy = await store.scratchCopy((done, total) => progress.show(done, total, ""));
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
  const progress = new Progress(file === "-" ? "stdin" : file);
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
    await task.run(source(), formatOf(file));
  } catch (error) {
    const { read } = task.summary;
    say(`tank-monitor: the import stopped after about ${read} lines of ${file}; run it again to go on, nothing is counted twice`);
    throw error;
  } finally {
    progress.end();
    rejects.close();
  }
  return task.summary;
}

function formatOf(file: string): ImportFormat {
  return file.toLowerCase().endsWith(".csv") ? "csv" : "ndjson";
}

function words({ read, new: made, changed, unchanged, rejected, waiting }: ImportSummary, isDry: boolean): string {
  const dry = isDry ? " (dry run: nothing was changed)" : "";
  const waits = waiting > 0 ? `, ${waiting} waiting for a tank, a profile or a shape` : "";
  return `${read} read: ${made} new, ${changed} changed, ${unchanged} unchanged, ${rejected} rejected${waits}${dry}`;
}
