// The client has every operation of openapi.json, and what is generated from it is committed.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, describe, it } from "node:test";
import { type Document, generate } from "../../client/generate.ts";
import { OPERATIONS } from "../../client/src/generated.ts";
import { ApiError, createClient, type ErrorCode } from "../../client/src/index.ts";
import { startService } from "../support/service.ts";

const ROOT = new URL("../../", import.meta.url);
const document = JSON.parse(readFileSync(new URL("openapi.json", ROOT), "utf8")) as Document;

describe("generated.ts", () => {
  it("is generated from the openapi.json that is committed", () => {
    const committed = readFileSync(new URL("client/src/generated.ts", ROOT), "utf8");
    assert.ok(committed === generate(document), "it differs; run `npm run openapi`");
  });

  it("has every operation with a version in its path, each under a name of its own", () => {
    const described = Object.entries(document.paths)
      .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
      .filter((operation) => operation.includes("/v1/"));
    assert.deepEqual(OPERATIONS.map(({ method, path }) => `${method} ${path}`).sort(), described.sort());
    assert.equal(new Set(OPERATIONS.map(({ name }) => name)).size, described.length);
    for (const area of ["/v1/", "/insight/v1/", "/manage/v1/", "/ingest/v1/"]) {
      assert.ok(
        OPERATIONS.some(({ path }) => path.startsWith(area)),
        area,
      );
    }
  });
});

const NOT_REACHED: readonly ErrorCode[] = [
  "route_unknown",
  "method_not_allowed",
  "parameter_unknown",
  "body_missing",
  "media_type_unsupported",
  "unexpected_response",
];

type Call = (...given: unknown[]) => Promise<unknown>;

/** The function of the client with this name. */
function callNamed(client: object, name: string): Call {
  return name.split(".").reduce<unknown>((place, part) => (place as Record<string, unknown>)[part], client) as Call;
}

it("every operation reaches its route, with the arguments that its type has", async () => {
  const service = await startService({ after });
  const client = createClient({ baseUrl: service.url, key: await service.key({ role: "manage" }), maxRetries: 0 });
  for (const { name, path, hasBody = false } of OPERATIONS) {
    const ids = [...path.matchAll(/\{\w+\}/g)].map(() => "none/?#ü");
    const error = await callNamed(client, name)(...ids, ...(hasBody ? [{ wrong: 1 }] : [])).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (error === undefined) continue;
    assert.ok(error instanceof ApiError, `${name}: ${error}`);
    assert.ok(!NOT_REACHED.includes(error.code), `${name}: ${error.code} ${error.message}`);
  }
});
