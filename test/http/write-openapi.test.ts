// The document of routes that write: methods, bodies, headers and statuses, strict as that of the interface.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { contract, send } from "./answers.ts";
import { type Operation, operationsOf } from "./contract.ts";
import { MAX_ITEMS, openWorkshop, WORKSHOP } from "./workshop.ts";

const workshop = await openWorkshop({ after });
const { document, validator } = await contract(workshop);
const operation = (name: string): Operation => {
  const found = operationsOf(document).find(({ operationId }) => operationId === name);
  assert.ok(found !== undefined, name);
  return found;
};
const successes = ({ responses }: Operation) => Object.keys(responses).filter((status) => status < "400");

describe("the document of writes", () => {
  it("has every method of every path", () => {
    assert.deepEqual(Object.keys(document.paths["/manage/v1/things/{id}"] ?? {}), ["get", "patch", "delete"]);
    assert.equal(operationsOf(document).length, WORKSHOP.length);
  });

  it("gives a strict linter little to say", async () => {
    const { text } = await send(workshop, "/openapi.json");
    const config = await createConfig({ extends: ["recommended-strict"], rules: { "no-unused-components": "off" } });
    const problems = await lintFromString({ source: text, absoluteRef: "openapi.json", config });
    assert.deepEqual(
      // A fixed name beside an identifier is what is wanted here.
      problems.filter(({ ruleId }) => ruleId !== "no-ambiguous-paths").map(({ ruleId, message }) => `${ruleId}: ${message}`),
      [],
    );
  });

  it("has the statuses of each answer, and none that may be kept", () => {
    assert.deepEqual(successes(operation("createThing")), ["201"]);
    assert.deepEqual(successes(operation("changeThing")), ["200", "201"]);
    assert.deepEqual(successes(operation("deleteThing")), ["204"]);
    assert.equal(operation("deleteThing").responses["204"]?.content, undefined);
    assert.deepEqual(successes(operation("retrieveThing")), ["200"], "no 304");
  });

  it("has the headers that a route takes, and what is refused for them", () => {
    const names = (name: string) => operation(name).parameters.map(({ in: place, name: one }) => `${place} ${one}`);
    assert.deepEqual(names("createThing"), ["header Idempotency-Key"]);
    assert.deepEqual(names("changeThing"), ["path id", "query colour", "header If-Match"]);
    const { responses } = operation("createThing");
    assert.ok(responses["422"] !== undefined);
    assert.ok(operation("changeThing").responses["412"] !== undefined);
    assert.equal(operation("listThings").responses["412"], undefined);
  });

  it("has the headers of each answer", () => {
    const headers = (name: string, status: string) => Object.keys(operation(name).responses[status]?.headers ?? {});
    assert.deepEqual(headers("createThing", "201"), ["X-Request-Id", "ETag", "Location"]);
    assert.deepEqual(headers("retrieveThing", "200"), ["X-Request-Id", "ETag"]);
    assert.deepEqual(headers("listThings", "200"), ["X-Request-Id"]);
  });

  it("has bodies with examples that could be sent", () => {
    const types = (name: string) => Object.keys(operation(name).requestBody?.content ?? {});
    assert.deepEqual(types("changeThing"), ["application/merge-patch+json", "application/json"]);
    assert.deepEqual(types("sendThings"), ["application/json", "application/x-ndjson"]);
    assert.deepEqual(
      [operation("noteThing").requestBody?.required, operation("createThing").requestBody?.required],
      [false, true],
    );
    assert.equal(operation("restoreThing").requestBody, undefined);
    for (const { operationId, requestBody } of operationsOf(document)) {
      for (const { schema, examples = {} } of Object.values(requestBody?.content ?? {})) {
        assert.ok(Object.keys(examples).length > 0, operationId);
        for (const { value } of Object.values(examples)) {
          const validate = validator(schema);
          assert.ok(validate(value), `${operationId}: ${JSON.stringify(validate.errors)}`);
        }
      }
    }
  });

  it("says how many readings may come at once", () => {
    const { anyOf = [] } = (operation("sendThings").requestBody?.content["application/json"]?.schema ?? {}) as {
      anyOf?: { maxItems?: number }[];
    };
    assert.equal(anyOf[1]?.maxItems, MAX_ITEMS);
  });
});
