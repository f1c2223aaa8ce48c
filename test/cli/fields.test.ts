import assert from "node:assert/strict";
import test from "node:test";
import { userErrorFor, withValue } from "../../src/cli/fields.ts";
import { ServiceError } from "../../src/cli/service.ts";

test("a malformed id is wrong usage; an id that is not in the database is not", () => {
  const fields = [{ flag: "owner", path: "owner_id", value: "ID", help: "" }];
  const body = { code: "body_invalid", errors: [{ field: "owner_id", message: "no such customer" }] };
  const exitCodes = ["nobody", "", "x".repeat(129)].map((owner) => {
    const call = { name: "tank update", arguments: ["t1"], flags: { owner } };
    return userErrorFor(new ServiceError({ status: 400, headers: {}, body }), call, fields, "manage").exitCode;
  });
  assert.deepEqual(exitCodes, [1, 2, 2]);
});

test("an error that is temporary says when to try again, without the header", () => {
  const call = { name: "customer verify", arguments: ["c-1"], flags: {} };
  for (const hint of ["Retry after the time in Retry-After.", "Retry shortly.", "Try again shortly."]) {
    const body = { code: "rate_limited", detail: `Too many requests. ${hint}` };
    const problem = new ServiceError({ status: 429, headers: { "retry-after": "7" }, body });
    assert.equal(userErrorFor(problem, call, [], "manage").message, "Too many requests. Try again in 7 s.");
  }
});

test("a comma before three digits may separate thousands or decimals; any other one is a decimal comma", () => {
  const said = (value: string): string => withValue("must be a number", value);
  assert.equal(said("2,700"), 'may be 2700 or 2.7: write one of them (given: "2,700")');
  assert.equal(said("-1,250"), 'may be -1250 or -1.25: write one of them (given: "-1,250")');
  for (const [value, meant] of [
    ["2,7", "2.7"],
    ["0,500", "0.500"],
    ["2700,125", "2700.125"],
  ] as const) {
    assert.equal(said(value), `must be a number, with a decimal point: ${meant} (given: "${value}")`);
  }
  assert.equal(said("much"), 'must be a number (given: "much")');
  assert.equal(withValue("must not be empty", "2,700"), 'must not be empty (given: "2,700")');
});
