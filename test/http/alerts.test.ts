// Alerts and events over HTTP.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { expectError, expectStatus, type Item, object, request, withoutRequestId } from "./client.ts";
import { CUSTOMER, startManaged } from "./services.ts";

const service = await startManaged({ after }, { RATE_LIMIT: "0" });
const { manage, forward, now, keyId } = service;
const ALERTS = "/insight/v1/alerts";
const EVENTS = "/insight/v1/events";
const keys = { operator: "", c1: "", c2: "" };
const call = (path: string, key = keys.operator) => request(service, path, { key });
const got = async (path: string, key?: string): Promise<Item> => object(await call(path, key));
const idsIn = ({ data }: Item): unknown[] => (data as Item[]).map(({ id }) => id);
/** The id of the alert of each tank. */
const alerts: Record<string, string> = {};

async function measure(tank_id: string, fill_percentage: number): Promise<void> {
  forward(1000);
  expectStatus(await manage("POST", "/ingest/v1/readings", { tank_id, fill_percentage }), 200);
}

before(async () => {
  for (const id of ["c1", "c2"]) expectStatus(await manage("POST", "/manage/v1/customers", { ...CUSTOMER, id }), 201);
  for (const [id, owner_id] of [
    ["t1", "c1"],
    ["t2", "c1"],
    ["t3", "c2"],
  ] as const) {
    const fields = { id, name: id, owner_id, assigned_device_id: id, capacity: 2700, capacity_unit: "liters" };
    expectStatus(await manage("POST", "/manage/v1/tanks", { ...fields, min_fill_alert_percentage: 20 }), 201);
    await measure(id, 19.5);
  }
  keys.operator = await service.key();
  keys.c1 = await service.key({ customerId: "c1" });
  keys.c2 = await service.key({ customerId: "c2" });
  for (const alert of (await got(ALERTS))["data"] as Item[]) alerts[String(alert["tank_id"])] = String(alert["id"]);
});

describe("alerts", () => {
  it("are listed newest first, with filters and exact totals", async () => {
    const { t1, t2, t3 } = alerts;
    for (const [query, expected] of [
      ["", [t3, t2, t1]],
      ["?state=open", [t3, t2, t1]],
      ["?state=closed", []],
      ["?kind=low&owner_id=c1", [t2, t1]],
      ["?tank_id=t1", [t1]],
      ["?kind=silent", []],
      ["?opened_at_gte=2100-01-01T00:00:00Z", []],
      ["?opened_at_lte=2100-01-01T00:00:00Z&owner_id=c2", [t3]],
    ] as const) {
      const page = await got(`${ALERTS}${query}`);
      assert.deepEqual([idsIn(page), page["total_items"]], [expected, expected.length], query);
    }
    const { data, ...envelope } = await got(`${ALERTS}?size=2&page=2`);
    assert.deepEqual(envelope, { object: "list", page: 2, size: 2, total_pages: 2, total_items: 3 });
    assert.equal((data as Item[])[0]?.["id"], t1);
  });

  it("are single objects with an ETag; wrong parameters are errors", async () => {
    const response = await call(`${ALERTS}/${alerts["t1"]}`);
    const { opened_at, updated_at, latest_reading_at, ...alert } = object(response);
    assert.deepEqual(alert, {
      id: alerts["t1"],
      object: "alert",
      kind: "low",
      state: "open",
      tank_id: "t1",
      owner_id: "c1",
      acknowledged_at: null,
      acknowledged_by: null,
      closed_at: null,
      close_reason: null,
      threshold: 20,
      fill_percentage: 19.5,
      latest_fill_percentage: 19.5,
      runs_low_at: null,
      leak: null,
      note: null,
    });
    assert.deepEqual([updated_at, latest_reading_at], [opened_at, opened_at]);
    assert.match(String(response.headers["etag"]), /^"[\w-]{27}"$/);
    for (const [query, param] of [
      ["state=new", "state"],
      ["kind=full", "kind"],
      ["tank_id=", "tank_id"],
      ["opened_at_gte=yesterday", "opened_at_gte"],
    ] as const) {
      expectError(await call(`${ALERTS}?${query}`), 400, "parameter_invalid", param);
    }
    expectError(await call(`${ALERTS}?created_at_gte=2026-01-01T00:00:00Z`), 400, "parameter_unknown", "created_at_gte");
  });

  it("of others are as unknown to a customer's key as those that do not exist", async () => {
    assert.deepEqual(idsIn(await got(ALERTS, keys.c1)), [alerts["t2"], alerts["t1"]]);
    const [other, unknown] = [await call(`${ALERTS}/${alerts["t3"]}`, keys.c1), await call(`${ALERTS}/alr_none`, keys.c1)];
    expectError(other, 404, "alert_unknown");
    assert.deepEqual(withoutRequestId(other), withoutRequestId(unknown));
    for (const [theirs, none] of [
      ["owner_id=c2", "owner_id=nothing"],
      ["tank_id=t3", "tank_id=nothing"],
    ]) {
      const found = [await call(`${ALERTS}?${theirs}`, keys.c1), await call(`${ALERTS}?${none}`, keys.c1)].map(withoutRequestId);
      assert.deepEqual(found[0], found[1]);
    }
  });
});

