// A key that sends or requests as much as it can must not starve others.

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { eventsOf, publish, RawClient, range, sleep } from "../../ingest/mqtt/endpoint.ts";
import { databaseSetting } from "../../support/postgres/database.ts";
import { customerRecord, tankRecord } from "../../support/records.ts";
import { type Lifetime, type Service, startService } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { expectStatus, type JsonClient, jsonClient, openSocket, send } from "../client.ts";
import { ECHO_ROUTES, startEcho } from "../services.ts";

const PATH = "/ingest/v1/readings";
const MAX_READINGS = 10_000;
const TANKS = 100;
const ENGINES = ["sqlite", "postgres"] as const;

async function startFleet(life: Lifetime, engine: (typeof ENGINES)[number]): Promise<Service> {
  const service = await startService(life, { environment: { ...(await databaseSetting(life, engine)), MQTT: "0" } });
  await service.store.importCustomers([customerRecord("c1")]);
  const tanks = Array.from({ length: TANKS }, (_, i) => tankRecord(`t${i}`, "c1", { assigned_device_id: `d${i}` }));
  await service.store.importTanks(tanks);
  return service;
}

const sender = async (service: Service): Promise<JsonClient> => jsonClient(service, await service.key({ role: "ingest" }));

/** Body `n`, with other readings than the others have. `padding`: added to each of its 10,000 readings, in bytes. */
function largeBody(n: number, padding = 0): string {
  const reading = (_: unknown, i: number) => {
    const created_at = new Date((n * MAX_READINGS + i) * 1000).toISOString();
    return { device_id: `d${i % TANKS}`, created_at, fill_percentage: i % 100 };
  };
  const body = JSON.stringify(Array.from({ length: MAX_READINGS }, reading));
  return padding === 0 ? body : body.replaceAll("{", `{${" ".repeat(padding)}`);
}

/** Reading `i` of a key that sends them one by one. */
async function storeOne(client: JsonClient, i: number): Promise<void> {
  const reading = { tank_id: `t${i % TANKS}`, created_at: new Date(1e12 + i).toISOString(), fill_percentage: 1 };
  const { status, body } = await client("POST", PATH, reading);
  assert.deepEqual([status, body["results"]], [200, [{ status: "stored" }]]);
}

/** Calls again and again until the promise is settled. */
async function during(busy: Promise<unknown>, call: (i: number) => Promise<void>): Promise<number> {
  let isBusy = true;
  const end = () => {
    isBusy = false;
  };
  busy.then(end, end);
  let calls = 0;
  for (; isBusy; calls++) await call(calls);
  return calls;
}

const MQTT_TANK = tankRecord("mqtt tank", "c1", { assigned_device_id: "mqtt-device" });

/** A client of the embedded MQTT endpoint with a key of its own. */
async function mqttClient(life: Lifetime, service: Service): Promise<RawClient> {
  const port = Number(new URL(eventsOf(service, "mqtt_listening")[0]?.url ?? "").port);
  return new RawClient(life, { port }).connect(await service.key({ role: "ingest" }));
}

/** Publishes five messages, the `round`-th five of the client, and waits for their PUBACKs. */
async function publishFive(client: RawClient, round: number): Promise<void> {
  const message = (i: number) => {
    const id = round * 5 + i;
    const reading = { created_at: new Date(1e12 + id).toISOString(), fill_percentage: 1 };
    return publish(id, JSON.stringify(reading), { topic: "tanks/mqtt-device/readings" });
  };
  client.send(...range(5).map(message));
  await client.received("puback", (round + 1) * 5);
}

