// The database becomes unavailable and returns while the service runs.

import assert from "node:assert/strict";
import { renameSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, it, type TestContext } from "node:test";
import { UserError } from "../../src/domain/errors.ts";
import { newSecret } from "../../src/domain/key.ts";
import { openStore } from "../../src/store/open.ts";
import { postgresDatabase, TEMPLATE_LOCALE } from "../support/postgres/database.ts";
import { ownPostgres } from "../support/postgres/server.ts";
import { until } from "../support/until.ts";
import { expectError, jsonClient, type Response, request } from "./client.ts";
import { BRENNER, ENDPOINTS, type Fleet, startFleet } from "./services.ts";

const RECOVERY_MS = 2000;

const readiness = async (fleet: Fleet) => (await request(fleet, "/readyz")).status;
const storeEvents = (fleet: Fleet) => fleet.events.map(({ kind }) => kind).filter((kind) => kind.startsWith("store_"));

function expectUnavailable(response: Response, secrets: readonly string[]): void {
  expectError(response, 503, "store_unavailable");
  assert.deepEqual([response.headers["retry-after"], response.headers.etag], ["1", undefined]);
  for (const secret of secrets) assert.ok(!response.text.includes(secret), response.text);
}

/** The response of each endpoint, without the last use of a key, which changes. */
async function responses(fleet: Fleet): Promise<string[]> {
  const all = await Promise.all(ENDPOINTS.map(({ path }) => request(fleet, path, { key: fleet.operator })));
  return all.map(({ text }) => text.replaceAll(/"last_seen_at":"[^"]+"/g, ""));
}

describe("while the SQLite file is missing", async () => {
  const fleet = await startFleet({ after }, { environment: { RATE_LIMIT: "0" } });
  const moved = `${fleet.databaseFile}.moved`;
  const manage = await fleet.key({ role: "manage" });
  const expected = await responses(fleet);
  assert.equal(await readiness(fleet), 200);

  before(async () => {
    renameSync(fleet.databaseFile, moved);
    await until("/readyz is 503", async () => (await readiness(fleet)) === 503);
  });

  it("/readyz and /metrics are 503, /healthz and /openapi.json 200", async () => {
    expectUnavailable(await request(fleet, "/readyz"), [fleet.folder]);
    expectUnavailable(await request(fleet, "/metrics", { key: manage }), [fleet.folder]);
    assert.equal((await request(fleet, "/healthz")).status, 200);
    assert.equal((await request(fleet, "/openapi.json", { method: "HEAD" })).status, 200);
  });

  it("every endpoint is 503 for every key and object, also with HEAD and If-None-Match", async () => {
    const key = fleet.operator;
    for (const { path, unknown } of ENDPOINTS) {
      for (const by of [key, fleet.brenner, manage, newSecret()]) {
        expectUnavailable(await request(fleet, path, { key: by }), [fleet.folder]);
      }
      if (unknown !== undefined) expectUnavailable(await request(fleet, unknown.path, { key }), [fleet.folder]);
      expectUnavailable(await request(fleet, path, { key, headers: { "if-none-match": "*" } }), [fleet.folder]);
      const head = await request(fleet, path, { key, method: "HEAD" });
      assert.deepEqual([head.status, head.headers["retry-after"]], [503, "1"]);
    }
  });

  it("errors that need no database stay the same", async () => {
    expectError(await request(fleet, "/nothing"), 404, "route_unknown");
    expectError(await request(fleet, "/v1/tanks", { method: "POST" }), 405, "method_not_allowed");
    expectError(await request(fleet, "/v1/tanks"), 401, "key_missing");
    expectError(await request(fleet, "/v1/tanks", { key: "nonsense" }), 401, "key_invalid");
  });

  it("it is logged once, and not as an internal error", () => {
    assert.deepEqual(storeEvents(fleet), ["store_unavailable"]);
    assert.ok(!fleet.events.some(({ kind }) => kind === "request_failed"));
  });

  it("and when it returns, everything works as before", async () => {
    renameSync(moved, fleet.databaseFile);
    await until("/readyz is 200", async () => (await readiness(fleet)) === 200);
    assert.deepEqual(await responses(fleet), expected);
    const key = await fleet.key({ customerId: BRENNER });
    assert.equal((await request(fleet, "/v1/tanks", { key })).status, 200);
    await fleet.store.importTanks([{ remove: "tank_yard" }]);
    assert.equal(JSON.parse((await request(fleet, "/v1/tanks", { key })).text).total_items, 1);
    assert.deepEqual(storeEvents(fleet), ["store_unavailable", "store_recovered"]);
  });
});

it("while PostgreSQL is killed and started again, clients see 200 and 503, and nothing else", async (t) => {
  const server = await ownPostgres(t);
  const fleet = await startFleet(t, { environment: { DATABASE_URL: server.url, RATE_LIMIT: "0" } });
  const expected = await responses(fleet);
  const { port, password } = new URL(server.url);
  const key = fleet.operator;
  const seen = new Set<number>();
  let isOver = false;
  const repeat = async (path: string): Promise<void> => {
    while (!isOver) seen.add((await request(fleet, path, { key })).status);
  };
  const load = Promise.all(ENDPOINTS.map(({ path }) => repeat(path)));
  try {
    await server.stop("kill");
    await until("/readyz is 503", async () => (await readiness(fleet)) === 503);
    for (const { path } of ENDPOINTS) {
      expectUnavailable(await request(fleet, path, { key }), [port, password, "ECONN", "postgres"]);
    }
    // Connections end one after the other: a query in between may still succeed.
    assert.ok(storeEvents(fleet).length <= 10, `${storeEvents(fleet)}`);
    await server.start();
    await until("/readyz is 200", async () => (await readiness(fleet)) === 200, RECOVERY_MS);
  } finally {
    isOver = true;
    await load;
  }
  assert.deepEqual([...seen].sort(), [200, 503]);
  assert.deepEqual(await responses(fleet), expected);
  assert.equal(storeEvents(fleet).at(-1), "store_recovered");
  assert.ok(!fleet.events.some(({ kind }) => kind === "request_failed"));
});

for (const engine of ["SQLite", "PostgreSQL"]) {
  async function startAlterable(t: TestContext) {
    const database =
      engine === "PostgreSQL" ? await postgresDatabase(t, { locale: TEMPLATE_LOCALE, withSchema: true }) : undefined;
    const life = database === undefined ? t : { after: database.closeFirst };
    const environment = { RATE_LIMIT: "0", ...(database && { DATABASE_URL: database.url }) };
    const fleet = await startFleet(life, { environment });
    async function run(sql: string): Promise<void> {
      if (database !== undefined) return void (await database.query(sql));
      const db = new DatabaseSync(fleet.databaseFile, { timeout: 5000 });
      db.exec(sql);
      db.close();
    }
    return { fleet, run, url: database?.url ?? `sqlite:${fleet.databaseFile}` };
  }

  it(`${engine}: while a table is missing, what needs it and /readyz are 503, and a start says what is missing`, async (t) => {
    const { fleet, run, url } = await startAlterable(t);
    const key = fleet.operator;
    const path = "/v1/tanks/tank_hall/telemetry";
    await run("ALTER TABLE head RENAME TO gone");
    for (let i = 0; i < 10; i++) {
      expectUnavailable(await request(fleet, path, { key }), ["head"]);
      assert.equal((await request(fleet, "/v1/customers", { key })).status, 200);
    }
    expectUnavailable(await request(fleet, "/readyz"), ["head"]);
    const send = jsonClient(fleet, await fleet.key({ role: "ingest" }));
    const sent = await send("POST", "/ingest/v1/readings", { tank_id: "tank_hall", fill_percentage: 1 });
    assert.equal(sent.body["code"], "store_unavailable");
    const reopened = openStore(url, () => {});
    await assert.rejects(reopened, (error) => error instanceof UserError && /has no table "head": /.test(error.message));
    assert.ok(!fleet.events.some(({ kind }) => kind === "request_failed"));

    await run("ALTER TABLE gone RENAME TO head");
    await until("/readyz is 200", async () => (await readiness(fleet)) === 200);
    assert.equal((await request(fleet, path, { key })).status, 200);
    assert.equal((await send("POST", "/ingest/v1/readings", { tank_id: "tank_hall", fill_percentage: 1 })).status, 200);
  });

  it(`${engine}: while the fleet, a view in PostgreSQL, is missing, /readyz is 503, and a start says so`, async (t) => {
    const { fleet, run, url } = await startAlterable(t);
    await run("ALTER TABLE fleet RENAME TO gone");
    expectUnavailable(await request(fleet, "/insight/v1/fleet", { key: fleet.operator }), ["gone"]);
    expectUnavailable(await request(fleet, "/readyz"), ["gone"]);
    await assert.rejects(
      openStore(url, () => {}),
      { message: /has no table "fleet": / },
    );

    await run("ALTER TABLE gone RENAME TO fleet");
    await until("/readyz is 200", async () => (await readiness(fleet)) === 200);
  });

  it(`${engine}: while a column is missing, reads and writes that need it and /readyz are 503`, async (t) => {
    const { fleet, run } = await startAlterable(t);
    const manage = jsonClient(fleet, await fleet.key({ role: "manage" }));
    const create = () => manage("POST", "/manage/v1/customers", { name: "New", email: "new@customer.example" });
    await run("ALTER TABLE audit RENAME COLUMN who TO gone");
    for (const response of [await manage("GET", "/manage/v1/audit"), await create(), await manage("GET", "/readyz")]) {
      assert.deepEqual([response.status, response.body["code"]], [503, "store_unavailable"]);
    }
    assert.equal((await manage("GET", "/manage/v1/customers")).status, 200);
    assert.ok(!fleet.events.some(({ kind }) => kind === "request_failed"));

    await run("ALTER TABLE audit RENAME COLUMN gone TO who");
    await until("/readyz is 200", async () => (await readiness(fleet)) === 200);
    assert.equal((await create()).status, 201);
    assert.equal((await manage("GET", "/manage/v1/audit")).status, 200);
  });
}
