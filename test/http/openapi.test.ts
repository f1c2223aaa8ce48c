// The OpenAPI document: committed as generated, strict, with valid examples; and the error catalogue beside docs/errors.md.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { globSync, readFileSync, statSync } from "node:fs";
import { get as httpGet, type IncomingHttpHeaders } from "node:http";
import { buffer } from "node:stream/consumers";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { EVENT_TYPES } from "../../src/domain/alerts/event.ts";
import { ERROR_TITLES, type ErrorCode } from "../../src/domain/errors.ts";
import { STATUS } from "../../src/http/problems.ts";
import { startService } from "../support/service.ts";
import { contract, type Document, type Media, type Operation, operations, type Schema, send } from "./client.ts";

const ROOT = new URL("../../", import.meta.url);
const service = await startService({ after });
const { text: served } = await send(service, "/openapi.json");
const { validator, document } = await contract(service);

const lint = async (source: string) => {
  const config = await createConfig({ extends: ["recommended-strict"] });
  const problems = await lintFromString({ source, absoluteRef: "openapi.json", config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} at ${location[0]?.pointer}`);
};

/** Every schema within a value, with its path. */
function* schemasIn(value: unknown, where: string): Generator<[string, Schema]> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value) && ("type" in value || "anyOf" in value || "$ref" in value)) yield [where, value as Schema];
  for (const [name, part] of Object.entries(value)) {
    if (name !== "examples" && name !== "example") yield* schemasIn(part, `${where}/${name}`);
  }
}

const components = () => Object.entries(document.components.schemas).flatMap(([name, schema]) => [...schemasIn(schema, name)]);
const objects = () => components().filter(([, schema]) => schema["type"] === "object");

/** Of responses and requests. */
function media(): [string, Media][] {
  return operations(document).flatMap(({ operationId, responses, requestBody }) =>
    Object.entries({ ...responses, ...(requestBody === undefined ? {} : { request: requestBody }) }).flatMap(
      ([status, { content = {} }]) =>
        Object.entries(content).map(([type, found]): [string, Media] => [`${operationId} ${status} ${type}`, found]),
    ),
  );
}

function operation(id: string): Operation {
  const found = operations(document).find(({ operationId }) => operationId === id);
  assert.ok(found !== undefined, id);
  return found;
}

describe("openapi.json", () => {
  it("is what `tank-monitor openapi` prints and the service serves, under 400 KB", async () => {
    const committed = readFileSync(new URL("openapi.json", ROOT), "utf8");
    const program = fileURLToPath(new URL("bin/tank-monitor.js", ROOT));
    const { stdout } = await promisify(execFile)(process.execPath, [program, "openapi"], { maxBuffer: 10_000_000 });
    assert.ok(committed === stdout, "it differs; run `tank-monitor openapi > openapi.json`");
    assert.deepEqual(JSON.parse(stdout), JSON.parse(served));
    assert.ok(statSync(new URL("openapi.json", ROOT)).size < 400_000);
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

  it("passes a strict linter, which finds errors in another document", async () => {
    assert.deepEqual(await lint(served), []);
    const wrong: Document & { openapi: string } = { openapi: "3.1.0", paths: {}, components: { schemas: {} } };
    assert.ok((await lint(JSON.stringify(wrong))).length > 0);
  });

  it("states the required role of each operation", () => {
    type Roles = { description: string; "x-required-role"?: string; "x-session-role"?: string };
    for (const one of operations(document) as (Operation & Roles)[]) {
      const { "x-required-role": role, "x-session-role": session, security, operationId } = one;
      const ofKeys = role === undefined ? "No key is required." : role === "manage" ? "`manage`." : `\`${role}\` or \`manage\`.`;
      assert.ok(one.description.endsWith(role === "session" ? "Requires a session." : ofKeys), operationId);
      assert.equal(role === undefined, security?.length === 0, operationId);
      const isForSessions = security?.some((scheme) => "session" in scheme) === true;
      assert.equal(session !== undefined, isForSessions, operationId);
      assert.equal(isForSessions, /Requires a session\b/.test(one.description), operationId);
    }
  });
});

