// A log that cannot be written: the service goes on, and says later what is missing.

import assert from "node:assert/strict";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { LogLines } from "../../src/observe/lines.ts";
import { temporaryFolder } from "../support/service.ts";
import { until } from "../support/until.ts";

const later = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

test("lines are written in their order, and what waits at the end is flushed", async (t) => {
  const file = join(temporaryFolder(t), "log");
  const descriptor = openSync(file, "w");
  t.after(() => closeSync(descriptor));
  const lines = new LogLines(descriptor);
  for (let i = 0; i < 1000; i++) lines.write(`${i}\n`);
  await until("the last line", () => readFileSync(file, "utf8").includes("999\n"));
  lines.write("the ");
  lines.flush();
  assert.equal(readFileSync(file, "utf8").split("\n").slice(0, 1000).join(), Array.from({ length: 1000 }, (_, i) => i).join());
});

test("a log that cannot be written holds nobody up, and tells how many lines are missing when it can", async (t) => {
  const file = join(temporaryFolder(t), "log");
  writeFileSync(file, "");
  const unwritable = openSync(file, "r");
  const lines = new LogLines(unwritable);
  for (let i = 0; i < 5; i++) {
    lines.write(`lost ${i}\n`);
    await later(5);
  }
  lines.flush();
  closeSync(unwritable);
  const writable = openSync(file, "w");
  t.after(() => closeSync(writable));
  assert.equal(writable, unwritable, "the system gives the lowest number that is free");
  lines.write("good\n");
  await until("the count", () => readFileSync(file, "utf8").includes("log_lines_dropped"));
  const written = readFileSync(file, "utf8");
  assert.match(written, /^good\n/);
  assert.equal(JSON.parse(written.split("\n")[1] ?? "").lines, 5);
});
