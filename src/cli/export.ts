// tank-monitor export [FILE]

import { createWriteStream, realpathSync, statSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { UserError } from "../domain/errors.ts";
import { formatInstant } from "../domain/instant.ts";
import type { ExportRecord, Store } from "../domain/store.ts";
import { csvCell } from "../ingest/formula.ts";
import { exportLines } from "../ingest/records.ts";
import { type CliCommand, configOf, withStore } from "./command.ts";
import { cannotWrite, rejectDatabaseFile, writeAtomically } from "./files.ts";
import { ProgressBar, printMessage } from "./output.ts";

const NOT_EXPORTED = "users, sessions, keys, channels, notifications, alerts, events and the audit log";

/** Spreadsheets and tables other than CSV with commas. */
const OTHER_TABLES = /\.(?:tsv|xlsx?|ods)$/i;

export const exportCommand: CliCommand = {
  name: "export",
  summary: "export everything as newline-delimited JSON, or readings as CSV",
  usage: "[FILE] [--csv] [--force]",
  help: `Export customers, tanks with their shapes and alert settings, devices with their profiles and past assignments, readings and pending readings,
including deleted objects, as lines for "import". The export is consistent, and the service keeps running. It does not contain
${NOT_EXPORTED}; "backup" does. Without FILE, or with -, it goes to stdout. FILE appears once it is
complete. Damaged data is left out and reported on stderr, and the exit code is 1.

  --csv     only the readings of tanks, as CSV with commas; also if FILE ends in .csv
  --force   overwrite FILE`,
  maxArguments: 1,
  flags: { csv: { type: "boolean" }, force: { type: "boolean" } },
  async run(call) {
    const [file = "-"] = call.arguments;
    const [other] = OTHER_TABLES.exec(file) ?? [];
    if (other !== undefined) {
      throw new UserError(
        `export: ${other} is not supported; use a name that ends in .csv for readings, or .ndjson for everything`,
        2,
      );
    }
    const config = configOf(call);
    if (file !== "-") rejectDatabaseFile(file, config.databaseUrl);
    if (call.flags["force"] !== true && file !== "-" && statSync(file, { throwIfNoEntry: false })?.isFile() === true) {
      throw new UserError(`${file} already exists; --force overwrites it`);
    }
    const isCsv = call.flags["csv"] === true || file.toLowerCase().endsWith(".csv");
    const counts = { lines: 0, damaged: 0 };
    await withStore(config, (store) =>
      file === "-"
        ? pipeline(chunks(store, isCsv, counts), process.stdout, { end: false })
        : writeFile(file, chunks(store, isCsv, counts)),
    );
    printMessage(`${counts.lines} lines exported${isCsv ? "" : `, without ${NOT_EXPORTED} ("backup" has those)`}`);
    if (counts.damaged === 0) return 0;
    printMessage("the export is not complete, since the database is damaged: restore a backup");
    return 1;
  },
};

/** A file appears once it is complete. A link is followed; a pipe or device is written directly. */
async function writeFile(file: string, contents: AsyncIterable<string>): Promise<void> {
  const stats = statSync(file, { throwIfNoEntry: false });
  try {
    if (stats !== undefined && !stats.isFile()) return await pipeline(contents, createWriteStream(file));
    await writeAtomically(stats === undefined ? file : realpathSync(file), (partial) =>
      pipeline(contents, createWriteStream(partial, { flags: "wx", mode: 0o600, flush: true })),
    );
  } catch (error) {
    throw cannotWrite(file, error);
  }
}

const CHUNK_CHARACTERS = 65_536;

type Counts = { lines: number; damaged: number };

async function* chunks(store: Store, isCsv: boolean, counts: Counts): AsyncGenerator<string> {
  using progress = new ProgressBar("exporting");
  let chunk = isCsv ? "tank_id,created_at,fill_percentage\n" : "";
  for await (const record of store.exportRecords()) {
    if (record.kind === "damaged") {
      counts.damaged++;
      printMessage(`left out: ${record.what}`);
    }
    for (const line of isCsv ? csvLines(record) : exportLines(record)) {
      chunk += `${line}\n`;
      counts.lines++;
      if (chunk.length < CHUNK_CHARACTERS) continue;
      yield chunk;
      chunk = "";
      progress.show(0, 0, `${counts.lines.toLocaleString("en")} lines`);
    }
  }
  yield chunk;
}

function* csvLines(record: ExportRecord): Generator<string> {
  if (record.kind !== "readings") return;
  const tank = csvCell(record.tankId);
  for (const { created_at, fill_percentage } of record.readings) yield `${tank},${formatInstant(created_at)},${fill_percentage}`;
}
