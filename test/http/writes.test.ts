// What the house does for writes and managing reads: answers with a status and headers of their own, what a route is given,
// and who reaches it.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { customerRecord } from "../support/records.ts";
import { type Answer, type Ask, get, refused, send } from "./answers.ts";
import { type Echoed, openWorkshop } from "./workshop.ts";

const workshop = await openWorkshop({ after });
const key = await workshop.key();
const GOOD = '{"name":"valve","place":{"latitude":47.9}}';
const JSON_HEADERS = { "content-type": "application/json" };

const ask = (method: string, path: string, more: Ask = {}) =>
  get(workshop, path, { method, key, ...more, headers: { ...JSON_HEADERS, ...more.headers } });
const told = ({ status, text }: Answer): Echoed => {
  assert.ok(status === 200 || status === 201, text);
  return JSON.parse(text) as Echoed;
};

describe("an answer", () => {
  it("of 201 tells where what was made is found, and its state", async () => {
    const { status, headers } = await ask("POST", "/manage/v1/things", { body: GOOD });
    assert.deepEqual([status, headers.location, headers.etag], [201, "/manage/v1/things/1", '"1"']);
  });

  it("of 204 has no body, and no word of one", async () => {
    const { status, text, headers } = await ask("DELETE", "/manage/v1/things/1");
    assert.deepEqual([status, text, headers["content-type"], headers["content-length"]], [204, "", undefined, undefined]);
  });

  it("to a managing read may carry its state, and HEAD has the same headers", async () => {
    const [whole, head] = [await ask("GET", "/manage/v1/things/1"), await ask("HEAD", "/manage/v1/things/1")];
    assert.equal(whole.headers.etag, '"1"');
    const lasting = ({ headers: { date: _, "x-request-id": __, ...rest } }: Answer) => rest;
    assert.deepEqual([head.status, head.text, lasting(head)], [200, "", lasting(whole)]);
  });

  it("is never to be kept, whatever it says", async () => {
    for (const [method, path, body] of [
      ["GET", "/manage/v1/things", undefined],
      ["GET", "/manage/v1/things/1", undefined],
      ["GET", "/manage/v1/things/first", undefined],
      ["POST", "/manage/v1/things", GOOD],
      ["POST", "/manage/v1/things", "{"],
      ["DELETE", "/manage/v1/things/1", undefined],
      ["POST", "/ingest/v1/things", "[]"],
      ["PUT", "/ingest/v1/things", "[]"],
    ] as const) {
      const { headers } = await ask(method, path, body === undefined ? {} : { body });
      assert.equal(headers["cache-control"], "no-store", `${method} ${path}`);
    }
  });

  it("does not ask whether the caller has it already", async () => {
    const answer = await ask("GET", "/manage/v1/things/1", { headers: { "if-none-match": '"1"' } });
    assert.equal(answer.status, 200);
  });

  for (const [code, status] of [
    ["tank_unknown", 404],
    ["state_conflict", 409],
    ["precondition_failed", 412],
    ["idempotency_key_reused", 422],
  ] as const) {
    it(`may be ${status}, ${code}`, async () => {
      refused(await ask("PATCH", `/manage/v1/things/${code}`, { body: "{}" }), status, code);
    });
  }
});