it("operations have the headers, statuses and media types of their routes", () => {
  const headers = (id: string) =>
    Object.entries(operation(id).responses)
      .filter(([status]) => status < "400")
      .map(([status, { headers: names = {} }]) => [status, ...Object.keys(names)]);
  assert.deepEqual(headers("createTank"), [["201", "X-Request-Id", "ETag", "Location"]]);
  assert.deepEqual(headers("inspectTank"), [["200", "X-Request-Id", "ETag"]]);
  assert.deepEqual(headers("searchTanks"), [["200", "X-Request-Id"]]);
  const parameters = (id: string) => operation(id).parameters.map(({ in: place, name }) => `${place} ${name}`);
  assert.deepEqual(parameters("createTank"), ["header Idempotency-Key"]);
  assert.deepEqual(parameters("changeTank"), ["path id", "query swap", "header If-Match"]);
  assert.ok("422" in operation("createTank").responses && "412" in operation("changeTank").responses);
  assert.ok(!("412" in operation("searchTanks").responses));
  const types = (id: string) => Object.keys(operation(id).requestBody?.content ?? {});
  assert.deepEqual(types("changeTank"), ["application/merge-patch+json", "application/json"]);
  assert.deepEqual(types("sendReadings"), ["application/json", "application/x-ndjson"]);
  const required = ["restoreTank", "createTank", "rotateKey"].map((id) => operation(id).requestBody?.required);
  assert.deepEqual(required, [false, true, undefined]);
});

describe("the webhooks", () => {
  const sent = Object.entries(document.webhooks ?? {});

  it("are the events that channels can have", () => {
    assert.deepEqual(sent.map(([type]) => type).sort(), [...EVENT_TYPES].sort());
    const ids = sent.map(([, { post }]) => post?.operationId);
    assert.equal(
      new Set([...ids, ...operations(document).map(({ operationId }) => operationId)]).size,
      ids.length + operations(document).length,
    );
  });

  it("have examples that are valid, each of its own event", () => {
    for (const [type, { post }] of sent) {
      const { schema, examples = {} } = post?.requestBody?.content["application/json"] ?? { schema: {} };
      const [example] = Object.values(examples).map(({ value }) => value as { type: string });
      assert.equal(example?.type, type);
      const validate = validator(schema);
      assert.ok(validate(example), `${type}: ${JSON.stringify(validate.errors)}`);
      for (const { value } of Object.values(examples)) {
        const { alert } = (value as { data: { alert?: Record<string, unknown> } }).data;
        if (alert === undefined) continue;
        const { state, acknowledged_at, closed_at, close_reason } = alert;
        assert.deepEqual([closed_at === null, close_reason === null], [state !== "closed", state !== "closed"], type);
        assert.ok(acknowledged_at === null || state !== "open", type);
      }
    }
  });
});

describe("the schemas", () => {
  it("of requests allow no unknown fields, and of responses allow new ones", () => {
    const closed = objects().filter(([, schema]) => schema["additionalProperties"] === false);
    const names = new Set(closed.map(([where]) => where.split("/")[0]));
    const requests = [
      "NewReading",
      "NewCustomer",
      "CustomerChange",
      "NewTank",
      "TankChange",
      "TankRestoring",
      "DeviceChange",
      "AlertNote",
      "AlertNoteChange",
      "NewWebhookChannel",
      "NewEmailChannel",
      "WebhookChannelChange",
      "EmailChannelChange",
      "MailRecovery",
      "Recovery",
      "SeriesQuery",
      "NewUser",
      "UserChange",
      "MeChange",
      "SignInRequest",
      "SignInToken",
      "SignInProof",
    ];
    assert.deepEqual(
      [...names].sort(),
      [...requests, "CustomerRow", "TankRow", "ShapeChange", "TankAlertSettingsChange", "NewKey", "KeyChange"].sort(),
    );
    for (const [where, { schema }] of media().filter(([name]) => !name.includes(" request "))) {
      for (const [inner, found] of schemasIn(schema, where)) assert.notEqual(found["additionalProperties"], false, inner);
    }
  });

  it("of changes allow a part of an object, and of its shape", () => {
    const accepts = (id: string, value: object) =>
      validator(operation(id).requestBody?.content["application/json"]?.schema ?? {})(value);
    const tank = { id: "t1", name: "Hall 3", shape: { height: 2.2, sensor_height: null } };
    assert.ok(accepts("provision", { customers: [{ id: "c1", name: "Brenner" }], tanks: [tank] }));
    for (const id of ["changeTank", "changeDevice", "putDevice"]) {
      assert.ok(accepts(id, { shape: tank.shape }), id);
      assert.ok(!accepts(id, { shape: { hieght: 2.2 } }), id);
    }
    assert.ok(accepts("changeTank", { alerts: { silent_after: "72h" } }));
    assert.ok(!accepts("changeTank", { alerts: { silent_after: "three days" } }));
    assert.ok(!accepts("createTank", tank));
  });

  it("of responses require every field, except those that are only sometimes present", () => {
    const isRequest = /^(New|Shape|Profile|TankRestoring|AlertNote|SeriesQuery|SignInProof|MailRecovery|\w+(Change|Row)\b)/;
    const sometimes: Record<string, string[]> = { Problem: ["param", "errors"], "Results/properties/results/items": ["reason"] };
    const isOptional = (where: string, name: string) => isRequest.test(where) || sometimes[where]?.includes(name) === true;
    for (const [where, schema] of objects()) {
      const all = Object.keys((schema["properties"] ?? {}) as object).filter((name) => !isOptional(where, name));
      const required = ((schema["required"] ?? []) as string[]).filter((name) => !isOptional(where, name));
      assert.deepEqual(required.sort(), all.sort(), where);
    }
  });
});

