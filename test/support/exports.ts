// From one store to another, as `export` and `import` do it, at the end of the calendar.

import type { Store } from "../../src/domain/store.ts";
import { Import, type ImportSummary } from "../../src/ingest/import.ts";
import { exportLines } from "../../src/ingest/records.ts";

const LAST_INSTANT = Date.parse("9999-12-31T23:59:59.999Z");

export async function exportedLines(store: Store): Promise<string[]> {
  const lines: string[] = [];
  for await (const record of store.exportRecords()) lines.push(...exportLines(record));
  return lines;
}

export async function importLines(
  store: Store,
  lines: readonly string[],
): Promise<{ summary: ImportSummary; reasons: string[] }> {
  const reasons: string[] = [];
  const task = new Import(
    store,
    ({ line, reason }) => reasons.push(`${line}: ${reason}`),
    () => LAST_INSTANT,
  );
  async function* source() {
    for (const line of lines) yield Buffer.from(`${line}\n`);
  }
  await task.run(source(), "ndjson");
  return { summary: task.summary, reasons };
}
