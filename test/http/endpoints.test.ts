// The five endpoints, and in each one block for every status it promises.

import assert from "node:assert/strict";
import { renameSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, it } from "node:test";
import { heldClock } from "../support/clock.ts";
import { startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { type Answer, contract, get, listOf, objectOf, refused } from "./answers.ts";
import { operationsOf } from "./contract.ts";
import { ENDPOINTS, type Endpoint, type Fleet, startFleet } from "./fleet.ts";

const { clock } = heldClock();
const fleet = await startFleet({ after }, { clock });
const away = await startFleet({ after });
const damaged = await startFleet({ after });
const ingest = await fleet.key({ role: "ingest" });

before(async () => {
  renameSync(away.databaseFile, `${away.databaseFile}.moved`);
  await until("the service sees that its database is gone", () => away.events.some(({ kind }) => kind === "store_unavailable"));
  const db = new DatabaseSync(damaged.databaseFile);
  db.exec(`ALTER TABLE customer RENAME COLUMN phone TO lost; ALTER TABLE tank RENAME COLUMN name TO lost;
           ALTER TABLE head RENAME COLUMN data TO lost`);
  db.close();
});

for (const endpoint of ENDPOINTS) describe(`${endpoint.name}: GET ${endpoint.path}`, () => promises(endpoint));

function promises({ path, isList, unknown, operation }: Endpoint): void {
  const tested: number[] = [];
  const ask = (more: Parameters<typeof get>[2] = {}): Promise<Answer> => get(fleet, path, { key: fleet.operator, ...more });
  function status(code: number, tests: () => void): void {
    tested.push(code);
    describe(String(code), tests);
  }

  status(200, () => {
    it("answers the documented object and nothing else", async () => {
      const object = objectOf(await ask());
      assert.equal(object["object"], isList ? "list" : path.includes("customers") ? "customer" : "tank");
    });

    it("answers the same bytes again", async () => {
      assert.equal((await ask()).text, (await ask()).text);
    });
  });

  status(304, () => {
    it("saves the body for whoever has it already", async () => {
      const { headers } = await ask();
      const again = await ask({ headers: { "if-none-match": String(headers.etag) } });
      assert.equal(again.status, 304);
      assert.equal(again.headers.etag, headers.etag);
    });
  });

  status(400, () => {
    it("refuses a parameter it does not know", async () => {
      refused(await get(fleet, `${path}?colour=red`, { key: fleet.operator }), 400, "parameter_unknown", "colour");
    });

    it("refuses broken percent-encoding", async () => {
      refused(await get(fleet, `${path}?%zz=1`, { key: fleet.operator }), 400, "encoding_invalid");
    });

    if (isList) {
      it("refuses a parameter that is out of range", async () => {
        refused(await get(fleet, `${path}?size=101`, { key: fleet.operator }), 400, "parameter_invalid", "size");
      });

      it("refuses a parameter that is given twice", async () => {
        refused(await get(fleet, `${path}?page=1&page=1`, { key: fleet.operator }), 400, "parameter_repeated", "page");
      });
    }
  });

  status(401, () => {
    it("asks for a key, and says how to send it", async () => {
      const answer = await get(fleet, path);
      refused(answer, 401, "key_missing");
      assert.equal(answer.headers["www-authenticate"], 'ApiKey realm="tank-monitor", header="X-API-Key"');
    });

    it("refuses a key it does not know", async () => {
      refused(await get(fleet, path, { key: "tm_nonsense" }), 401, "key_invalid");
    });
  });

  status(403, () => {
    it("refuses a key that may only send readings", async () => {
      refused(await ask({ key: ingest }), 403, "role_insufficient");
    });
  });

  if (unknown !== undefined) {
    status(404, () => {
      it("has never heard of this object", async () => {
        refused(await get(fleet, unknown.path, { key: fleet.operator }), 404, unknown.code);
      });
    });
  }

  describe("405", () => {
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PURGE", "QUERY"]) {
      it(`does not know ${method}`, async () => {
        const answer = await ask({ method });
        refused(answer, 405, "method_not_allowed");
        assert.equal(answer.headers.allow, "GET, HEAD");
      });
    }
  });

  status(413, () => {
    it("reads a form of 8 KiB, and no byte more", async () => {
      assert.equal((await ask({ body: "&".repeat(8192) })).status, 200);
      refused(await ask({ body: "&".repeat(8193) }), 413, "body_too_large");
    });
  });

  describe("414", () => {
    it("refuses a URL of 20 KB", async () => {
      refused(await get(fleet, `${path}?${"&".repeat(20_000)}`, { key: fleet.operator }), 414, "url_too_long");
    });
  });

  status(415, () => {
    it("refuses a body that is no form", async () => {
      const headers = { "content-type": "application/json" };
      refused(await ask({ headers, body: '{"size":2}' }), 415, "media_type_unsupported");
    });
  });

  status(429, () => {
    it("holds up a key that has used up its requests", async () => {
      const key = await fleet.key({ rate: 1 });
      for (let i = 0; i < 2; i++) assert.equal((await ask({ key })).status, 200);
      const answer = await ask({ key });
      refused(answer, 429, "rate_limited");
      assert.equal(answer.headers["retry-after"], "1");
    });
  });

  status(431, () => {
    it("refuses more than a hundred headers", async () => {
      const headers = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`x-${i}`, "1"]));
      refused(await ask({ headers }), 431, "headers_too_large");
    });

    it("refuses a header of 20 KB", async () => {
      refused(await ask({ headers: { "x-large": "a".repeat(20_000) } }), 431, "headers_too_large");
    });
  });

  status(500, () => {
    it("owns up to a fault of its own, and keeps what it was to itself", async () => {
      const id = `fault-${operation}`;
      const answer = await get(damaged, path, { key: damaged.operator, headers: { "x-request-id": id } });
      const { detail } = refused(answer, 500, "internal");
      assert.equal(detail, "An internal error occurred. The operator can look it up by the request id.");
      assert.ok(reportedFault(damaged, id), "the operator is told");
    });
  });

  status(503, () => {
    it("says when to come back while the database is away", async () => {
      const answer = await get(away, path, { key: away.operator });
      refused(answer, 503, "store_unavailable");
      assert.equal(answer.headers["retry-after"], "1");
    });
  });

  it("promises nothing in the OpenAPI document that is not tested here", async () => {
    const { document } = await contract(fleet);
    const documented = operationsOf(document).find(({ operationId }) => operationId === operation)?.responses ?? {};
    assert.deepEqual(Object.keys(documented), tested.map(String).sort());
  });
}

function reportedFault(service: Fleet, requestId: string): boolean {
  return service.events.some((event) => event.kind === "request_failed" && event.requestId === requestId);
}

it("an empty service answers empty lists", async (t) => {
  const empty = await startService(t);
  const key = await empty.key();
  for (const path of ["/v1/customers", "/v1/tanks"]) {
    const expected = { object: "list", data: [], page: 1, size: 10, total_pages: 0, total_items: 0 };
    assert.deepEqual(listOf(await get(empty, path, { key })), expected);
  }
});
