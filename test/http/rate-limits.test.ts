// Rate limits of keys, and of wrong keys from one address. The test moves the clock.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { newSecret } from "../../src/domain/key.ts";
import { startSession } from "../support/browser.ts";
import { manualClock } from "../support/clock.ts";
import { expectError, type RequestOptions, type Response, request, send } from "./client.ts";
import { BRENNER, type Fleet, startFleet } from "./services.ts";

const held = manualClock();
const start = (environment = {}) => startFleet({ after }, { clock: held.clock, environment });
const fleet = await start();
const custom = await start({ RATE_LIMIT: "3", TRUST_PROXY: "1" });
const unlimited = await start({ RATE_LIMIT: "0" });
const PATH = "/v1/tanks/tank_hall";

async function repeat(service: Fleet, count: number, options: RequestOptions): Promise<Response[]> {
  const responses: Response[] = [];
  for (let i = 0; i < count; i++) responses.push(await send(service, PATH, options));
  return responses;
}

/** How many of `count` requests succeed. */
async function successes(service: Fleet, count: number, key: string): Promise<number> {
  return (await repeat(service, count, { key })).filter(({ status }) => status === 200).length;
}

const quota = ({ headers }: Response) =>
  /^"key";q=(\d+);w=(\d+)$/.exec(String(headers["ratelimit-policy"]))?.slice(1).map(Number);
const remaining = ({ headers }: Response) =>
  Number(/^"key";r=(\d+);t=\d+$/.exec(String(headers["ratelimit"]))?.[1] ?? Number.NaN);

describe("a customer's key", () => {
  it("has 200 requests at once, then 100 a second, and each response says what remains", async () => {
    const key = await fleet.key({ customerId: BRENNER });
    const responses = await repeat(fleet, 201, { key });
    assert.deepEqual(responses.map(remaining), [...Array.from({ length: 200 }, (_, i) => 199 - i), 0]);
    for (const response of responses) assert.deepEqual(quota(response), [200, 2]);
    const last = await request(fleet, PATH, { key });
    expectError(last, 429, "rate_limited");
    assert.equal(last.headers["retry-after"], "1");
    held.forward(9);
    assert.equal(await successes(fleet, 1, key), 0);
    held.forward(2);
    assert.equal(await successes(fleet, 2, key), 1);
    held.forward(1000);
    assert.equal(await successes(fleet, 102, key), 100);
  });

  it("is charged for errors, 304 and HEAD, and no other key is", async () => {
    const key = await fleet.key({ customerId: BRENNER });
    assert.equal(remaining(await request(fleet, `${PATH}?x=1`, { key })), 199);
    assert.equal(remaining(await request(fleet, "/v1/tanks/tank_mill", { key })), 198);
    assert.equal(remaining(await request(fleet, PATH, { key, headers: { "if-none-match": "*" } })), 197);
    assert.equal(remaining(await request(fleet, PATH, { key, method: "HEAD" })), 196);
    assert.equal(remaining(await request(fleet, PATH, { key: await fleet.key({ customerId: BRENNER }) })), 199);
  });
});

describe("an operator's key", () => {
  it("has no limit", async () => {
    for (const { status, headers } of await repeat(fleet, 210, { key: fleet.operator })) {
      assert.deepEqual([status, headers["ratelimit"], headers["ratelimit-policy"]], [200, undefined, undefined]);
    }
  });

  for (const rate of [1, 5, 0.5]) {
    it(`created with a rate of ${rate} has that limit`, async () => {
      const key = await fleet.key({ rate });
      const burst = rate * 2;
      assert.equal(quota(await request(fleet, PATH, { key }))?.[0], burst);
      assert.equal(await successes(fleet, burst + 2, key), burst - 1);
      const { headers } = await request(fleet, PATH, { key });
      assert.equal(headers["retry-after"], String(Math.max(1, 1 / rate)));
      held.forward(Number(headers["retry-after"]) * 1000);
      assert.equal(await successes(fleet, 10, key), Math.max(1, rate));
      held.forward(3_600_000);
      assert.equal(await successes(fleet, 12, key), Math.max(1, burst), "never more than the burst");
    });
  }

  it("with a fractional rate has integers in RateLimit-Policy", async () => {
    assert.ok(quota(await request(fleet, PATH, { key: await fleet.key({ rate: 1.3 }) })) !== undefined);
  });
});