for (const engine of ENGINES) {
  describe(`while one key sends 12 bodies of 10,000 readings at a time, on ${engine}`, () => {
    it("it gets 503 for what exceeds its share, and every reading and MQTT message of other keys is stored", async (t) => {
      const service = await startFleet(t, engine);
      const [flooding, other] = [await sender(service), await sender(service)];
      await service.store.importTanks([MQTT_TANK]);
      const mqtt = await mqttClient(t, service);
      const bodies = Array.from({ length: 5 }, (_, n) => largeBody(n));
      const flood = Promise.all(Array.from({ length: 12 }, (_, i) => flooding("POST", PATH, bodies[i % 5])));
      const [stored, published] = await Promise.all([
        during(flood, (i) => storeOne(other, i)),
        during(flood, (round) => publishFive(mqtt, round)),
      ]);
      const accepted = (await flood).filter(({ status }) => status === 200);
      const refused = (await flood).filter(({ status }) => status !== 200);
      assert.ok(stored >= 3, `${stored} readings of the other key`);
      assert.ok(published >= 3, `${published} times five MQTT messages`);
      assert.deepEqual(mqtt.acknowledged, range(5 * published));
      assert.deepEqual([mqtt.isClosed, eventsOf(service, "mqtt_client_dropped")], [false, []]);
      const read = jsonClient(service, await service.key({ role: "read" }));
      const telemetry = expectStatus(await read("GET", "/v1/tanks/mqtt%20tank/telemetry"), 200);
      assert.equal(telemetry["total_items"], mqtt.acknowledged.length);
      assert.ok(accepted.length > 0 && refused.length > 0, `${accepted.length} accepted, ${refused.length} refused`);
      for (const response of refused) {
        expectStatus(response, 503, "overloaded");
        assert.match(String(response.body["detail"]), /^This key or address is sending too much at a time. Nothing was stored/);
        assert.equal(response.headers["retry-after"], "1");
      }
      const results = accepted.flatMap(({ body }) => body["results"] as { readonly status: string }[]);
      assert.ok(results.every(({ status }) => status === "stored" || status === "duplicate"));
      expectStatus(await flooding("POST", PATH, largeBody(5)), 200);
    });
  });
}

it("while six keys send all they may, single readings and a large body of two other keys are stored", async (t) => {
  const service = await startFleet(t, "sqlite");
  const flooding = await Promise.all(range(6).map(() => sender(service)));
  const [single, large] = [await sender(service), await sender(service)];
  // Of nearly the largest size: three of each key exceed the memory for the bodies of all keys.
  const body = largeBody(0, 700);
  const overloaded = Promise.withResolvers<void>();
  const sendThree = (send: JsonClient) =>
    Array.from({ length: 3 }, async () => {
      const response = await send("POST", PATH, body);
      if (response.status !== 200) overloaded.resolve();
      return response;
    });
  const flood = Promise.all(flooding.map((send) => Promise.all(sendThree(send))));
  const largeResponse = overloaded.promise.then(() => large("POST", PATH, largeBody(1)));
  const stored = await during(flood, async (i) => {
    await storeOne(single, i);
    await sleep(10);
  });
  expectStatus(await largeResponse, 200);
  for (const responses of await flood) {
    const refused = responses.filter(({ status }) => status !== 200);
    assert.ok(refused.length < 3, "each of the keys has one body in progress");
    for (const response of refused) expectStatus(response, 503, "overloaded");
  }
  assert.ok(stored >= 20, `${stored} single readings`);
});

for (const engine of ENGINES) {
  describe(`while many rows are provisioned, on ${engine}`, () => {
    it("readings are stored; the rows are checked first, and written in parts that fit together", async (t) => {
      const service = await startFleet(t, engine);
      const manage = jsonClient(service, await service.key({ role: "manage" }));
      const [provision, key] = ["/manage/v1/provision", { "idempotency-key": "many" }];
      const fields = { owner_id: "new 1", capacity: 100, capacity_unit: "liters", min_fill_alert_percentage: 10, name: "New" };
      const customers = Array.from({ length: 1200 }, (_, i) => ({ id: `new ${i}`, name: "New", email: `${i}@x.example` }));
      const created = Array.from({ length: 1800 }, (_, i) => ({ ...fields, id: `n${i}`, assigned_device_id: `new ${i}` }));
      // Two tanks swap their devices, and the first of the new ones gets a device that is released by the last row.
      const released = { ...created[0], assigned_device_id: "d5" };
      const changed = [
        { id: "t1", assigned_device_id: "d2" },
        ...created.slice(1),
        { id: "t2", assigned_device_id: "d1" },
        { id: "t5", assigned_device_id: "other", name: "Renamed" },
      ];
      const rows = { customers, tanks: [released, ...changed] };
      const wrong = { ...rows, tanks: [...rows.tanks, { ...fields, id: "wrong", owner_id: "nobody", assigned_device_id: "x" }] };
      const rejected = await manage("POST", provision, wrong);
      expectStatus(rejected, 400, "body_invalid");
      assert.deepEqual(rejected.body["errors"], [{ field: "tanks[1803].owner_id", message: "no such customer" }]);
      expectStatus(await manage("GET", "/manage/v1/customers/new%201"), 404);
      const dry = expectStatus(await manage("POST", `${provision}?dry_run=true`, rows), 200);
      const provisioned = manage("POST", provision, rows, key);
      const other = await sender(service);
      const stored = await during(provisioned, async (i) => {
        const reading = { tank_id: "t3", created_at: new Date(1e12 + i).toISOString(), fill_percentage: 1 };
        expectStatus(await other("POST", PATH, reading), 200);
      });
      assert.ok(stored >= 4, `${stored} readings meanwhile`);
      const result = expectStatus(await provisioned, 200);
      assert.deepEqual(result["customers"], { new: 1200, changed: 0, unchanged: 0 });
      assert.deepEqual(result["tanks"], { new: 1800, changed: 3, unchanged: 0 });
      assert.deepEqual(result, { ...dry, dry_run: false });
      const again = await manage("POST", provision, rows, key);
      assert.deepEqual([again.headers["idempotency-replayed"], again.body], ["true", result]);
      const unchanged = expectStatus(await manage("POST", provision, rows), 200);
      assert.deepEqual(unchanged["tanks"], { new: 0, changed: 0, unchanged: 1803 });
      for (const [tank, device] of Object.entries({ t1: "d2", t2: "d1", n0: "d5", t5: "other", n1799: "new 1799" })) {
        assert.equal((await manage("GET", `/manage/v1/tanks/${tank}`)).body["assigned_device_id"], device);
      }
    });
  });
}

