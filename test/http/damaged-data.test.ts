// Stored data of some tanks is damaged: their requests get 503, and everything else is served.

import assert from "node:assert/strict";
import { closeSync, openSync, statSync, truncateSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import test from "node:test";
import type { Store } from "../../src/domain/store.ts";
import { openStore } from "../../src/store/open.ts";
import { eventsOf, publish, RawClient, range, reading } from "../ingest/mqtt/endpoint.ts";
import { postgresDatabase, TEMPLATE_LOCALE } from "../support/postgres/database.ts";
import { customerRecord, putReadings, tankRecord } from "../support/records.ts";
import { type Lifetime, type Service, startService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";
import { expectError, jsonClient, request } from "./client.ts";

const TANKS = 40;
const READINGS = 100;
const tankIds = range(TANKS).map((i) => `t${i}`);
const PAGE_BYTES = 4096;

async function fill(store: Store): Promise<void> {
  await store.importCustomers([customerRecord("a")]);
  await store.importTanks(tankIds.map((id) => tankRecord(id, "a", { assigned_device_id: `device-${id}` })));
  for (const id of tankIds) {
    await putReadings(
      store,
      id,
      range(READINGS).map((i) => [i * 1000, 50]),
    );
  }
  await store.close();
}

/** Overwrites one page with the heads of a few tanks, and returns their ids. */
function damageHeads(file: string): string[] {
  const db = new DatabaseSync(file);
  const [first, second] = db.prepare("SELECT pageno, ncell FROM dbstat WHERE name = 'head' AND pagetype = 'leaf'").all();
  db.close();
  const descriptor = openSync(file, "r+");
  writeSync(descriptor, Buffer.alloc(PAGE_BYTES, 0x5a), 0, PAGE_BYTES, (Number(second?.["pageno"]) - 1) * PAGE_BYTES);
  closeSync(descriptor);
  const start = Number(first?.["ncell"]);
  return tankIds.slice(start, start + Number(second?.["ncell"]));
}

type Damaged = { readonly service: Service; readonly damaged: readonly string[] };

async function onSqlite(t: Lifetime): Promise<Damaged> {
  const file = join(temporaryFolder(t), "tanks.db");
  const url = `sqlite:${file}`;
  await fill(await openStore(url, () => {}));
  const damaged = damageHeads(file);
  return { service: await startService(t, { environment: { DATABASE_URL: url, MQTT: "0", HOST: "127.0.0.1" } }), damaged };
}

async function onPostgres(t: Lifetime): Promise<Damaged> {
  const { url, query } = await postgresDatabase(t, { locale: TEMPLATE_LOCALE, withSchema: true });
  await fill(await openStore(url, () => {}));
  await query("UPDATE head SET data = '\\xff' WHERE tank IN ('t3', 't4')");
  return {
    service: await startService(t, { environment: { DATABASE_URL: url, MQTT: "0", HOST: "127.0.0.1" } }),
    damaged: ["t3", "t4"],
  };
}

async function totals(service: Service, key: string): Promise<Map<string, number>> {
  const pages = tankIds.map(async (id) => {
    const { status, text } = await request(service, `/v1/tanks/${id}/telemetry`, { key });
    return [id, status === 200 ? Number(JSON.parse(text).total_items) : -status] as const;
  });
  return new Map(await Promise.all(pages));
}

const expected = (damaged: readonly string[], total: number) =>
  new Map(tankIds.map((id) => [id, damaged.includes(id) ? -503 : total]));

for (const [engine, start] of [
  ["SQLite", onSqlite],
  ["PostgreSQL", onPostgres],
] as const) {
  test(`${engine}: damaged tanks get 503 and are logged, others are served and stored`, async (t) => {
    const { service, damaged } = await start(t);
    assert.ok(damaged.length > 0 && damaged.length < 8, `${damaged}`);
    const healthy = tankIds.filter((id) => !damaged.includes(id));
    const key = await service.key();
    const send = jsonClient(service, await service.key({ role: "ingest" }));

    assert.deepEqual(await totals(service, key), expected(damaged, READINGS));
    const response = await request(service, `/v1/tanks/${damaged[0]}/telemetry`, { key });
    expectError(response, 503, "data_damaged");
    assert.equal(response.headers["retry-after"], "60");
    const objects = () => new Set(eventsOf(service, "data_damaged").map(({ object }) => object));
    assert.deepEqual(objects(), new Set(damaged.map((id) => `tank ${id}`)));

    await t.test("silent tanks beside damaged ones have an alert", async () => {
      const alert = async (id: string) =>
        JSON.parse((await request(service, `/insight/v1/alerts?tank_id=${id}&kind=silent`, { key })).text).total_items;
      const isKnown = async () => (await Promise.all(healthy.map(alert))).every((total) => total === 1);
      await until("all tanks that are not damaged have an alert", isKnown);
    });

    await t.test("readings of all tanks in one body", async () => {
      const body = tankIds.map((tank_id) => ({ tank_id, created_at: "2026-11-01T00:00:00Z", fill_percentage: 1 }));
      const sent = await send("POST", "/ingest/v1/readings", body);
      assert.deepEqual([sent.status, sent.body["code"]], [503, "data_damaged"]);
      assert.deepEqual(await totals(service, key), expected(damaged, READINGS + 1));
    });

    await t.test("readings of each tank in a request of its own", async () => {
      const statuses = tankIds.map(async (tank_id) => {
        const sent = await send("POST", "/ingest/v1/readings", {
          tank_id,
          created_at: "2026-11-02T00:00:00Z",
          fill_percentage: 2,
        });
        return [tank_id, sent.status] as const;
      });
      assert.deepEqual(
        await Promise.all(statuses),
        tankIds.map((id) => [id, damaged.includes(id) ? 503 : 200]),
      );
      assert.deepEqual(await totals(service, key), expected(damaged, READINGS + 2));
    });

    await t.test("messages over MQTT", async () => {
      const port = Number(new URL(eventsOf(service, "mqtt_listening")[0]?.url ?? "").port);
      const client = await new RawClient(t, { port }).connect(await service.key({ role: "ingest" }));
      client.send(...tankIds.map((id, i) => publish(i + 1, reading(3), { topic: `tanks/device-${id}/readings` })));
      const healthy = tankIds.flatMap((id, i) => (damaged.includes(id) ? [] : [i + 1]));
      await client.received("puback", healthy.length);
      client.send({ cmd: "pingreq" });
      await client.received("pingresp");
      assert.deepEqual(client.acknowledged, healthy);
      assert.deepEqual(await totals(service, key), expected(damaged, READINGS + 3));
    });

    const stored = eventsOf(service, "readings_ingested").reduce((sum, event) => sum + event.stored, 0);
    assert.equal(stored, 3 * (TANKS - damaged.length), "all that is stored is counted");
    assert.equal((await request(service, "/readyz")).status, 200);
    const metrics = (await request(service, "/metrics", { key: await service.key({ role: "metrics" }) })).text;
    assert.doesNotMatch(metrics, /^tank_monitor_write_duration_seconds_count\{.*ok="false"/m, "no write counts as failed");
    const found = Number(/^tank_monitor_data_damaged_total (\d+)$/m.exec(metrics)?.[1]);
    assert.ok(found >= damaged.length, `damaged data was found ${found} times`);
    const kinds = new Set(service.events.map(({ kind }) => kind));
    for (const kind of ["store_unavailable", "writes_unavailable", "request_failed", "mqtt_failed"] as const) {
      assert.ok(!kinds.has(kind), kind);
    }
  });
}

test("PostgreSQL: damage that the server reports is damage, not an outage", async (t) => {
  const { url, query } = await postgresDatabase(t, { locale: TEMPLATE_LOCALE, withSchema: true });
  await fill(await openStore(url, () => {}));
  await query(`
    CREATE FUNCTION damage() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE SQLSTATE 'XX001' USING MESSAGE = 'invalid page in block 7'; END $$;
    CREATE TRIGGER damage BEFORE UPDATE ON head FOR EACH ROW WHEN (OLD.tank = 't5') EXECUTE FUNCTION damage()`);
  const service = await startService(t, { environment: { DATABASE_URL: url } });
  const send = jsonClient(service, await service.key({ role: "ingest" }));
  const body = ["t4", "t5"].map((tank_id) => ({ tank_id, created_at: "2026-11-01T00:00:00Z", fill_percentage: 1 }));
  assert.deepEqual((await send("POST", "/ingest/v1/readings", body)).body["code"], "data_damaged");
  assert.deepEqual(
    new Set(eventsOf(service, "data_damaged").map(({ object }) => object)),
    new Set(["2 tanks or devices", "tank t5"]),
  );
  const key = await service.key();
  assert.equal(JSON.parse((await request(service, "/v1/tanks/t4/telemetry", { key })).text).total_items, READINGS + 1);
});

const WHOLE_FILE: readonly [string, (file: string) => void][] = [
  ["emptied", (file) => truncateSync(file, 0)],
  ["cut off", (file) => truncateSync(file, Math.floor(statSync(file).size / PAGE_BYTES / 2) * PAGE_BYTES)],
  ["overwritten with something else", (file) => writeFileSync(file, "tank_id,created_at,fill_percentage\n".repeat(20_000))],
];
for (const [name, damage] of WHOLE_FILE) {
  test(`a SQLite file that is ${name} makes the service unavailable, and is logged once`, async (t) => {
    const file = join(temporaryFolder(t), "tanks.db");
    const url = `sqlite:${file}`;
    await fill(await openStore(url, () => {}));
    const service = await startService(t, { environment: { DATABASE_URL: url } });
    const key = await service.key();
    assert.equal((await request(service, "/readyz")).status, 200);
    damage(file);
    await until("/readyz is 503", async () => (await request(service, "/readyz")).status === 503);
    // A read may find the damage before the file is looked at.
    await until("the file is looked at", () => service.events.some(({ kind }) => kind === "store_unavailable"));
    expectError(await request(service, "/v1/tanks/t1/telemetry", { key }), 503, "store_unavailable");
    const reasons = service.events.flatMap((event) => (event.kind === "store_unavailable" ? [event.reason] : []));
    assert.match(reasons.join("\n"), /^.* is damaged \(.*\); stop the service and restore a backup$/);
    assert.equal((await request(service, "/healthz")).status, 200);
  });
}
