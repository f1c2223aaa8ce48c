// The OpenAPI document: committed as it is made, strict, and true to its own examples.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { get as httpGet, type IncomingHttpHeaders } from "node:http";
import { buffer } from "node:stream/consumers";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { ERROR_TITLES, type ErrorCode } from "../../src/domain/errors.ts";
import { STATUS } from "../../src/http/problems.ts";
import { startService } from "../support/service.ts";
import { contract, send } from "./answers.ts";
import { type Document, type Media, type Operation, operationsOf, type Schema } from "./contract.ts";

const ROOT = new URL("../../", import.meta.url);
const service = await startService({ after });
const { text: served } = await send(service, "/openapi.json");
const raw = JSON.parse(served) as Document;
const { validator, document } = await contract(service);

const printed = async (): Promise<string> => {
  const program = fileURLToPath(new URL("bin/tank-monitor.js", ROOT));
  return (await promisify(execFile)(process.execPath, [program, "openapi"], { maxBuffer: 10_000_000 })).stdout;
};

const lint = async (source: string) => {
  const config = await createConfig({ extends: ["recommended-strict"] });
  const problems = await lintFromString({ source, absoluteRef: "openapi.json", config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} at ${location[0]?.pointer}`);
};

/** Every schema in the document, with where it stands. */
function* schemasIn(value: unknown, where: string): Generator<[string, Schema]> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value) && ("type" in value || "anyOf" in value || "$ref" in value)) yield [where, value as Schema];
  for (const [name, part] of Object.entries(value)) {
    if (name !== "examples" && name !== "example") yield* schemasIn(part, `${where}/${name}`);
  }
}

const components = () => Object.entries(document.components.schemas).flatMap(([name, schema]) => [...schemasIn(schema, name)]);

function media(): [string, Media][] {
  return operationsOf(document).flatMap(({ operationId, responses }) =>
    Object.entries(responses).flatMap(([status, { content = {} }]) =>
      Object.entries(content).map(([type, found]): [string, Media] => [`${operationId} ${status} ${type}`, found]),
    ),
  );
}

describe("openapi.json", () => {
  it("is what `tank-monitor openapi` prints; if not, print it again", async () => {
    assert.equal(readFileSync(new URL("openapi.json", ROOT), "utf8"), await printed());
  });

  it("is smaller than 200 KB", () => {
    assert.ok(statSync(new URL("openapi.json", ROOT)).size < 200_000);
  });

  it("is served compressed, as the client accepts it", async () => {
    const decoders = { br: brotliDecompressSync, gzip: gunzipSync, identity: (bytes: Buffer) => bytes };
    for (const [accepted, encoding] of [
      ["gzip, deflate, br", "br"],
      ["gzip", "gzip"],
      ["br;q=0, gzip;q=0.5", "gzip"],
      ["deflate", "identity"],
    ] as const) {
      const { promise, resolve, reject } = Promise.withResolvers<{ headers: IncomingHttpHeaders; bytes: Buffer }>();
      httpGet(`${service.url}/openapi.json`, { headers: { "accept-encoding": accepted } }, async (response) => {
        resolve({ headers: response.headers, bytes: await buffer(response) });
      }).on("error", reject);
      const { headers, bytes } = await promise;
      assert.equal(headers["content-encoding"] ?? "identity", encoding, accepted);
      assert.equal(headers.vary, "Accept-Encoding");
      assert.equal(headers["content-length"], String(bytes.length));
      assert.equal(decoders[encoding](bytes).toString(), served);
      assert.ok(encoding === "identity" || bytes.length < served.length / 5, `${encoding}: ${bytes.length} bytes`);
    }
  });

  it("names the required role of each operation", () => {
    for (const operation of operationsOf(document) as (Operation & { description: string; "x-required-role"?: string })[]) {
      const role = operation["x-required-role"];
      const expected =
        role === undefined ? "No key is required." : role === "manage" ? "`manage`." : `\`${role}\` or \`manage\`.`;
      assert.ok(operation.description.endsWith(expected), operation.operationId);
      assert.equal(role === undefined, operation.security?.length === 0, operation.operationId);
    }
  });

  it("is what the service serves", async () => {
    assert.deepEqual(JSON.parse(await printed()), raw);
  });
});

describe("a strict linter", () => {
  it("finds nothing to say", async () => {
    assert.deepEqual(await lint(served), []);
  });

  it("would find a fault", async () => {
    const broken = { ...raw, info: { title: "x" }, paths: { "/v1/x": { get: { responses: {} } } } };
    assert.ok((await lint(JSON.stringify(broken))).length > 0);
  });
});

