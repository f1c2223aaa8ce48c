// The catalogue of errors and docs/errors.md tell the same, both ways, and nothing in the catalogue is idle.

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { ERROR_TITLES, type ErrorCode } from "../../src/domain/errors.ts";
import { PROBLEM_MEDIA_TYPE, STATUS } from "../../src/http/problems.ts";

const ROOT = new URL("../../", import.meta.url);
const CODES = Object.keys(ERROR_TITLES) as ErrorCode[];

/** Each "### `code`" of docs/errors.md with the text below it. */
function sections(): Map<string, string> {
  const text = readFileSync(new URL("docs/errors.md", ROOT), "utf8");
  const parts = text.split(/^### `([a-z_]+)`[ \t]*$/m).slice(1);
  const found = new Map<string, string>();
  for (let i = 0; i < parts.length; i += 2) {
    const [code = "", body = ""] = [parts[i], parts[i + 1]];
    assert.ok(!found.has(code), `docs/errors.md has one section for ${code}`);
    found.set(code, body.split(/^#{1,3} /m, 1)[0] ?? "");
  }
  return found;
}

describe("docs/errors.md", () => {
  it("has a section for every code", () => {
    assert.deepEqual(
      CODES.filter((code) => !sections().has(code)),
      [],
    );
  });

  it("has no section for a code that does not exist", () => {
    assert.deepEqual(
      [...sections().keys()].filter((code) => !Object.hasOwn(ERROR_TITLES, code)),
      [],
    );
  });

  for (const code of CODES) {
    it(`says that ${code} is ${STATUS[code]}`, () => {
      const statuses: string[] = (sections().get(code) ?? "").match(/(?<![\w.,])[1-5]\d\d(?![\w,]|\.\d)/g) ?? [];
      assert.ok(statuses.includes(String(STATUS[code])), `the section of ${code} names ${STATUS[code]}`);
    });

    it(`tells a reader of ${code} something`, () => {
      const words = (sections().get(code) ?? "").split(/\s+/).filter((word) => word !== "");
      assert.ok(words.length >= 8, words.join(" "));
    });
  }
});

describe("the catalogue", () => {
  it("has a status for every code, and no other", () => {
    assert.deepEqual(Object.keys(STATUS).sort(), [...CODES].sort());
    for (const code of CODES) assert.ok(STATUS[code] >= 400 && STATUS[code] <= 599, code);
  });

  it("has a title of its own for every code", () => {
    assert.equal(new Set(Object.values(ERROR_TITLES)).size, CODES.length);
    assert.equal(PROBLEM_MEDIA_TYPE, "application/problem+json");
  });

  it("holds exactly the codes that the sources refuse with", () => {
    const produced = new Set<string>();
    for (const file of globSync("src/**/*.ts", { cwd: ROOT })) {
      const source = readFileSync(new URL(file, ROOT), "utf8");
      for (const [, code] of source.matchAll(/(?:new Refusal|refused)\(\s*"([a-z_]+)"/g)) produced.add(code ?? "");
    }
    assert.deepEqual([...produced].sort(), [...CODES].sort());
  });
});
