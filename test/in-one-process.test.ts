// The tests of these folders in one process: starting a process for each file takes longer than its tests. They use no database
// server and no other process, and change nothing global. `npm test` runs all other files in processes of their own.

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import test from "node:test";

const ROOT = new URL("../", import.meta.url);
const IN_ONE_PROCESS = "test/{cli,config,domain,store/series,structure}/**/*.test.ts";

const filesOf = (pattern: string): string[] => globSync(pattern, { cwd: ROOT }).map((file) => file.replaceAll("\\", "/"));
const files = filesOf(IN_ONE_PROCESS);

test("npm test runs every test file once", () => {
  const { scripts } = JSON.parse(readFileSync(new URL("package.json", ROOT), "utf8")) as { scripts: { test: string } };
  const patterns = Array.from(scripts.test.matchAll(/"([^"]+\.test\.ts)"/g), ([, pattern = ""]) => pattern);
  assert.deepEqual([...patterns.flatMap(filesOf), ...files].sort(), filesOf("test/**/*.test.ts").sort());
});

for (const file of files.sort()) await import(new URL(file, ROOT).href);