describe("every schema", () => {
  it("of a request body allows no unknown fields, and of a response allows new ones", () => {
    const objects = components().filter(([, schema]) => schema["type"] === "object");
    const isClosed = ([, schema]: [string, Schema]) => schema["additionalProperties"] === false;
    const names = new Set(objects.filter(isClosed).map(([where]) => where.split("/")[0]));
    const requests = ["NewReading", "NewCustomer", "CustomerChange", "NewTank", "TankChange", "TankRestoring", "DeviceChange"];
    assert.deepEqual([...names].sort(), [...requests, "NewKey", "KeyChange"].sort());
  });

  it("of an object requires every field; not of what is sent, nor of what is told only where it is so", () => {
    const sent = /^(New|Shape|Profile|TankRestoring|\w+Change\b)/;
    const seldom: Record<string, string[]> = { Problem: ["param", "errors"], "Results/properties/results/items": ["reason"] };
    const spare = (where: string, name: string) => sent.test(where) || seldom[where]?.includes(name) === true;
    for (const [where, schema] of components().filter(([, found]) => found["type"] === "object")) {
      const all = Object.keys((schema["properties"] ?? {}) as object).filter((name) => !spare(where, name));
      const required = ((schema["required"] ?? []) as string[]).filter((name) => !spare(where, name));
      assert.deepEqual(required.sort(), all.sort(), where);
    }
  });

  it("of a response allows new fields, also where it is not one of the components", () => {
    for (const [where, { schema }] of media()) {
      for (const [inner, found] of schemasIn(schema, where)) assert.notEqual(found["additionalProperties"], false, inner);
    }
  });

  it("can be compiled by a strict validator", () => {
    for (const schema of Object.values(document.components.schemas)) validator(schema);
  });
});

describe("every example", () => {
  it("of an answer is an answer that could be", () => {
    for (const [where, { schema, examples = {} }] of media()) {
      assert.ok(Object.keys(examples).length > 0, `${where} has examples`);
      for (const [name, { value }] of Object.entries(examples)) {
        const validate = validator(schema);
        assert.ok(validate(value), `${where} ${name}: ${JSON.stringify(validate.errors)}`);
      }
    }
  });

  it("of a field is a value that the field could have", () => {
    let seen = 0;
    for (const [where, schema] of components()) {
      for (const example of (schema["examples"] as unknown[] | undefined) ?? []) {
        seen++;
        assert.ok(validator(schema)(example), `${where}: ${JSON.stringify(example)}`);
      }
    }
    assert.ok(seen > 20);
  });

  it("of a parameter is none, since the documentation page would send it along as a filter", () => {
    for (const { operationId, parameters } of operationsOf(document)) {
      for (const { name, schema, example } of parameters) {
        assert.deepEqual([example, schema["examples"]], [undefined, undefined], `${operationId} ${name}`);
      }
    }
  });

  it("of a problem has the status it stands under, and its catalogue's words", () => {
    for (const [where, { examples = {} }] of media().filter(([name]) => name.endsWith("problem+json"))) {
      const status = Number(where.split(" ")[1]);
      for (const [name, { value }] of Object.entries(examples)) {
        const { code, title, status: said } = value as { code: ErrorCode; title: string; status: number };
        assert.deepEqual([code, title, said, STATUS[code]], [name, ERROR_TITLES[code], status, status], where);
      }
    }
  });
});

describe("the parameters", () => {
  it("of each list are those of the interface", () => {
    const common = ["created_at_gte", "created_at_lte", "page", "size"];
    const expected: Record<string, string[]> = {
      listCustomers: [...common, "email"],
      retrieveCustomer: ["id"],
      listTanks: common,
      retrieveTank: ["id"],
      listTelemetry: ["id", ...common],
    };
    for (const [operation, names] of Object.entries(expected)) {
      const found = operationsOf(document).find(({ operationId }) => operationId === operation);
      assert.deepEqual(
        found?.parameters.map(({ name }) => name),
        names,
        operation,
      );
    }
  });

  it("have the ranges and defaults of the interface", () => {
    for (const { parameters } of operationsOf(document)) {
      for (const { name, schema } of parameters) {
        const { minimum, maximum, default: fallback } = schema;
        if (name === "size") assert.deepEqual([minimum, maximum, fallback], [1, 100, 10]);
        if (name === "page") assert.deepEqual([minimum, maximum, fallback], [1, 2_147_483_647, 1]);
      }
    }
  });
});