describe("a route is given", () => {
  it("the id in its path, wherever it stands", async () => {
    assert.equal(told(await ask("GET", "/manage/v1/things/a%2Fb")).id, "a/b");
    assert.equal(told(await ask("POST", "/manage/v1/things/%C3%BC/restore")).id, "ü");
    assert.equal(told(await ask("PATCH", "/manage/v1/things/x/", { body: "{}" })).id, "x");
    assert.equal(told(await ask("GET", "/manage/v1/things/first")).id, "the first", "a fixed name goes first");
  });

  it("the key and its customer", async () => {
    const echoed = told(await ask("GET", "/manage/v1/things"));
    assert.match(echoed.key_id, /^key_/);
    assert.deepEqual([echoed.role, echoed.customer_id], ["manage", null]);
    await workshop.store.importCustomers([customerRecord("cus_1")]);
    const bound = await workshop.key({ role: "ingest", customerId: "cus_1" });
    const sent = told(await ask("POST", "/ingest/v1/things", { key: bound, body: "[]" }));
    assert.deepEqual([sent.role, sent.customer_id], ["ingest", "cus_1"]);
  });

  it("its parameters", async () => {
    assert.equal(told(await ask("PATCH", "/manage/v1/things/1?colour=red", { body: "{}" })).colour, "red");
    refused(await ask("PATCH", "/manage/v1/things/1?colour=1", { body: "{}" }), 400, "parameter_invalid", "colour");
    refused(await ask("DELETE", "/manage/v1/things/1?cascade=true"), 400, "parameter_unknown", "cascade");
    const asForm = { headers: { "content-type": "application/x-www-form-urlencoded" }, body: "colour=1" };
    refused(await ask("DELETE", "/manage/v1/things/1", asForm), 400, "parameter_invalid", "colour");
  });

  it("If-Match as it came, where the route takes it", async () => {
    const change = (ifMatch: string | string[]) =>
      ask("PATCH", "/manage/v1/things/1", { body: "{}", headers: { "if-match": ifMatch } });
    assert.equal(told(await change('"1"')).if_match, '"1"');
    assert.equal(told(await change(['"1"', 'W/"2"'])).if_match, '"1", W/"2"');
    assert.equal(told(await ask("PATCH", "/manage/v1/things/1", { body: "{}" })).if_match, null);
    assert.equal(told(await ask("GET", "/manage/v1/things/1", { headers: { "if-match": "*" } })).if_match, null);
  });

  it("Idempotency-Key, where the route takes it and it is one", async () => {
    const make = (name: string | string[] | undefined) =>
      ask("POST", "/manage/v1/things", { body: GOOD, headers: { "idempotency-key": name } });
    for (const name of ["a", "8e03978e-40d5-43dd-bc93-6894a57f9324", '"quoted"', "with blanks, and commas", "~".repeat(255)]) {
      assert.equal(told(await make(name)).idempotency_key, name);
    }
    assert.equal(told(await make(undefined)).idempotency_key, null);
    for (const name of ["", " ", "~".repeat(256), "\u00fc", "a\tb", ["a", "b"], ["a", "a"]]) {
      refused(await make(name), 400, "idempotency_key_invalid");
    }
    const elsewhere = await ask("PATCH", "/manage/v1/things/1", { body: "{}", headers: { "idempotency-key": "" } });
    assert.equal(told(elsewhere).idempotency_key, null);
  });
});

describe("a door", () => {
  const DOORS = [
    ["GET", "/manage/v1/things", ["manage"]],
    ["PATCH", "/manage/v1/things/1", ["manage"]],
    ["POST", "/ingest/v1/things", ["ingest", "manage"]],
  ] as const;
  for (const [method, path, reached] of DOORS) {
    it(`at ${method} ${path} opens for ${reached.join(" and ")} alone`, async () => {
      for (const role of ["read", "ingest", "manage"] as const) {
        const answer = await ask(method, path, {
          key: await workshop.key({ role }),
          ...(method === "GET" ? {} : { body: "{}" }),
        });
        const opens = reached.some((known) => known === role);
        if (opens) assert.equal(answer.status, 200);
        else assert.match(refused(answer, 403, "role_insufficient").detail, new RegExp(`the role "${reached.join('" or "')}"`));
      }
    });
  }

  it("does not take the key as a bearer token", async () => {
    const headers = { authorization: `Bearer ${key}` };
    refused(await get(workshop, "/manage/v1/things", { headers }), 401, "key_missing");
  });
});

describe("the log", () => {
  it("has the route, the method and the key of a write, and nothing of its body", async () => {
    const id = "look-here";
    await send(workshop, "/manage/v1/things/1?colour=red", {
      ...{ method: "PATCH", key, body: '{"secret":"x"}', headers: { ...JSON_HEADERS, "x-request-id": id } },
    });
    const found = workshop.events.find((event) => event.kind === "request_completed" && event.requestId === id);
    assert.ok(found?.kind === "request_completed");
    assert.deepEqual([found.method, found.route, found.status], ["PATCH", "/manage/v1/things/:id", 200]);
    assert.match(found.keyId ?? "", /^key_/);
    assert.ok(!JSON.stringify(found).includes("secret"));
  });
});
