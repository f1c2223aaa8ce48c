import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { filesOf, GROUPS, importTests } from "./support/one-process.ts";

test("npm test runs every test file once", () => {
  const { scripts } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    scripts: { test: string };
  };
  const patterns = Array.from(scripts.test.matchAll(/"([^"]+\.test\.ts)"/g), ([, pattern = ""]) => pattern);
  const run = [...patterns, ...Object.values(GROUPS)].flatMap(filesOf);
  assert.deepEqual(run.sort(), filesOf("test/**/*.test.ts"));
});

await importTests("units");
