// docs/configuration.md and the table of entries, held to each other.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { ENTRIES } from "../../src/config.ts";

const page = readFileSync(new URL("../../docs/configuration.md", import.meta.url), "utf8");
/** Read by one command only. */
const OF_SIMULATE = "TANK_MONITOR_MANAGE_KEY";

/** The rows of the page's tables whose first cell is the name of a variable. */
const rows = page
  .split("\n")
  .filter((line) => line.startsWith("|"))
  .map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
  .flatMap(([first = "", ...rest]) => (/^`[A-Z][A-Z0-9_]*`$/.test(first) ? [{ name: first.slice(1, -1), rest }] : []));

test("every entry of the configuration is described, once, and nothing else is", () => {
  assert.deepEqual(rows.map(({ name }) => name).toSorted(), Object.keys(ENTRIES).toSorted());
});

test("the page names no variable that does not exist", () => {
  const named = [...page.matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`/g)].map(([, name = ""]) => name);
  assert.ok(named.length > 0);
  for (const name of named) assert.ok(Object.hasOwn(ENTRIES, name) || name === OF_SIMULATE, name);
});

test("the default of each entry is the one that holds", () => {
  for (const { name, rest } of rows) {
    const { fallback } = ENTRIES[name as keyof typeof ENTRIES] ?? {};
    const words = fallback === null || Array.isArray(fallback) ? "none" : `\`${fallback}\``;
    assert.ok(rest.includes(words), `${name}: no cell of its row is ${words}`);
  }
});
