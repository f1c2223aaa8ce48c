// Rate limits, with a clock that the test holds.

import assert from "node:assert/strict";
import { after, describe, it, type TestContext } from "node:test";
import { newSecret } from "../../src/domain/key.ts";
import { heldClock } from "../support/clock.ts";
import { type Answer, type Ask, get, refused } from "./answers.ts";
import { BRENNER, type Fleet, startFleet } from "./fleet.ts";

const held = heldClock();
const fleet = await startFleet({ after }, { clock: held.clock });
const PATH = "/v1/tanks/tank_hall";

async function many(service: Fleet, count: number, ask: Ask): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let i = 0; i < count; i++) answers.push(await get(service, PATH, ask));
  return answers;
}

/** How many of so many requests at one instant pass. */
async function passing(service: Fleet, count: number, key: string): Promise<number> {
  return (await many(service, count, { key })).filter(({ status }) => status === 200).length;
}

const quota = ({ headers }: Answer) => /^"key";q=(\d+);w=(\d+)$/.exec(String(headers["ratelimit-policy"]))?.slice(1).map(Number);
const left = ({ headers }: Answer) => Number(/^"key";r=(\d+);t=\d+$/.exec(String(headers["ratelimit"]))?.[1] ?? Number.NaN);

describe("a customer's key", () => {
  it("may make 200 requests at once, then 100 a second", async () => {
    const key = await fleet.key({ customerId: BRENNER });
    assert.equal(await passing(fleet, 203, key), 200);
    held.forward(9);
    assert.equal(await passing(fleet, 1, key), 0);
    held.forward(2);
    assert.equal(await passing(fleet, 2, key), 1);
    held.forward(1000);
    assert.equal(await passing(fleet, 102, key), 100);
    held.forward(3_600_000);
    assert.equal(await passing(fleet, 202, key), 200);
  });

  it("is told its limit, what is left of it, and when to come back", async () => {
    const key = await fleet.key({ customerId: BRENNER });
    const answers = await many(fleet, 201, { key });
    assert.deepEqual(answers.map(left), [...Array.from({ length: 200 }, (_, i) => 199 - i), 0]);
    for (const answer of answers) assert.deepEqual(quota(answer), [200, 2]);
    const last = answers.at(-1);
    assert.ok(last !== undefined);
    refused(last, 429, "rate_limited");
    assert.equal(last.headers["retry-after"], "1");
    held.forward(1000);
    assert.equal((await get(fleet, PATH, { key })).status, 200);
  });

  it("is told on refusals and 304s too", async () => {
    const key = await fleet.key({ customerId: BRENNER });
    assert.equal(left(await get(fleet, `${PATH}?x=1`, { key })), 199);
    assert.equal(left(await get(fleet, "/v1/tanks/tank_mill", { key })), 198);
    assert.equal(left(await get(fleet, PATH, { key, headers: { "if-none-match": "*" } })), 197);
    assert.equal(left(await get(fleet, PATH, { key, method: "HEAD" })), 196);
  });

  it("does not use up another key's requests, of the same customer or not", async () => {
    const [one, other] = [await fleet.key({ customerId: BRENNER }), await fleet.key({ customerId: BRENNER })];
    assert.equal(await passing(fleet, 201, one), 200);
    assert.equal(left(await get(fleet, PATH, { key: other })), 199);
  });
});

describe("an operator's key", () => {
  it("has no limit", async () => {
    const answers = await many(fleet, 250, { key: fleet.operator });
    assert.ok(answers.every(({ status }) => status === 200));
    assert.ok(answers.every(({ headers }) => headers["ratelimit"] === undefined && headers["ratelimit-policy"] === undefined));
  });

  for (const rate of [1, 5, 0.5]) {
    it(`has one if it was made with --rate ${rate}`, async () => {
      const key = await fleet.key({ rate, role: "read" });
      const first = await get(fleet, PATH, { key });
      const [burst = Number.NaN] = quota(first) ?? [];
      assert.equal(burst, rate * 2);
      assert.equal(await passing(fleet, burst + 2, key), burst - 1);
      const { headers } = await get(fleet, PATH, { key });
      assert.equal(headers["retry-after"], String(Math.max(1, 1 / rate)));
      held.forward(Number(headers["retry-after"]) * 1000);
      assert.equal(await passing(fleet, 10, key), Math.max(1, rate));
    });
  }

  it("of a rate that is no whole number is still told whole numbers", async () => {
    const key = await fleet.key({ rate: 1.3 });
    assert.ok(quota(await get(fleet, PATH, { key })) !== undefined, "RateLimit-Policy holds integers (its q is one)");
  });
});

