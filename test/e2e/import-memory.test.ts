import assert from "node:assert/strict";
import { createWriteStream, readFileSync, statSync } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { test } from "node:test";
import { type Line, manyLines, ndjson } from "./fixtures.ts";
import { type Workspace, workspace } from "./program.ts";

const MEGABYTE = 1_000_000;
const LARGE_LINES = 570_000;
/** With room, the engine lets garbage lie; what an import needs shows where there is little room. */
const HEAP_MB = 64;
/** The nine parts of ten that the large file has more would not fit into this. */
const BREATH_MB = 30;

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

/** Runs an import that, as it exits, writes down the most memory it ever held. */
async function peakOfImport({ path, run }: Workspace, name: string): Promise<number> {
  const note = `import { appendFileSync } from "node:fs";
    process.on("exit", () => appendFileSync(process.env.PEAK_FILE, process.resourceUsage().maxRSS + "\\n"));`;
  const env = {
    DATABASE_URL: `sqlite:${name}.db`,
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MB} --import=data:text/javascript,${encodeURIComponent(note)}`,
    PEAK_FILE: path(`${name}.peak`),
  };
  const { code, stderr } = await run(["import", name], { env });
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
  assert.ok(largePeak < smallPeak + BREATH_MB, `${Math.round(largePeak)} MB instead of ${Math.round(smallPeak)}`);
});
