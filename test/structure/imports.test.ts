import assert from "node:assert/strict";
import test from "node:test";
import { cyclesIn, faultsOfDirection, type Graph, graphOf, sourcesIn, unknownFiles } from "./import-graph.ts";

const LONGEST_FILE = 400;
const sources = sourcesIn(new URL("../../src/", import.meta.url));
const graph = graphOf(sources);

test("the whole of src is seen", () => {
  for (const file of ["main.ts", "app.ts", "domain/store.ts", "store/open.ts", "store/sqlite/store.ts", "http/server.ts"]) {
    assert.ok(graph.has(file), file);
  }
  assert.ok(graph.get("app.ts")?.includes("store/open.ts"));
  assert.ok(graph.get("store/sqlite/store.ts")?.includes("store/sqlite/writing-thread.ts"));
  assert.deepEqual(unknownFiles(graph), []);
});

test("imports point inward: nobody but the command line stands on app, and no part on another", () => {
  assert.deepEqual(faultsOfDirection(graph), []);
});

test("no files import each other in a circle", () => {
  assert.deepEqual(cyclesIn(graph), []);
});

test(`no file is longer than ${LONGEST_FILE} lines`, () => {
  const long = [...sources].filter(([, text]) => text.trimEnd().split("\n").length > LONGEST_FILE).map(([file]) => file);
  assert.deepEqual(long, []);
});

// The rules themselves, on sources made up to break them.

test("every form of import is seen", () => {
  const text = [
    'import { a } from "./a.ts";',
    'import type { B } from "../domain/b.ts";',
    "import {",
    "  c,",
    "  type D,",
    '} from "./c.ts";',
    'export { d } from "./d.ts";',
    'export * from "./e.ts";',
    'import "./f.ts";',
    'const g = await import("./g.ts");',
    'new Worker(new URL("./h.ts", import.meta.url));',
    'import { readFileSync } from "node:fs";',
    '// import { x } from "./comment.ts";',
    'const words = "import { y } from nowhere";',
  ].join("\n");
  const expected = ["http/a.ts", "domain/b.ts", "http/c.ts", "http/d.ts", "http/e.ts", "http/f.ts", "http/g.ts", "http/h.ts"];
  assert.deepEqual(
    graphOf(new Map([["http/x.ts", text]]))
      .get("http/x.ts")
      ?.toSorted(),
    expected.toSorted(),
  );
});

const arrows = (...list: [string, string][]): Graph => new Map(list.map(([from, to]) => [from, [to]]));

test("an import against the arrows is found", () => {
  const wrong: [string, string][] = [
    ["domain/a.ts", "store/b.ts"],
    ["domain/a.ts", "config.ts"],
    ["domain/a.ts", "app.ts"],
    ["store/a.ts", "http/b.ts"],
    ["http/routes/a.ts", "store/open.ts"],
    ["http/a.ts", "observe/b.ts"],
    ["http/a.ts", "config.ts"],
    ["ingest/a.ts", "manage/b.ts"],
    ["demo/a.ts", "ingest/b.ts"],
    ["simulate/a.ts", "ingest/b.ts"],
    ["simulate/a.ts", "http/b.ts"],
    ["simulate/a.ts", "store/open.ts"],
    ["simulate/a.ts", "manage/b.ts"],
    ["simulate/a.ts", "demo/b.ts"],
    ["observe/a.ts", "app.ts"],
    ["alerts/a.ts", "store/b.ts"],
    ["config.ts", "store/open.ts"],
    ["config.ts", "app.ts"],
    ["app.ts", "cli/a.ts"],
    ["app.ts", "main.ts"],
    ["cli/a.ts", "main.ts"],
  ];
  for (const arrow of wrong) assert.deepEqual(faultsOfDirection(arrows(arrow)), [arrow.join(" imports ")]);
  const right: [string, string][] = [
    ["store/sqlite/a.ts", "domain/b.ts"],
    ["store/open.ts", "store/sqlite/store.ts"],
    ["config.ts", "domain/errors.ts"],
    ["demo/a.ts", "simulate/b.ts"],
    ["simulate/a.ts", "domain/b.ts"],
    ["app.ts", "config.ts"],
    ["app.ts", "http/server.ts"],
    ["cli/a.ts", "app.ts"],
    ["cli/a.ts", "store/open.ts"],
    ["main.ts", "cli/a.ts"],
    ["main.ts", "app.ts"],
  ];
  for (const arrow of right) assert.deepEqual(faultsOfDirection(arrows(arrow)), []);
});

test("a circle is found, however long, and a mere diamond is none", () => {
  assert.deepEqual(cyclesIn(arrows(["a", "b"], ["b", "c"], ["c", "d"], ["d", "b"], ["e", "a"])), [["b", "c", "d"]]);
  assert.deepEqual(cyclesIn(arrows(["a", "a"])), [["a"]]);
  assert.deepEqual(cyclesIn(arrows(["a", "b"], ["b", "a"], ["c", "d"], ["d", "c"])).toSorted(), [
    ["a", "b"],
    ["c", "d"],
  ]);
  const diamond: Graph = new Map([
    ["a", ["b", "c"]],
    ["b", ["d"]],
    ["c", ["d"]],
    ["d", []],
  ]);
  assert.deepEqual(cyclesIn(diamond), []);
});
