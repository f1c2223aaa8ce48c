// Files of levels, `date,percent`: the history of one tank each, from wherever it was measured.

import { createReadStream } from "node:fs";
import { UserError } from "../domain/errors.ts";
import type { Level } from "../domain/forecast/variation.ts";
import { type Instant, parseInstant } from "../domain/instant.ts";
import { FILL } from "../domain/reading.ts";
import { quoted } from "../domain/text.ts";
import { type DecimalMark, errorInFormat, parseDecimal, type Separator, separatorIn } from "../ingest/csv.ts";
import { csvTimes, splitRow } from "../ingest/csv-readings.ts";
import { readLines } from "../ingest/lines.ts";
import { requireReadable } from "./files.ts";

/** In order of time; of two levels at one instant the later line counts. The first line that is not empty may be a header. */
export async function readLevels(file: string, decimal: DecimalMark | undefined): Promise<Level[]> {
  requireReadable(file);
  const levels = new Map<Instant, number>();
  let separator: Separator | undefined;
  const toIso = csvTimes();
  for await (const lines of readLines(checkedChunks(file))) {
    for (const line of lines) {
      const fail = (error: string): never => {
        throw new UserError(`${file}:${line.number}: ${error}`);
      };
      if (line.unreadable !== undefined) return fail(line.unreadable);
      if (line.text.trim() === "") continue;
      const isFirst = separator === undefined;
      separator ??= separatorIn(line.text);
      const cells = splitRow(line.text, separator)?.map((cell) => cell.trim());
      if (cells === undefined) return fail("the row has an unclosed or misplaced quote");
      const [date = "", percent = ""] = cells;
      if (isFirst && !/\d/.test(date)) continue;
      if (cells.length !== 2) fail(`two cells are expected, date and percent, not ${cells.length}`);
      const time = toIso(date);
      const at = typeof time === "string" ? parseInstant(time)?.instant : undefined;
      if (at === undefined) {
        // A header such as `Date (UTC+1),percent`.
        if (isFirst && /^\D+$/.test(percent)) continue;
        return fail(`${quoted(date)} is not a date such as 2026-11-14 or 14.11.2026, or a datetime such as 2026-11-14T09:30:00Z`);
      }
      const fill = parseDecimal(percent, { separator, decimal });
      if (typeof fill === "object") return fail(fill.error);
      if (typeof fill !== "number" || !(fill >= FILL.minimum && fill <= FILL.maximum)) {
        return fail(`percent must be a number from ${FILL.minimum} to ${FILL.maximum}, not ${quoted(percent)}`);
      }
      levels.set(at, fill);
    }
  }
  if (levels.size === 0) throw new UserError(`${file}: there are no levels in it`);
  return Array.from(levels, ([at, fill]) => ({ at, fill })).sort((a, b) => a.at - b.at);
}

async function* checkedChunks(file: string): AsyncGenerator<Buffer> {
  let isFirst = true;
  for await (const chunk of file === "-" ? process.stdin : createReadStream(file)) {
    const error = isFirst ? errorInFormat(chunk) : undefined;
    if (error !== undefined) throw new UserError(`${file}: ${error}`);
    isFirst = false;
    yield chunk;
  }
}