describe("the examples", () => {
  it("of requests and responses are valid, and those of problems match the error catalogue", () => {
    for (const [where, { schema, examples = {} }] of media()) {
      assert.ok(Object.keys(examples).length > 0, `${where} has examples`);
      const validate = validator(schema);
      for (const [name, { value }] of Object.entries(examples)) {
        assert.ok(validate(value), `${where} ${name}: ${JSON.stringify(validate.errors)}`);
        if (!where.endsWith("problem+json")) continue;
        const { code, title, status } = value as { code: ErrorCode; title: string; status: number };
        const expected = [name, ERROR_TITLES[code], Number(where.split(" ")[1]), STATUS[code]];
        assert.deepEqual([code, title, status, status], expected, where);
      }
    }
  });

  it("of fields are valid", () => {
    const all = components().flatMap(([where, schema]) =>
      ((schema["examples"] as unknown[] | undefined) ?? []).map((example) => [where, schema, example] as const),
    );
    assert.ok(all.length > 20);
    for (const [where, schema, example] of all) assert.ok(validator(schema)(example), `${where}: ${JSON.stringify(example)}`);
  });

  it("do not exist for parameters: the documentation page would send them as filters", () => {
    for (const { operationId, parameters } of operations(document)) {
      for (const { name, schema, example } of parameters) {
        assert.deepEqual([example, schema["examples"]], [undefined, undefined], `${operationId} ${name}`);
      }
    }
  });
});

it("the parameters of /v1 are those of the interface, with their ranges and defaults", () => {
  const common = ["created_at_gte", "created_at_lte", "page", "size"];
  const expected: Record<string, string[]> = {
    listCustomers: [...common, "email"],
    retrieveCustomer: ["id"],
    listTanks: common,
    retrieveTank: ["id"],
    listTelemetry: ["id", ...common],
  };
  for (const [id, names] of Object.entries(expected)) {
    const { parameters } = operation(id);
    assert.deepEqual(
      parameters.map(({ name }) => name),
      names,
      id,
    );
    for (const { name, schema } of parameters) {
      const { minimum, maximum, default: fallback } = schema;
      if (name === "size") assert.deepEqual([minimum, maximum, fallback], [1, 100, 10]);
      if (name === "page") assert.deepEqual([minimum, maximum, fallback], [1, 2_147_483_647, 1]);
    }
  }
});

describe("the error catalogue", () => {
  const CODES = Object.keys(ERROR_TITLES) as ErrorCode[];

  it("is that of docs/errors.md, which explains every code", () => {
    const page = readFileSync(new URL("docs/errors.md", ROOT), "utf8");
    const rows = [...page.matchAll(/^\| `([a-z_]+)` \| (\d{3}) \| (.+) \|$/gm)];
    const documented = rows.map(([, code, status]) => `${code} ${status}`);
    assert.deepEqual(documented.sort(), CODES.map((code) => `${code} ${STATUS[code]}`).sort());
    for (const [, code = "", , cause = ""] of rows) assert.ok(cause.split(" ").length >= 5, code);
  });

  it("has no code that the sources do not use", () => {
    const catalogue = /src\/(domain\/errors|http\/problems)\.ts$/;
    const files = globSync("src/**/*.ts", { cwd: ROOT }).filter((file) => !catalogue.test(file.replaceAll("\\", "/")));
    const sources = files.map((file) => readFileSync(new URL(file, ROOT), "utf8")).join("\n");
    // These are used where they are defined.
    const exempt = ["internal", "request_timeout", "url_too_long", "request_malformed", "store_unavailable"];
    const unused = CODES.filter((code) => !sources.includes(`"${code}"`) && !exempt.includes(code));
    assert.deepEqual(unused, []);
  });
});
