// Requests of the client to a real service, behind a proxy that fails as networks do.

import assert from "node:assert/strict";
import { after, beforeEach, describe, it } from "node:test";
import { inspect } from "node:util";
import { ResponseCache } from "../../client/src/cache.ts";
import { ApiError, createClient, type ErrorCode } from "../../client/src/index.ts";
import { startService } from "../support/service.ts";
import { httpProxy } from "./proxy.ts";

const service = await startService({ after });
const proxy = await httpProxy({ after }, service.url);
const key = await service.key({ role: "manage" });
const client = createClient({ baseUrl: `${proxy.url}/`, key });
await client.manage.customers.create({ id: "c-1", name: "Brenner Gas GmbH", email: "office@brenner-gas.example" });

const newTank = (id: string) => ({
  id,
  owner_id: "c-1",
  name: "Hall 3",
  capacity: 2700,
  capacity_unit: "liters" as const,
  min_fill_alert_percentage: 20,
  assigned_device_id: `device-${id}`,
});
await client.manage.tanks.create(newTank("t-1"));

async function failure(request: PromiseLike<unknown>): Promise<ApiError> {
  const error = await Promise.resolve(request).then(
    () => assert.fail("it succeeded"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ApiError, String(error));
  return error;
}

const gaps = () => proxy.requests.slice(1).map(({ at }, i) => at - (proxy.requests[i]?.at ?? 0));

beforeEach(() => proxy.plan());

describe("an error", () => {
  it("has the status, the code, the message and the request id of the service", async () => {
    const error = await failure(client.tanks.retrieve("t-none"));
    assert.deepEqual(
      [error.name, error.status, error.code, error.message],
      ["ApiError", 404, "tank_unknown", "There is no tank with this id."],
    );
    assert.match(error.requestId ?? "", /^[\w-]{10,}$/);
  });

  it("names all invalid fields, or the invalid parameter", async () => {
    const fields = await failure(client.manage.tanks.update("t-1", { name: "", location: { latitude: 91 } }));
    assert.equal(fields.code, "body_invalid");
    assert.deepEqual(fields.errors.map(({ field }) => field).sort(), ["location.latitude", "name"]);
    const parameter = await failure(client.tanks.list({ size: 500 }));
    assert.deepEqual([parameter.code, parameter.param], ["parameter_invalid", "size"]);
  });

  it("says so when the response is not one of the service", async () => {
    proxy.plan({ status: 404, body: "<h1>Not found</h1>" }, { status: 200, body: "<h1>Welcome</h1>" });
    const codes: [ErrorCode, number][] = [];
    for (let i = 0; i < 2; i++) {
      const { code, status } = await failure(client.tanks.retrieve("t-1"));
      codes.push([code, status]);
    }
    assert.deepEqual(codes, [
      ["unexpected_response", 404],
      ["unexpected_response", 200],
    ]);
  });

  it("never contains the key", async () => {
    const secret = `${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`;
    const wrong = createClient({ baseUrl: proxy.url, key: secret, maxRetries: 0 });
    proxy.plan("pass", "lose");
    const errors: unknown[] = [await failure(wrong.tanks.retrieve("t-1")), await failure(wrong.tanks.retrieve("t-1"))];
    for (const options of [
      { baseUrl: proxy.url, key: `${secret}\n` },
      { baseUrl: `http://user:${secret}@127.0.0.1` },
      { baseUrl: secret },
    ]) {
      assert.throws(
        () => createClient(options),
        (error) => errors.push(error) > 0,
      );
    }
    assert.equal(errors.length, 5);
    for (const error of [...errors, wrong])
      assert.ok(!inspect(error, { depth: 10, showHidden: true }).includes(secret), inspect(error));
  });

  it("of the caller is thrown as it is, and nothing is sent", async () => {
    await assert.rejects(client.manage.tanks.create(newTank("t-9"), { idempotencyKey: "line\nbreak" }), TypeError);
    assert.equal(proxy.requests.length, 0);
  });

  it("is thrown for ids that would be another path", async () => {
    // In JavaScript, it may also be missing.
    for (const id of ["", ".", "..", undefined, null]) {
      await assert.rejects(client.manage.tanks.delete(id as string), TypeError, String(id));
    }
    assert.equal(proxy.requests.length, 0);
  });
});

describe("a request is repeated", () => {
  it("after a lost connection and a gateway error, later each time", async () => {
    proxy.plan("lose", { status: 502 }, { status: 503, body: "<h1>Starting</h1>" });
    assert.equal((await client.tanks.retrieve("t-1")).id, "t-1");
    assert.equal(proxy.requests.length, 4);
    const [first = 0, second = 0, third = 0] = gaps();
    assert.ok(first >= 240 && second >= 490 && third >= 990, `${gaps()}`);
  });

  it("not before the time that Retry-After states", async () => {
    proxy.plan(
      { status: 503, headers: { "retry-after": "1" } },
      { status: 429, headers: { "retry-after": new Date(Date.now() + 3000).toUTCString() } },
    );
    await client.tanks.retrieve("t-1");
    const [first = 0, second = 0] = gaps();
    assert.ok(first >= 1240 && second >= 500, `${gaps()}`);
  });

  it("not at all if that is more than a minute ahead", async () => {
    proxy.plan({ status: 429, headers: { "retry-after": "90" } });
    assert.equal((await failure(client.tanks.retrieve("t-1"))).retryAfterMs, 90_000);
    assert.equal(proxy.requests.length, 1);
  });

  it("with the same idempotency key, so that a creation happens once", async () => {
    proxy.plan("lose");
    const created = await client.manage.tanks.create(newTank("t-2"));
    assert.equal(created.id, "t-2");
    const [first, second] = proxy.requests;
    assert.deepEqual([first?.status, second?.status], [201, 201]);
    assert.ok(first?.headers["idempotency-key"] !== undefined);
    assert.equal(first.headers["idempotency-key"], second?.headers["idempotency-key"]);
    await client.manage.customers.create({ name: "Moser", email: "m@moser.example" }, { idempotencyKey: "order-4711" });
    assert.equal(proxy.requests.at(-1)?.headers["idempotency-key"], "order-4711");
  });

  it("if it sends readings, which are stored once", async () => {
    proxy.plan("lose");
    const reading = { tank_id: "t-1", created_at: "2026-01-01T00:00:00Z", fill_percentage: 50 };
    const { results } = await client.ingest.readings(reading);
    assert.deepEqual([results, proxy.requests.length], [[{ status: "duplicate" }], 2]);
  });

  it("readings without a time are never retried, because each would be stored again", async () => {
    const timed = { tank_id: "t-1", created_at: "2026-01-02T00:00:00Z", fill_percentage: 50 };
    const uplink = { deviceInfo: { devEui: "0011223344556677" }, object: { fill_percentage: 50 } };
    for (const send of [
      () => client.ingest.readings({ tank_id: "t-1", fill_percentage: 50 }),
      () => client.ingest.readings([timed, { tank_id: "t-1", fill_percentage: 50 }]),
      () => client.ingest.chirpstack(uplink),
    ]) {
      proxy.plan("lose");
      assert.equal((await failure(send())).code, "network_error");
      assert.equal(proxy.requests.length, 1);
    }
    proxy.plan("lose");
    await client.ingest.chirpstack({ ...uplink, time: "2026-01-02T00:00:00Z" });
    assert.equal(proxy.requests.length, 2);
  });

  it("never if it could be executed twice, unless it was over a rate limit", async () => {
    proxy.plan("lose");
    assert.equal((await failure(client.manage.tanks.update("t-1", { name: "Hall 4" }))).code, "network_error");
    assert.equal(proxy.requests.length, 1);
    // Otherwise its own change would make it fail.
    const device = await client.manage.devices.retrieve("device-t-1");
    proxy.plan("lose");
    const conditional = client.manage.devices.put("device-t-1", { profile: null }, { ifMatch: device });
    assert.equal((await failure(conditional)).code, "network_error");
    assert.equal(proxy.requests.length, 1);
    proxy.plan({ status: 429, headers: { "retry-after": "0" } });
    assert.equal((await client.manage.tanks.update("t-1", { name: "Hall 5" })).name, "Hall 5");
    assert.equal(proxy.requests.length, 2);
  });

  it("never if it would fail again", async () => {
    const problem = (code: ErrorCode) => JSON.stringify({ code, detail: "…", request_id: "r-1" });
    proxy.plan({ status: 503, body: problem("data_damaged") });
    assert.equal((await failure(client.tanks.retrieve("t-1"))).code, "data_damaged");
    proxy.plan({ status: 500, body: problem("internal") });
    assert.equal((await failure(client.tanks.retrieve("t-1"))).code, "internal");
    assert.equal(proxy.requests.length, 1);
  });

  it("at most maxRetries times", async () => {
    proxy.plan("lose", "lose", "lose");
    const impatient = createClient({ baseUrl: proxy.url, key, maxRetries: 1 });
    assert.equal((await failure(impatient.tanks.retrieve("t-1"))).code, "network_error");
    assert.equal(proxy.requests.length, 2);
  });
});

describe("a request ends", () => {
  it("when its time is over, which may be never", async () => {
    assert.equal((await client.tanks.retrieve("t-1", { timeoutMs: Number.POSITIVE_INFINITY })).id, "t-1");
    proxy.plan("hang", "hang");
    const impatient = createClient({ baseUrl: proxy.url, key, maxRetries: 1, timeoutMs: 50 });
    assert.equal((await failure(impatient.tanks.retrieve("t-1"))).code, "timeout");
    proxy.plan("hang");
    assert.equal((await failure(client.manage.tanks.update("t-1", {}, { timeoutMs: 50 }))).code, "timeout");
    assert.equal(proxy.requests.length, 1);
  });

  it("when its signal is aborted: before, while it is sent, between attempts, and in an iteration", async () => {
    const reason = new Error("no longer needed");
    await assert.rejects(client.tanks.retrieve("t-1", { signal: AbortSignal.abort(reason) }), reason);
    assert.equal(proxy.requests.length, 0);
    for (const step of ["hang", { status: 503, headers: { "retry-after": "30" } }] as const) {
      proxy.plan(step);
      const controller = new AbortController();
      const request = client.tanks.retrieve("t-1", { signal: controller.signal });
      setTimeout(() => controller.abort(reason), 50);
      await assert.rejects(request, reason);
      assert.equal(proxy.requests.length, 1);
    }
    const controller = new AbortController();
    await assert.rejects(async () => {
      for await (const _ of client.manage.audit.list({ size: 20, signal: controller.signal })) {
        assert.equal(controller.signal.aborted, false, "an item after the abort");
        controller.abort(reason);
      }
      for await (const _ of client.tanks.list({ signal: controller.signal })) assert.fail();
    }, reason);
  });

  it("without following a redirect, which would take the key elsewhere", async () => {
    const other = await httpProxy({ after }, service.url);
    proxy.plan({ status: 307, headers: { location: `${other.url}/v1/tanks/t-1` } });
    const error = await failure(createClient({ baseUrl: proxy.url, key }).tanks.retrieve("t-1"));
    assert.deepEqual([error.code, error.status], ["unexpected_response", 307]);
    assert.match(error.message, /redirect to .*Set the right baseUrl/);
    assert.equal(proxy.requests.length, 1);
    assert.equal(other.requests.length, 0);
  });
});

describe("a response", () => {
  it("is sent once and then only confirmed, until something changes", async () => {
    const { tanks, manage } = createClient({ baseUrl: proxy.url, key });
    const first = await tanks.retrieve("t-1");
    const second = await tanks.retrieve("t-1");
    assert.equal(second, first);
    await manage.tanks.update("t-1", { name: "Hall 6" });
    const third = await tanks.retrieve("t-1");
    assert.ok("name" in third && third.name === "Hall 6");
    assert.deepEqual(
      proxy.requests.map(({ status }) => status),
      [200, 304, 200, 200],
    );
  });

  it("is evicted when newer ones need its memory", () => {
    const cache = new ResponseCache();
    for (let i = 0; i < 100; i++) {
      cache.set(`${i}`, { etag: "1", body: i, length: 1_000_000 });
      if (i > 0) cache.get("0");
    }
    const kept = Array.from({ length: 100 }, (_, i) => cache.get(`${i}`)?.body).filter((body) => body !== undefined);
    assert.deepEqual(kept, [0, 97, 98, 99]);
    cache.set("larger than all", { etag: "1", body: 1, length: 5_000_000 });
    assert.equal(cache.get("larger than all"), undefined);
    cache.set("a", { etag: "1", body: 2, length: 1 });
    assert.equal(cache.get("a")?.body, 2);
  });

  it("can be what a change is about: it fails if the object has changed since", async () => {
    const tank = await client.manage.tanks.retrieve("t-1");
    await client.manage.tanks.update("t-1", { name: "Hall 7" }, { ifMatch: tank });
    const error = await failure(client.manage.tanks.update("t-1", { name: "Hall 8" }, { ifMatch: tank }));
    assert.deepEqual([error.status, error.code], [412, "precondition_failed"]);
    await assert.rejects(client.manage.tanks.update("t-1", {}, { ifMatch: { ...tank } }), TypeError);
    // Its ETag is one of the page of /v1, not of a version.
    await assert.rejects(client.manage.tanks.update("t-1", {}, { ifMatch: await client.tanks.retrieve("t-1") }), TypeError);
  });

  it("of a list is a page when awaited, requested once", async () => {
    const list = client.tanks.list({ size: 1 });
    const [one, other] = await Promise.all([list, list]);
    assert.equal(one, other);
    assert.deepEqual([one.data.length, one.total_items, proxy.requests.length], [1, 2, 1]);
    assert.equal(proxy.requests[0]?.url, "/v1/tanks?size=1");
    assert.equal(await client.tanks.list({ size: 500 }).catch(() => "failed"), "failed");
    let ended = 0;
    await client.tanks.list().finally(() => ended++);
    assert.equal(ended, 1);
  });
});

it("without a key, requests carry the cookie of the page, and nothing else; with one, no cookie", async () => {
  const sent: RequestInit[] = [];
  const record: typeof fetch = (url, init = {}) => {
    sent.push(init);
    return fetch(url, init);
  };
  await failure(createClient({ baseUrl: proxy.url, fetch: record }).tanks.retrieve("t-1"));
  await createClient({ baseUrl: proxy.url, key, fetch: record }).tanks.retrieve("t-1");
  assert.deepEqual(
    sent.map(({ credentials }) => credentials),
    ["same-origin", "omit"],
  );
  assert.deepEqual(
    proxy.requests.map(({ headers }) => headers["x-api-key"]),
    [undefined, key],
  );
});
