// tank-monitor export [FILE]

import { once } from "node:events";
import { createWriteStream, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import type { Writable } from "node:stream";
import { customerObject } from "../domain/customer.ts";
import { Complaint } from "../domain/errors.ts";
import { formatInstant } from "../domain/instant.ts";
import { telemetryObject } from "../domain/reading.ts";
import type { StoredRecord } from "../domain/record.ts";
import type { Store } from "../domain/store.ts";
import { tankObject } from "../domain/tank.ts";
import { type Command, configOf, say, withStore } from "./command.ts";
import { Progress } from "./progress.ts";

export const exportCommand: Command = {
  name: "export",
  summary: "write everything out as newline-delimited JSON, or the readings as CSV",
  usage: "[FILE] [--csv]",
  help: `Writes customers, tanks and readings, deleted ones included, as lines that "import" takes; of one moment, while
the service runs. Without FILE, or with -, to stdout. FILE appears when it is whole.

  --csv   only the readings, as CSV; also when FILE ends in .csv`,
  most: 1,
  flags: { csv: { type: "boolean" } },
  async run(call) {
    const [file = "-"] = call.arguments;
    const isCsv = call.flags["csv"] === true || file.toLowerCase().endsWith(".csv");
    await withStore(configOf(call), (store) =>
      file === "-" ? write(store, process.stdout, isCsv) : writeFile(store, file, isCsv),
    );
    return 0;
  },
};

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
    throw new Complaint(`${file} could not be written: ${error.message}`);
  }
}

const CHUNK_CHARACTERS = 65_536;

async function write(store: Store, out: Writable, isCsv: boolean): Promise<void> {
  const progress = new Progress("exporting");
  let lines = 0;
  let chunk = isCsv ? "tank_id,created_at,fill_percentage\n" : "";
  try {
    for await (const record of store.records()) {
      for (const line of isCsv ? csvLines(record) : jsonLines(record)) {
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
  say(`${lines} lines exported`);
}

function* jsonLines(record: StoredRecord): Generator<string> {
  switch (record.kind) {
    case "customer":
      yield JSON.stringify({ ...customerObject(record.customer), ...(record.deleted ? { deleted: true } : {}) });
      return;
    case "tank":
      yield JSON.stringify({ ...tankObject(record.tank), ...(record.deleted ? { deleted: true } : {}) });
      return;
    case "readings":
      for (const reading of record.readings) {
        const { object, ...rest } = telemetryObject(reading);
        yield JSON.stringify({ object, tank_id: record.tankId, ...rest });
      }
  }
}

function* csvLines(record: StoredRecord): Generator<string> {
  if (record.kind !== "readings") return;
  const tank = /[",]|^\s|\s$/.test(record.tankId) ? `"${record.tankId.replaceAll('"', '""')}"` : record.tankId;
  for (const { created_at, fill_percentage } of record.readings) yield `${tank},${formatInstant(created_at)},${fill_percentage}`;
}
