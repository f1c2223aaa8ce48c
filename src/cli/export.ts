// tank-monitor export [FILE]

import { once } from "node:events";
import { createWriteStream, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import type { Writable } from "node:stream";
import { UserError } from "../domain/errors.ts";
import { formatInstant } from "../domain/instant.ts";
import type { ExportRecord, Store } from "../domain/store.ts";
import { exportLines } from "../ingest/records.ts";
import { type CliCommand, configOf, withStore } from "./command.ts";
import { ProgressBar, say } from "./output.ts";

export const exportCommand: CliCommand = {
  name: "export",
  summary: "export everything as newline-delimited JSON, or readings as CSV",
  usage: "[FILE] [--csv] [--force]",
  help: `Export customers, tanks with their shapes, devices with their profiles and former tanks, readings and pending readings,
including deleted objects, as lines for "import". The export is consistent, and the service keeps running. It does not contain
keys and the audit log; "backup" does. Without FILE, or with -, it goes to stdout. FILE appears once it is complete. Whatever is
damaged is left out and printed on stderr, and the exit code is 1.

  --csv     only the readings of tanks, as CSV; also if FILE ends in .csv
  --force   overwrite FILE`,
  maxArguments: 1,
  flags: { csv: { type: "boolean" }, force: { type: "boolean" } },
  async run(call) {
    const [file = "-"] = call.arguments;
    if (call.flags["force"] !== true && file !== "-" && statSync(file, { throwIfNoEntry: false })?.isFile() === true) {
      throw new UserError(`${file} already exists; --force overwrites it`);
    }
    const isCsv = call.flags["csv"] === true || file.toLowerCase().endsWith(".csv");
    const damaged = await withStore(configOf(call), (store) =>
      file === "-" ? write(store, process.stdout, isCsv) : writeFile(store, file, isCsv),
    );
    if (damaged > 0) say('The database is damaged, and the export is not complete: restore a backup, or see "check".');
    return damaged > 0 ? 1 : 0;
  },
};

/** A file appears once it is complete. A link is followed; a pipe or device is written directly. */
async function writeFile(store: Store, file: string, isCsv: boolean): Promise<number> {
  const stats = statSync(file, { throwIfNoEntry: false });
  const target = stats === undefined ? file : realpathSync(file);
  const isRegular = stats?.isFile() ?? true;
  const partial = isRegular ? `${target}.partial` : target;
  const stream = createWriteStream(partial, { flush: isRegular });
  try {
    await once(stream, "open");
    const damaged = await write(store, stream, isCsv);
    stream.end();
    await once(stream, "close");
    if (isRegular) renameSync(partial, target);
    return damaged;
  } catch (error) {
    stream.destroy();
    if (isRegular) rmSync(partial, { force: true });
    if (!(error instanceof Error && "syscall" in error)) throw error;
    throw new UserError(`cannot write ${file}: ${error.message}`);
  }
}

const CHUNK_CHARACTERS = 65_536;

/** Returns how many damaged things were left out. */
async function write(store: Store, out: Writable, isCsv: boolean): Promise<number> {
  using progress = new ProgressBar("exporting");
  let lines = 0;
  let damaged = 0;
  let chunk = isCsv ? "tank_id,created_at,fill_percentage\n" : "";
  for await (const record of store.exportRecords()) {
    if (record.kind === "damaged") {
      damaged++;
      say(`left out: ${record.what}`);
    }
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
  progress.end();
  say(`${lines} lines exported${isCsv ? "" : ', without keys and the audit log ("backup" has those)'}`);
  return damaged;
}

function* csvLines(record: ExportRecord): Generator<string> {
  if (record.kind !== "readings") return;
  const tank = /[",]|^\s|\s$/.test(record.tankId) ? `"${record.tankId.replaceAll('"', '""')}"` : record.tankId;
  for (const { created_at, fill_percentage } of record.readings) yield `${tank},${formatInstant(created_at)},${fill_percentage}`;
}