describe("RATE_LIMIT", () => {
  it("sets the default of customers' keys", async (t) => {
    const service = await startFleet(t, { clock: held.clock, environment: { RATE_LIMIT: "3" } });
    assert.equal(await passing(service, 10, service.brenner), 6);
    assert.equal(await passing(service, 10, await service.key({ customerId: BRENNER, rate: 2 })), 4);
    assert.equal(await passing(service, 10, service.operator), 10);
  });

  it("of 0 turns all limits off", async (t) => {
    const service = await startFleet(t, { clock: held.clock, environment: { RATE_LIMIT: "0" } });
    for (const [key, count] of [
      [service.brenner, 210],
      [await service.key({ rate: 1 }), 5],
      [await service.key({ customerId: BRENNER, rate: 1 }), 5],
    ] as const) {
      const answers = await many(service, count, { key });
      assert.ok(answers.every(({ status, headers }) => status === 200 && headers["ratelimit"] === undefined));
    }
  });
});

describe("wrong keys from one address", () => {
  const FLOOD = 60;

  /** How many wrong keys are told that they are wrong, before all are told to wait. */
  async function flood(service: Fleet, headers: Ask["headers"] = {}): Promise<number> {
    const answers = await many(service, FLOOD, { key: "tm_wrong", headers });
    const throttled = answers.findIndex(({ status }) => status === 429);
    if (throttled === -1) return FLOOD;
    for (const answer of answers.slice(throttled)) {
      refused(answer, 429, "keys_throttled");
      assert.equal(answer.headers["retry-after"], "1");
    }
    return throttled;
  }

  const service = (t: TestContext, environment = {}) => startFleet(t, { clock: held.clock, environment });

  it("are throttled, while a right key is not held up", async (t) => {
    const attacked = await service(t);
    const told = await flood(attacked);
    assert.ok(told > 0 && told < FLOOD, `${told} were told`);
    assert.equal((await get(attacked, PATH, { key: attacked.operator })).status, 200);
    assert.equal((await get(attacked, PATH, { key: attacked.brenner })).status, 200);
    refused(await get(attacked, PATH), 401, "key_missing");
    refused(await get(attacked, PATH, { key: newSecret() }), 429, "keys_throttled");
  });

  it("are told again after the time they were asked to wait", async (t) => {
    const attacked = await service(t);
    await flood(attacked);
    held.forward(1000);
    refused(await get(attacked, PATH, { key: "tm_wrong" }), 401, "key_invalid");
    refused(await get(attacked, PATH, { key: "tm_wrong" }), 429, "keys_throttled");
  });

  it("are counted by the address that a trusted proxy names", async (t) => {
    const attacked = await service(t, { TRUST_PROXY: "true" });
    await flood(attacked, { "x-forwarded-for": "203.0.113.7" });
    const elsewhere = { key: "tm_wrong", headers: { "x-forwarded-for": "203.0.113.8" } };
    refused(await get(attacked, PATH, elsewhere), 401, "key_invalid");
  });

  it("do not escape by naming other addresses where no proxy is trusted", async (t) => {
    const attacked = await service(t);
    await flood(attacked, { "x-forwarded-for": "203.0.113.7" });
    const elsewhere = { key: "tm_wrong", headers: { "x-forwarded-for": "203.0.113.8" } };
    refused(await get(attacked, PATH, elsewhere), 429, "keys_throttled");
  });
});
