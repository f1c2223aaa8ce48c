import assert from "node:assert/strict";
import test from "node:test";
import { userErrorFor } from "../../src/cli/fields.ts";
import { Problem } from "../../src/cli/service.ts";

test("a malformed id is wrong usage; an id that is not in the database is not", () => {
  const fields = [{ flag: "owner", path: "owner_id", value: "ID", help: "" }];
  const body = { code: "body_invalid", errors: [{ field: "owner_id", message: "no such customer" }] };
  const exitCodes = ["nobody", "", "x".repeat(129)].map((owner) => {
    const call = { name: "tank update", arguments: ["t1"], flags: { owner } };
    return userErrorFor(new Problem({ status: 400, headers: {}, body }), call, fields, "manage").exitCode;
  });
  assert.deepEqual(exitCodes, [1, 2, 2]);
});