for (const engine of ENGINES) {
  it(`while the devices of many tanks change, readings are stored, and the rows written in parts that fit together, on ${engine}`, async (t) => {
    const service = await startFleet(t, engine);
    const manage = jsonClient(service, await service.key({ role: "manage" }));
    const named = (prefix: string, count: number) => range(count).map((i) => `${prefix}${i}`);
    const [renamed, chain, swapped, cycle] = [named("r", 2000), named("c", 600), named("s", 500), named("y", 300)];
    const ids = [...renamed, ...chain, ...swapped, ...cycle];
    await service.store.importTanks(ids.map((id) => tankRecord(id, "c1", { assigned_device_id: `${id} device` })));
    const next = (tanks: readonly string[], i: number) => `${tanks[i + 1] ?? "new"} device`;
    const fields = { owner_id: "c1", capacity: 100, capacity_unit: "liters", min_fill_alert_percentage: 10, name: "New" };
    const tanks = [
      { ...fields, id: "new", assigned_device_id: "c0 device" },
      // Each waits for the row after it.
      ...chain.map((id, i) => ({ id, assigned_device_id: next(chain, i) })),
      ...swapped.map((id, i) => ({ id, assigned_device_id: `${swapped.at(-1 - i)} device` })),
      ...cycle.map((id, i) => ({ id, assigned_device_id: i === 0 ? "y299 device" : `y${i - 1} device` })),
      ...renamed.map((id) => ({ id, assigned_device_id: `${id} renamed` })),
    ];
    const provisioned = manage("POST", "/manage/v1/provision", { tanks });
    const other = await sender(service);
    const stored = await during(provisioned, async (i) => {
      const reading = { device_id: "d3", created_at: new Date(1e12 + i).toISOString(), fill_percentage: 1 };
      expectStatus(await other("POST", PATH, reading), 200);
    });
    assert.deepEqual(expectStatus(await provisioned, 200)["tanks"], { new: 1, changed: 3400, unchanged: 0 });
    const parts = eventsOf(service, "write_completed").filter(({ write }) => write === "execute");
    // Of 250 rows at most, but for the 300 tanks that exchange their devices in a circle.
    assert.ok(parts.length >= 3101 / 250, `${parts.length} parts`);
    assert.ok(stored >= 4, `${stored} readings meanwhile`);
    const again = expectStatus(await manage("POST", "/manage/v1/provision?dry_run=true", { tanks }), 200);
    assert.deepEqual(again["tanks"], { new: 0, changed: 0, unchanged: 3401 });
  });
}

