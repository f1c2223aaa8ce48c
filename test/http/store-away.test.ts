// The database goes away and comes back while the service runs.

import assert from "node:assert/strict";
import { renameSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { newSecret } from "../../src/domain/key.ts";
import { until } from "../support/until.ts";
import { type Answer, get, refused } from "./answers.ts";
import { BRENNER, ENDPOINTS, startFleet } from "./fleet.ts";

const fleet = await startFleet({ after }, { environment: { RATE_LIMIT: "0" } });
const elsewhere = `${fleet.databaseFile}.elsewhere`;
const manage = await fleet.key({ role: "manage" });
const readiness = async (status: number) =>
  until(`/readyz answers ${status}`, async () => (await get(fleet, "/readyz")).status === status);

function unavailable(answer: Answer): void {
  refused(answer, 503, "store_unavailable");
  assert.equal(answer.headers["retry-after"], "1");
  assert.equal(answer.headers.etag, undefined);
  assert.ok(!answer.text.includes(fleet.folder), "and the caller is not told where the database was");
}

const answers = new Map<string, string>();

it("while the database is there, everything is answered", async () => {
  for (const { path } of ENDPOINTS) answers.set(path, (await get(fleet, path, { key: fleet.operator })).text);
  await readiness(200);
});

describe("while the database is away", () => {
  before(async () => {
    renameSync(fleet.databaseFile, elsewhere);
    await readiness(503);
  });

  it("/readyz says so, and /metrics, whose key cannot be looked up", async () => {
    unavailable(await get(fleet, "/readyz"));
    unavailable(await get(fleet, "/metrics", { key: manage }));
  });

  for (const { name, path, unknown } of ENDPOINTS) {
    it(`${name} says so, to every key and for every object`, async () => {
      for (const key of [fleet.operator, fleet.brenner, manage, newSecret()]) unavailable(await get(fleet, path, { key }));
      if (unknown !== undefined) unavailable(await get(fleet, unknown.path, { key: fleet.operator }));
      const head = await get(fleet, path, { key: fleet.operator, method: "HEAD" });
      assert.deepEqual([head.status, head.headers["retry-after"]], [503, "1"]);
    });

    it(`${name} is not told to be unchanged either`, async () => {
      unavailable(await get(fleet, path, { key: fleet.operator, headers: { "if-none-match": "*" } }));
    });
  }

  it("the process still says that it is alive", async () => {
    assert.equal((await get(fleet, "/healthz")).status, 200);
    assert.equal((await get(fleet, "/openapi.json", { method: "HEAD" })).status, 200);
  });

  it("what needs no database is still refused for what it is", async () => {
    refused(await get(fleet, "/nothing"), 404, "route_unknown");
    refused(await get(fleet, "/v1/tanks", { method: "POST" }), 405, "method_not_allowed");
    refused(await get(fleet, "/v1/tanks"), 401, "key_missing");
    refused(await get(fleet, "/v1/tanks", { key: "nonsense" }), 401, "key_invalid");
  });

  it("the operator is told once", () => {
    assert.equal(fleet.events.filter(({ kind }) => kind === "store_unavailable").length, 1);
    assert.ok(!fleet.events.some(({ kind }) => kind === "request_failed"), "it is nobody's fault");
  });
});

describe("when the database is back", () => {
  before(async () => {
    renameSync(elsewhere, fleet.databaseFile);
    await readiness(200);
  });

  for (const { name, path } of ENDPOINTS) {
    it(`${name} answers as before`, async () => {
      assert.equal((await get(fleet, path, { key: fleet.operator })).text, answers.get(path));
    });
  }

  it("new keys work, and writes arrive", async () => {
    const key = await fleet.key({ customerId: BRENNER });
    assert.equal((await get(fleet, "/v1/tanks", { key })).status, 200);
    await fleet.store.importTanks([{ remove: "tank_yard" }]);
    assert.equal(JSON.parse((await get(fleet, "/v1/tanks", { key })).text).total_items, 1);
  });

  it("the operator is told", () => {
    assert.equal(fleet.events.filter(({ kind }) => kind === "store_recovered").length, 1);
  });
});
