// The rules of parameters: which names, how often, and which forms of page and size.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { get, listOf, refused } from "./answers.ts";
import { ENDPOINTS, startFleet } from "./fleet.ts";

const fleet = await startFleet({ after });
const ask = (path: string) => get(fleet, path, { key: fleet.operator });
const LISTS = ENDPOINTS.filter(({ isList }) => isList).map(({ path }) => path);
const OBJECTS = ENDPOINTS.filter(({ isList }) => !isList).map(({ path }) => path);

/** Each as it stands in the URL. */
const NO_WHOLE_NUMBERS = [
  "",
  "0",
  "00",
  "01",
  "-1",
  "-0",
  "%2B1",
  "+1",
  "1.0",
  "1.",
  ".5",
  "1e1",
  "1E1",
  "0x1",
  "0b1",
  "1_0",
  "1,0",
  "1n",
  "1%20",
  "%201",
  "1%00",
  "1%0A",
  "NaN",
  "Infinity",
  "-Infinity",
  "null",
  "true",
  "%D9%A1", // ١
  "%EF%BC%91", // １
  "%C2%B9", // ¹
  "1;DROP TABLE tank".replaceAll(" ", "%20"),
  "[1]",
  "9007199254740993",
  "99999999999999999999",
  "1".repeat(5000),
];

for (const list of LISTS) {
  describe(list, () => {
    for (const name of ["page", "size"]) {
      it(`refuses every ${name} that is no plain whole number in range`, async () => {
        for (const text of NO_WHOLE_NUMBERS) {
          refused(await ask(`${list}?${name}=${text}`), 400, "parameter_invalid", name);
        }
      });

      it(`refuses ${name} without a value`, async () => {
        refused(await ask(`${list}?${name}`), 400, "parameter_invalid", name);
      });
    }

    it("takes sizes from 1 to 100, and 10 if none is given", async () => {
      for (const size of [1, 2, 99, 100]) assert.equal(listOf(await ask(`${list}?size=${size}`)).size, size);
      assert.equal(listOf(await ask(list)).size, 10);
      for (const size of [101, 1000, 2_147_483_648]) {
        refused(await ask(`${list}?size=${size}`), 400, "parameter_invalid", "size");
      }
    });

    it("takes pages from 1 to 2147483647, and 1 if none is given", async () => {
      for (const page of [1, 2, 2_147_483_647]) assert.equal(listOf(await ask(`${list}?page=${page}`)).page, page);
      assert.equal(listOf(await ask(list)).page, 1);
      for (const page of [2_147_483_648, 4_294_967_297, 9_999_999_999]) {
        refused(await ask(`${list}?page=${page}`), 400, "parameter_invalid", "page");
      }
    });

    it("says what a parameter must be, and what it was", async () => {
      const { detail } = refused(await ask(`${list}?size=500`), 400, "parameter_invalid", "size");
      assert.equal(detail, 'size must be a whole number from 1 to 100, not "500".');
    });

    it("quotes a long value in part", async () => {
      const { detail } = refused(await ask(`${list}?size=${"9".repeat(4000)}`), 400, "parameter_invalid", "size");
      assert.ok(detail.length < 300, detail);
    });

    for (const [slip, meant] of [
      ["sise", "size"],
      ["Size", "size"],
      ["pages", "page"],
      ["created_at_get", "created_at_gte"],
      ["created_at_lt", "created_at_lte"],
    ] as const) {
      it(`asks whether "${slip}" was meant as "${meant}"`, async () => {
        const { detail } = refused(await ask(`${list}?${slip}=1`), 400, "parameter_unknown", slip);
        assert.match(detail, new RegExp(`"${slip}".*Did you mean "${meant}"\\?`));
      });
    }

    it("names the parameters it knows to whoever sends quite another", async () => {
      const { detail } = refused(await ask(`${list}?wombat=1`), 400, "parameter_unknown", "wombat");
      for (const known of ["created_at_gte", "created_at_lte", "page", "size"]) assert.ok(detail.includes(known), detail);
    });

    it("refuses a parameter given twice, even with the same value or in other letters of percent", async () => {
      for (const query of ["size=2&size=2", "size=2&size=3", "page=1&size=1&page=1", "size=2&s%69ze=2"]) {
        const param = query.startsWith("page") ? "page" : "size";
        refused(await ask(`${list}?${query}`), 400, "parameter_repeated", param);
      }
    });

    it("reads names and values through percent-encoding", async () => {
      assert.equal(listOf(await ask(`${list}?%73ize=%32`)).size, 2);
    });

    it("overlooks empty pairs", async () => {
      assert.equal(listOf(await ask(`${list}?&&size=2&`)).size, 2);
      assert.equal((await ask(`${list}?`)).status, 200);
    });

    it("refuses a value without a name", async () => {
      refused(await ask(`${list}?=2`), 400, "parameter_unknown", "");
    });

    it("does not take array or object notations", async () => {
      for (const name of ["size[]", "size[0]", "size.0", "page%5B%5D"]) {
        assert.equal((await ask(`${list}?${name}=2`)).status, 400);
      }
    });

    it("refuses the names of every object's inheritance", async () => {
      for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf", "prototype"]) {
        refused(await ask(`${list}?${name}=1`), 400, "parameter_unknown", name);
      }
    });
  });
}

for (const path of OBJECTS) {
  describe(path, () => {
    it("takes no parameters at all", async () => {
      for (const name of ["page", "size", "created_at_gte", "created_at_lte", "email", "id", "_"]) {
        const { detail } = refused(await ask(`${path}?${name}=1`), 400, "parameter_unknown", name);
        assert.ok(detail.includes("takes no parameters"), detail);
      }
    });
  });
}
