// The error catalogue and docs/errors.md agree, and every code is in use.

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { ERROR_TITLES, type ErrorCode } from "../../src/domain/errors.ts";
import { STATUS } from "../../src/http/problems.ts";

const ROOT = new URL("../../", import.meta.url);
const CODES = Object.keys(ERROR_TITLES) as ErrorCode[];

describe("docs/errors.md", () => {
  const text = readFileSync(new URL("docs/errors.md", ROOT), "utf8");
  const rows = [...text.matchAll(/^\| `([a-z_]+)` \| (\d{3}) \| (.+) \|$/gm)];

  it("lists every code once, with its status", () => {
    const documented = rows.map(([, code, status]) => `${code} ${status}`);
    assert.deepEqual(documented.toSorted(), CODES.map((code) => `${code} ${STATUS[code]}`).sort());
  });

  it("explains every code", () => {
    for (const [, code = "", , cause = ""] of rows) assert.ok(cause.split(" ").length >= 5, code);
  });
});

describe("the catalogue", () => {
  it("has an error status and a title of its own for every code", () => {
    assert.deepEqual(Object.keys(STATUS).sort(), [...CODES].sort());
    for (const code of CODES) assert.ok(STATUS[code] >= 400 && STATUS[code] <= 599, code);
    assert.equal(new Set(Object.values(ERROR_TITLES)).size, CODES.length);
  });

  it("has no code that the sources do not use", () => {
    const catalogue = /src\/(domain\/errors|http\/problems)\.ts$/;
    const files = globSync("src/**/*.ts", { cwd: ROOT }).filter((file) => !catalogue.test(file.replaceAll("\\", "/")));
    const sources = files.map((file) => readFileSync(new URL(file, ROOT), "utf8")).join("\n");
    const unused = CODES.filter((code) => !sources.includes(`"${code}"`));
    const ownUse = ["internal", "request_timeout", "url_too_long", "request_malformed", "store_unavailable"];
    assert.deepEqual(
      unused.filter((code) => !ownUse.includes(code)),
      [],
      "only those that the catalogue's own files produce",
    );
  });
});