describe("an alert", () => {
  const path = (tank: string, action: string): string => `/manage/v1/alerts/${alerts[tank]}/${action}`;

  it("is acknowledged with a note, once", async () => {
    forward(1000);
    const acknowledged = expectStatus(await manage("POST", path("t1", "acknowledge"), { note: "Thursday" }), 200);
    const { state, acknowledged_at, acknowledged_by, note } = acknowledged;
    assert.deepEqual([state, acknowledged_at, acknowledged_by, note], ["acknowledged", now(), keyId, "Thursday"]);
    forward(1000);
    assert.deepEqual(expectStatus(await manage("POST", path("t1", "acknowledge")), 200), acknowledged);
    assert.deepEqual(await got(`${ALERTS}/${alerts["t1"]}`, keys.c1), acknowledged);
    const { data } = expectStatus(await manage("GET", `/manage/v1/audit?type=alert&id=${alerts["t1"]}`), 200);
    const [entry, ...others] = data as Item[];
    assert.deepEqual(
      [entry?.["action"], entry?.["by"], entry?.["changes"], others],
      ["acknowledged", keyId, { state: { from: "open", to: "acknowledged" }, note: { from: null, to: "Thursday" } }, []],
    );
  });

  it("is closed manually, without a body too, and not opened again while its condition lasts", async () => {
    const closed = expectStatus(await manage("POST", path("t1", "close")), 200);
    assert.deepEqual([closed["state"], closed["close_reason"], closed["note"]], ["closed", "manual", "Thursday"]);
    assert.equal(closed["closed_at"], now());
    await measure("t1", 15);
    assert.equal((await got(`${ALERTS}?tank_id=t1`))["total_items"], 1);
    assert.deepEqual((await got("/insight/v1/tanks/t1"))["alerts"], []);
    expectStatus(await manage("POST", path("t1", "acknowledge")), 409, "state_conflict");
    await measure("t1", 60);
    await measure("t1", 12);
    assert.equal((await got(`${ALERTS}?tank_id=t1&state=open`))["total_items"], 1);
  });

  it("is changed in the version of If-Match only, and once per Idempotency-Key", async () => {
    const { headers } = await call(`${ALERTS}/${alerts["t2"]}`);
    const first = { "if-match": String(headers["etag"]), "idempotency-key": "close t2" };
    expectStatus(await manage("POST", path("t2", "close"), {}, { "if-match": '"other"' }), 412, "precondition_failed");
    const closed = await manage("POST", path("t2", "close"), { note: "Sold" }, first);
    const again = await manage("POST", path("t2", "close"), { note: "Sold" }, first);
    assert.deepEqual(expectStatus(again, 200), expectStatus(closed, 200));
    assert.deepEqual([closed.headers["idempotency-replayed"], again.headers["idempotency-replayed"]], [undefined, "true"]);
    expectStatus(await manage("POST", path("t2", "close"), { note: "Other" }, first), 422, "idempotency_key_reused");
  });

  it("has a note of 1 to 1,000 characters, and nothing else that a caller can set", async () => {
    for (const [body, fields] of [
      [{ note: "x".repeat(1001) }, ["note"]],
      [{ note: "" }, ["note"]],
      [{ note: 5, state: "open" }, ["note", "state"]],
    ] as const) {
      const { errors } = expectStatus(await manage("POST", path("t3", "acknowledge"), body), 400, "body_invalid");
      assert.deepEqual((errors as Item[]).map(({ field }) => field).sort(), fields);
    }
    expectStatus(await manage("POST", "/manage/v1/alerts/alr_none/close", {}), 404, "alert_unknown");
    expectError(await request(service, path("t3", "close"), { key: keys.operator, method: "POST" }), 403, "role_insufficient");
  });
});

describe("the feed", () => {
  it("has all events in order, page by page", async () => {
    const seen: Item[] = [];
    let path = `${EVENTS}?size=2`;
    for (let hasMore = true; hasMore; ) {
      const page = await got(path);
      seen.push(...(page["data"] as Item[]));
      assert.deepEqual([page["object"], page["missed"]], ["event_list", false]);
      path = `${EVENTS}?size=2&after=${page["next_after"]}`;
      hasMore = page["has_more"] === true;
    }
    assert.deepEqual(
      seen.map(({ sequence }) => sequence),
      seen.map((_, i) => i + 1),
    );
    const counted = Map.groupBy(seen, ({ type }) => type);
    assert.deepEqual([...counted.keys()].sort(), ["alert.acknowledged", "alert.closed", "alert.opened"]);
    assert.deepEqual([counted.get("alert.opened")?.length, counted.get("alert.closed")?.length], [4, 2]);
    const { data } = seen[0] as { data: Record<string, Item> };
    assert.deepEqual(data["tank"], await got("/v1/tanks/t1"));
    assert.equal(data["customer"]?.["id"], "c1");
    assert.deepEqual((await got(path))["data"], []);
  });

  it("of a customer's key has that customer's events, and goes on after those of others", async () => {
    const { data, next_after } = await got(EVENTS, keys.c2);
    assert.deepEqual(
      (data as Item[]).map(({ sequence }) => sequence),
      [3],
    );
    assert.equal(next_after, (await got(EVENTS))["next_after"]);
  });

  it("says when it cannot go on after a number, and rejects what is none", async () => {
    const { missed, data, next_after } = await got(`${EVENTS}?after=1000`);
    assert.deepEqual([missed, data, next_after], [true, [], (await got(EVENTS))["next_after"]]);
    for (const value of ["-1", "1.5", "x", "", "9007199254740992", "1e3"]) {
      expectError(await call(`${EVENTS}?after=${value}`), 400, "parameter_invalid", "after");
    }
    expectError(await call(`${EVENTS}?page=2`), 400, "parameter_unknown", "page");
  });
});