for (const engine of ENGINES) {
  it(`searches of one key do not keep those of another waiting, on ${engine}`, async (t) => {
    const service = await startFleet(t, engine);
    const manager = async () => jsonClient(service, await service.key({ role: "manage" }));
    const [flooding, other] = [await manager(), await manager()];
    for (const path of ["/manage/v1/tanks?name=tank&size=100", "/insight/v1/fleet?size=100", "/manage/v1/audit?size=100"]) {
      let completed = 0;
      const search = async () => {
        expectStatus(await flooding("GET", path), 200);
        completed++;
      };
      const searches = () => Array.from({ length: 60 }, search);
      // Connections are accepted one in each turn of the event loop: they are opened before.
      await Promise.all([...searches(), other("GET", path)]);
      completed = 0;
      const flood = searches();
      expectStatus(await other("GET", path), 200);
      assert.ok(completed < 40, `${completed} of 60 came before`);
      await Promise.all(flood);
    }
  });
}

for (const engine of ENGINES) {
  it(`changes of one key do not keep changes and readings of others waiting, on ${engine}`, async (t) => {
    const service = await startFleet(t, engine);
    const manager = async () => jsonClient(service, await service.key({ role: "manage" }));
    const [flooding, other, sending] = [await manager(), await manager(), await sender(service)];
    let [changed, completed] = [0, 0];
    async function change(i: number): Promise<void> {
      expectStatus(await flooding("PATCH", `/manage/v1/tanks/t${i}`, { name: `Renamed ${++changed}` }), 200);
      completed++;
    }
    const changes = () => Array.from({ length: 80 }, (_, i) => change(i));
    // Connections are accepted one in each turn of the event loop: they are opened before.
    await Promise.all(changes());
    const flood = changes();
    await Promise.race(flood);
    completed = 0;
    await Promise.all([
      other("PATCH", "/manage/v1/tanks/t90", { name: "Renamed" }).then((response) => expectStatus(response, 200)),
      sending("POST", PATH, { tank_id: "t1", fill_percentage: 50 }).then((response) => expectStatus(response, 200)),
    ]);
    assert.ok(completed < 60, `${completed} of 80 came before`);
    await Promise.all(flood);
  });
}

it("of a key's long reads 100 wait, more get 503, and those whose client has gone are skipped", async (t) => {
  const gate = Promise.withResolvers<void>();
  let started = 0;
  const routes = ECHO_ROUTES.map((route) => ({
    ...route,
    isLongRead: true as const,
    async handle() {
      started++;
      await gate.promise;
      return {};
    },
  }));
  const echo = await startEcho(t, { routes });
  const [path, secret] = ["/manage/v1/things/first", await echo.key({ rate: 1000 })];
  const [flooding, other] = [jsonClient(echo, secret), jsonClient(echo, await echo.key())];
  // Two run; 50 of those that wait leave.
  const remaining = Array.from({ length: 2 }, () => flooding("GET", path));
  await until("they run", () => started === 2);
  const leaving = openSocket(echo).on("error", () => {});
  leaving.write(`GET ${path} HTTP/1.1\r\nHost: here\r\nX-API-Key: ${secret}\r\n\r\n`.repeat(50));
  let rejected = 0;
  const others = Array.from({ length: 60 }, async () => {
    const response = await flooding("GET", path);
    if (response.status === 503) rejected++;
    return response;
  });
  await until("10 are rejected", () => rejected === 10);
  leaving.resetAndDestroy();
  const ofOther = other("GET", path);
  // With its response, the service has seen the reset too.
  await send(echo, "/docs");
  gate.resolve();
  expectStatus(await ofOther, 200);
  for (const response of await Promise.all([...remaining, ...others])) {
    if (response.status === 200) continue;
    expectStatus(response, 503, "overloaded");
    assert.equal(response.headers["retry-after"], "1");
  }
  assert.equal(started, 2 + 50 + 1);
  const statuses = echo.events.flatMap((event) => (event.kind === "request_completed" ? [event.status] : []));
  assert.equal(statuses.filter((status) => status === 499).length, 50, "those of the client that has gone");
});

it("a body that takes long to parse does not keep others waiting", async (t) => {
  const service = await startFleet(t, "sqlite");
  const read = jsonClient(service, await service.key({ role: "read" }));
  const names = (n: number) => Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`name_${n}_${i}`, i]));
  const slow = (await sender(service))("POST", PATH, JSON.stringify(Array.from({ length: 3000 }, (_, n) => names(n))));
  const reads = await during(slow, async () => {
    expectStatus(await read("GET", "/v1/tanks/t1"), 200);
  });
  expectStatus(await slow, 200);
  assert.ok(reads > 20, `${reads} reads meanwhile`);
});
