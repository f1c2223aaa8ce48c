// tank-monitor export [FILE]

import { once } from "node:events";
import { createWriteStream, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import type { Writable } from "node:stream";
import { UserError } from "../domain/errors.ts";
import { formatInstant } from "../domain/instant.ts";
import type { ExportRecord, Store } from "../domain/store.ts";
import { exportLines } from "../ingest/records.ts";
import { type Command, configOf, say, withStore } from "./command.ts";
import { Progress } from "./progress.ts";

export const exportCommand: Command = {
  name: "export",
  summary: "write everything out as newline-delimited JSON, or the readings as CSV",
  usage: "[FILE] [--csv] [--force]",
  help: `Writes customers, tanks with their shapes, devices with their profiles and where they served before, readings, and
readings that wait, deleted ones included, as lines that "import" takes; of one moment, while the service runs.
Not in it: keys and the audit log; "backup" keeps those. Without FILE, or with -, to stdout. FILE must not exist yet,
and appears when it is whole.

  --csv     only the readings of tanks, as CSV; also when FILE ends in .csv
  --force   overwrites FILE`,
  most: 1,
  flags: { csv: { type: "boolean" }, force: { type: "boolean" } },
  async run(call) {
    const [file = "-"] = call.arguments;
    if (call.flags["force"] !== true) refuseExisting(file);
    const isCsv = call.flags["csv"] === true || file.toLowerCase().endsWith(".csv");
    await withStore(configOf(call), (store) =>
      file === "-" ? write(store, process.stdout, isCsv) : writeFile(store, file, isCsv),
    );
    return 0;
  },
};

/** What is no file, as a pipe, overwrites nothing. */
function refuseExisting(file: string): void {
  if (file === "-" || statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return;
  throw new UserError(`${file} is there already; --force overwrites it`);
}

/** A file appears when it is whole; a link is followed, and what is no file (a pipe, a device) is written as it is. */
async function writeFile(store: Store, file: string, isCsv: boolean): Promise<void> {
  const stats = statSync(file, { throwIfNoEntry: false });
  const target = stats === undefined ? file : realpathSync(file);
  const isPlain = stats?.isFile() ?? true;
  const partial = isPlain ? `${target}.partial` : target;
  const stream = createWriteStream(partial, { flush: isPlain });
  try {
    await once(stream, "open");
    await write(store, stream, isCsv);
    stream.end();
    await once(stream, "close");
    if (isPlain) renameSync(partial, target);
  } catch (error) {
    stream.destroy();
    if (isPlain) rmSync(partial, { force: true });
    if (!(error instanceof Error && "syscall" in error)) throw error;
    throw new UserError(`${file} could not be written: ${error.message}`);
  }
}

const CHUNK_CHARACTERS = 65_536;

async function write(store: Store, out: Writable, isCsv: boolean): Promise<void> {
  const progress = new Progress("exporting");
  let lines = 0;
  let chunk = isCsv ? "tank_id,created_at,fill_percentage\n" : "";
  try {
    for await (const record of store.exportRecords()) {
      for (const line of isCsv ? csvLines(record) : exportLines(record)) {
        chunk += `${line}\n`;
        lines++;
        if (chunk.length < CHUNK_CHARACTERS) continue;
        if (!out.write(chunk)) await once(out, "drain");
        chunk = "";
        progress.show(0, 0, `${lines.toLocaleString("en")} lines`);
      }
    }
    if (chunk !== "" && !out.write(chunk)) await once(out, "drain");
  } finally {
    progress.end();
  }
  say(isCsv ? `${lines} lines exported` : `${lines} lines exported; not in it: keys and the audit log ("backup" keeps those)`);
}

function* csvLines(record: ExportRecord): Generator<string> {
  if (record.kind !== "readings") return;
  const tank = /[",]|^\s|\s$/.test(record.tankId) ? `"${record.tankId.replaceAll('"', '""')}"` : record.tankId;
  for (const { created_at, fill_percentage } of record.readings) yield `${tank},${formatInstant(created_at)},${fill_percentage}`;
}