describe("RATE_LIMIT", () => {
  it("is the default of customers' keys", async () => {
    assert.equal(await successes(custom, 10, custom.brenner), 6);
    assert.equal(await successes(custom, 10, await custom.key({ customerId: BRENNER, rate: 2 })), 4);
    assert.equal(await successes(custom, 10, custom.operator), 10);
  });

  it("of 0 turns all limits off", async () => {
    for (const [key, count] of [
      [unlimited.brenner, 210],
      [await unlimited.key({ rate: 1 }), 5],
      [await unlimited.key({ customerId: BRENNER, rate: 1 }), 5],
    ] as const) {
      for (const { status, headers } of await repeat(unlimited, count, { key })) {
        assert.deepEqual([status, headers["ratelimit"]], [200, undefined]);
      }
    }
  });
});

describe("wrong keys from one address", () => {
  const COUNT = 60;
  const from = (address: string, key = "tm_wrong") => ({ key, headers: { "x-forwarded-for": address } });

  /** How many wrong keys get 401 before all get 429. */
  async function flood(service: Fleet, options: RequestOptions): Promise<number> {
    const responses = await repeat(service, COUNT, options);
    const throttled = responses.findIndex(({ status }) => status === 429);
    assert.notEqual(throttled, -1);
    for (const response of responses.slice(throttled)) {
      expectError(response, 429, "keys_throttled");
      assert.equal(response.headers["retry-after"], "1");
    }
    return throttled;
  }

  it("are throttled; right keys and requests without a key are not", async () => {
    assert.ok((await flood(custom, from("203.0.113.1"))) > 0);
    assert.equal((await request(custom, PATH, from("203.0.113.1", custom.operator))).status, 200);
    expectError(await request(custom, PATH, { headers: { "x-forwarded-for": "203.0.113.1" } }), 401, "key_missing");
    expectError(await request(custom, PATH, from("203.0.113.1", newSecret())), 429, "keys_throttled");
  });

  it("may be tried again after the time in Retry-After", async () => {
    await flood(custom, from("203.0.113.2"));
    held.forward(1000);
    expectError(await request(custom, PATH, from("203.0.113.2")), 401, "key_invalid");
    expectError(await request(custom, PATH, from("203.0.113.2")), 429, "keys_throttled");
  });

  it("are counted by the forwarded address only if the proxy is trusted", async () => {
    await flood(custom, from("203.0.113.7"));
    expectError(await request(custom, PATH, from("203.0.113.8")), 401, "key_invalid");
    await flood(fleet, from("203.0.113.7"));
    expectError(await request(fleet, PATH, from("203.0.113.8")), 429, "keys_throttled");
  });

  it("are counted by the address that the proxy has added, whatever the client sends", async () => {
    let count = 0;
    const spoofed = () => from(`198.51.100.${count++ % 250}, 203.0.113.9`);
    for (let i = 0; i < COUNT; i++) await send(custom, PATH, spoofed());
    expectError(await request(custom, PATH, spoofed()), 429, "keys_throttled");
  });

  it("are counted by the forwarded address without its port and brackets, and without an address by that of the proxy", async () => {
    for (const [flooding, same, other] of [
      ["203.0.113.20:4711", "203.0.113.20", "203.0.113.21:4711"],
      ["[2001:db8:2::1]:4711", "2001:db8:2::1", "[2001:db8:3::1]"],
      ["unknown", "203.0.113.20:http", "203.0.113.22"],
      ["_hidden", "127.0.0.1", "203.0.113.23"],
    ] as const) {
      await flood(custom, from(flooding));
      expectError(await request(custom, PATH, from(same)), 429, "keys_throttled");
      expectError(await request(custom, PATH, from(other)), 401, "key_invalid");
    }
  });

  it("are counted by the first 64 bits of an IPv6 address", async () => {
    await flood(custom, from("2001:db8:1:2::1"));
    expectError(await request(custom, PATH, from("2001:db8:1:2:3:4:5:6")), 429, "keys_throttled");
    expectError(await request(custom, PATH, from("2001:db8:1:3::1")), 401, "key_invalid");
  });
});

describe("a customer who is signed in", () => {
  it("changes mail settings ten times at once, then once in six seconds", async () => {
    const { secret } = await startSession(fleet.store, held.clock, "office@brenner-gas.example");
    const headers = {
      cookie: `tank_monitor_session=${secret}`,
      "sec-fetch-site": "same-origin",
      "content-type": "application/json",
    };
    const change = (n: number) => {
      const body = JSON.stringify({ notifications: { language: n % 2 === 0 ? "de" : "en" } });
      return request(fleet, "/insight/v1/me", { method: "PATCH", headers, body });
    };
    for (let n = 0; n < 10; n++) assert.equal((await change(n)).status, 200);
    const last = await change(10);
    expectError(last, 429, "rate_limited");
    assert.equal(last.headers["retry-after"], "6");
    assert.equal((await request(fleet, "/insight/v1/me", { headers })).status, 200);
    held.forward(6000);
    assert.equal((await change(10)).status, 200);
    expectError(await change(11), 429, "rate_limited");
  });
});
