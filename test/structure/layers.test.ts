// Imports point inward, to `domain`; cycles are found by Biome (noImportCycles).

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import test from "node:test";

const MAX_LINES = 400;
/** From the outside in: each may import what comes after it, and every other part. */
const OUTER = ["main.ts", "cli", "workers", "app.ts", "mqtt.ts"];
/** Static, dynamic, re-exported, and a worker thread's file. */
const IMPORT = /(?:\bfrom\s+|^\s*import\s+|\bimport\(\s*|\bnew URL\(\s*)"(\.{1,2}\/[^"]+\.ts)"/gm;

const src = new URL("../../src/", import.meta.url);
const files = readdirSync(src, { recursive: true, encoding: "utf8" })
  .map((name) => name.replaceAll("\\", "/"))
  .filter((name) => name.endsWith(".ts"))
  .map((name) => ({ name, text: readFileSync(new URL(name, src), "utf8") }));

const importsOf = (name: string, text: string): string[] =>
  Array.from(text.matchAll(IMPORT), ([, path = ""]) => posix.join(posix.dirname(name), path));

/** A folder of `src`, or a file in `src` itself. */
const partOf = (file: string): string => file.split("/")[0] ?? "";

/** Inner parts import only themselves and `domain`; the demo also runs the simulator. */
function mayImport(from: string, to: string): boolean {
  if (from === to || to === "domain" || (from === "demo" && to === "simulate")) return true;
  const layer = OUTER.indexOf(from);
  return layer !== -1 && !OUTER.slice(0, layer).includes(to);
}

test("imports point inward: domain imports nothing of ours, and inner parts do not import each other", () => {
  const imports = files.flatMap(({ name, text }) => importsOf(name, text).map((to) => ({ from: name, to })));
  const wrong = imports.filter(({ from, to }) => !to.startsWith("..") && !mayImport(partOf(from), partOf(to)));
  assert.deepEqual(wrong, []);
  const has = (from: string, to: string) => imports.some((edge) => edge.from === from && edge.to === to);
  assert.ok(has("app.ts", "store/open.ts") && imports.length > files.length, "imports are recognised");
  assert.deepEqual([mayImport("domain", "store"), mayImport("http", "store"), mayImport("app.ts", "cli")], [false, false, false]);
  for (const form of ['export * from "./b.ts"', 'import "./b.ts"', 'await import("./b.ts")', 'new URL("./b.ts", x)']) {
    assert.deepEqual(importsOf("http/a.ts", form), ["http/b.ts"], form);
  }
});

test(`no file is longer than ${MAX_LINES} lines`, () => {
  assert.deepEqual(
    files.filter(({ text }) => text.trimEnd().split("\n").length > MAX_LINES).map(({ name }) => name),
    [],
  );
});

test("docs/architecture.md names only files that exist", () => {
  const text = readFileSync(new URL("../../docs/architecture.md", import.meta.url), "utf8");
  const names = [...new Set(text.match(/[\w/-]+\.ts\b/g))];
  const exists = (end: string): boolean => files.some(({ name }) => `/src/${name}`.endsWith(`/${end}`));
  assert.ok(names.length > 30, `${names}`);
  assert.deepEqual(
    names.filter((name) => !exists(name)),
    [],
  );
});
