// tank-monitor export [FILE]

import { createWriteStream, realpathSync, statSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { UserError } from "../domain/errors.ts";
import { formatInstant } from "../domain/instant.ts";
import type { ExportRecord, Store } from "../domain/store.ts";
import { csvCell } from "../ingest/csv.ts";
import { exportLines } from "../ingest/records.ts";
import { type CliCommand, configOf, withStore } from "./command.ts";
import { cannotWrite, requireOtherFile, writeWhole } from "./files.ts";
import { ProgressBar, say } from "./output.ts";

export const exportCommand: CliCommand = {
  name: "export",
  summary: "export everything as newline-delimited JSON, or readings as CSV",
  usage: "[FILE] [--csv] [--force]",
  help: `Export customers, tanks with their shapes, devices with their profiles and former tanks, readings and pending readings,
including deleted objects, as lines for "import". The export is consistent, and the service keeps running. It does not contain
keys and the audit log; "backup" does. Without FILE, or with -, it goes to stdout. FILE appears once it is complete.

  --csv     only the readings of tanks, as CSV; also if FILE ends in .csv
  --force   overwrite FILE`,
  maxArguments: 1,
  flags: { csv: { type: "boolean" }, force: { type: "boolean" } },
  async run(call) {
    const [file = "-"] = call.arguments;
    const config = configOf(call);
    if (file !== "-") requireOtherFile(file, config.databaseUrl);
    if (call.flags["force"] !== true && file !== "-" && statSync(file, { throwIfNoEntry: false })?.isFile() === true) {
      throw new UserError(`${file} already exists; --force overwrites it`);
    }
    const isCsv = call.flags["csv"] === true || file.toLowerCase().endsWith(".csv");
    let lines = 0;
    const counted = (count: number): void => {
      lines = count;
    };
    await withStore(config, (store) =>
      file === "-"
        ? pipeline(chunks(store, isCsv, counted), process.stdout, { end: false })
        : writeFile(file, chunks(store, isCsv, counted)),
    );
    say(`${lines} lines exported${isCsv ? "" : ', without keys and the audit log ("backup" has those)'}`);
    return 0;
  },
};

/** A file appears once it is complete. A link is followed; a pipe or device is written directly. */
async function writeFile(file: string, contents: AsyncIterable<string>): Promise<void> {
  const stats = statSync(file, { throwIfNoEntry: false });
  try {
    if (stats !== undefined && !stats.isFile()) return await pipeline(contents, createWriteStream(file));
    await writeWhole(stats === undefined ? file : realpathSync(file), (partial) =>
      pipeline(contents, createWriteStream(partial, { flags: "wx", mode: 0o600, flush: true })),
    );
  } catch (error) {
    throw cannotWrite(file, error);
  }
}

const CHUNK_CHARACTERS = 65_536;

async function* chunks(store: Store, isCsv: boolean, counted: (lines: number) => void): AsyncGenerator<string> {
  using progress = new ProgressBar("exporting");
  let lines = 0;
  let chunk = isCsv ? "tank_id,created_at,fill_percentage\n" : "";
  for await (const record of store.exportRecords()) {
    for (const line of isCsv ? csvLines(record) : exportLines(record)) {
      chunk += `${line}\n`;
      lines++;
      if (chunk.length < CHUNK_CHARACTERS) continue;
      yield chunk;
      chunk = "";
      progress.show(0, 0, `${lines.toLocaleString("en")} lines`);
    }
  }
  yield chunk;
  counted(lines);
}

function* csvLines(record: ExportRecord): Generator<string> {
  if (record.kind !== "readings") return;
  const tank = csvCell(record.tankId);
  for (const { created_at, fill_percentage } of record.readings) yield `${tank},${formatInstant(created_at)},${fill_percentage}`;
}
