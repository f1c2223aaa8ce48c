// Imports that are killed many times, and the memory of large ones.

import assert from "node:assert/strict";
import { createWriteStream, readFileSync, statSync } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { test } from "node:test";
import { type Line, manyLines, ndjson } from "../e2e/fixtures.ts";
import { importDespiteKills } from "../e2e/killed-import.ts";
import { type Workspace, workspace } from "../e2e/program.ts";

const MEGABYTE = 1_000_000;
const LARGE_LINES = 570_000;
/** A small heap, so that garbage does not count. */
const HEAP_MB = 64;
/** Far less than what the large file has more. */
const TOLERANCE_MB = 30;

function* groups(lines: Iterable<Line>): Generator<string> {
  let group: Line[] = [];
  for (const line of lines) {
    group.push(line);
    if (group.length < 5000) continue;
    yield ndjson(group);
    group = [];
  }
  yield ndjson(group);
}

/** Runs an import that writes its peak memory to a file as it exits. */
async function peakOfImport({ path, spawn }: Workspace, name: string): Promise<number> {
  const note = `import { appendFileSync } from "node:fs";
    process.on("exit", () => appendFileSync(process.env.PEAK_FILE, process.resourceUsage().maxRSS + "\\n"));`;
  const env = {
    DATABASE_URL: `sqlite:${name}.db`,
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MB} --import=data:text/javascript,${encodeURIComponent(note)}`,
    PEAK_FILE: path(`${name}.peak`),
  };
  const { code, stderr } = await spawn(["import", name], { env });
  assert.equal(code, 0, stderr);
  const kilobytes = readFileSync(env.PEAK_FILE, "utf8").trimEnd().split("\n").map(Number);
  return (Math.max(...kilobytes) * 1024) / MEGABYTE;
}

test("a file ten times as large needs no more memory to import", async (t) => {
  const here = workspace(t);
  await pipeline(Readable.from(groups(manyLines(LARGE_LINES))), createWriteStream(here.path("large.ndjson")));
  await pipeline(Readable.from(groups(manyLines(LARGE_LINES / 10))), createWriteStream(here.path("small.ndjson")));
  const [large, small] = [statSync(here.path("large.ndjson")).size, statSync(here.path("small.ndjson")).size];
  assert.ok(large > 9 * small && large > 50 * MEGABYTE, `${large} and ${small} bytes`);

  const smallPeak = await peakOfImport(here, "small.ndjson");
  const started = performance.now();
  const largePeak = await peakOfImport(here, "large.ndjson");
  const seconds = (performance.now() - started) / 1000;
  t.diagnostic(`${Math.round(small / MEGABYTE)} MB: ${Math.round(smallPeak)} MB of memory at most`);
  t.diagnostic(`${Math.round(large / MEGABYTE)} MB: ${Math.round(largePeak)} MB, in ${seconds.toFixed(1)} s`);
  assert.ok(largePeak < smallPeak + TOLERANCE_MB, `${Math.round(largePeak)} MB instead of ${Math.round(smallPeak)}`);
});

test("an import killed at random moments and repeated ends as if it had never been interrupted", (t) =>
  importDespiteKills(t, 200_000, 6));
