// Keys: which are refused, when they start and stop to work, and what each role reaches.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { newSecret } from "../../src/domain/key.ts";
import { openStore } from "../../src/store/open.ts";
import { heldClock } from "../support/clock.ts";
import { endKey, makeKey, turnKey } from "../support/keys.ts";
import { customerRecord } from "../support/records.ts";
import { type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { get, listOf, refused } from "./answers.ts";
import { BRENNER, ENDPOINTS, startFleet } from "./fleet.ts";

const HOUR = 3_600_000;
const held = heldClock();
const fleet = await startFleet({ after }, { clock: held.clock });
const live = await startFleet({ after }, { environment: { RATE_LIMIT: "0" } });
const PATH = "/v1/tanks";

const lookUps = (service: Service) =>
  service.events.filter((event) => event.kind === "query_completed" && event.query === "keyByHash").length;

async function idOf(service: Service, name: string): Promise<string> {
  const key = (await service.store.keyList()).find((known) => known.name === name);
  assert.ok(key !== undefined);
  return key.id;
}

describe("a malformed key", () => {
  const right = newSecret();
  const flipped = right.slice(0, -1) + (right.endsWith("a") ? "b" : "a");
  for (const [what, secret] of [
    ["another's", "sk_live_1234567890"],
    ["cut off", right.slice(0, -1)],
    ["too long", `${right}a`],
    ["mistyped at its end", flipped],
    ["mistyped in its middle", right.slice(0, 10) + (right[10] === "x" ? "y" : "x") + right.slice(11)],
    ["in capitals", right.toUpperCase()],
    ["without its prefix", right.slice(3)],
    ["of its prefix alone", "tm_"],
    ["quoted", `"${right}"`],
    ["with a scheme before it", `Bearer ${right}`],
    ["of SQL", "' OR 1=1 --"],
    ["of a prototype", "__proto__"],
    ["very long", "tm_".repeat(3000)],
  ] as const) {
    it(`is refused without a look into the database: ${what}`, async () => {
      const before = lookUps(fleet);
      held.forward(2000);
      refused(await get(fleet, PATH, { key: secret }), 401, "key_invalid");
      assert.equal(lookUps(fleet), before);
    });
  }

  it("differs from a well-formed one that was never made, which is looked up", async () => {
    const before = lookUps(fleet);
    refused(await get(fleet, PATH, { key: newSecret() }), 401, "key_invalid");
    assert.equal(lookUps(fleet), before + 1);
  });
});

describe("a request", () => {
  it("without a key, or with an empty one, is told how to send one", async () => {
    for (const ask of [{}, { key: "" }, { headers: { authorization: `Bearer ${fleet.operator}` } }]) {
      const answer = await get(fleet, PATH, ask);
      const { detail } = refused(answer, 401, "key_missing");
      assert.ok(detail.includes("X-API-Key"));
    }
  });

  it("with two keys is refused, even if both are right, or one is empty", async () => {
    held.forward(10_000);
    for (const keys of [
      [fleet.operator, fleet.operator],
      [fleet.operator, fleet.brenner],
      [fleet.operator, "nonsense"],
      ["nonsense", fleet.operator],
      ["", fleet.operator],
      [fleet.operator, ""],
    ]) {
      const answer = await get(fleet, PATH, { headers: { "x-api-key": keys } });
      assert.equal(answer.status, 401, answer.text);
    }
  });

  it("may spell the header's name in any case, with blanks around the key", async () => {
    for (const headers of [{ "X-Api-Key": fleet.operator }, { "x-aPI-kEY": fleet.operator }]) {
      assert.equal((await get(fleet, PATH, { headers })).status, 200);
    }
    assert.equal((await get(fleet, PATH, { headers: { "x-api-key": `  ${fleet.operator}  ` } })).status, 200);
  });

  it("cannot carry its key in the query", async () => {
    refused(await get(fleet, `${PATH}?key=${fleet.operator}`), 401, "key_missing");
  });
});

describe("a key with an end", () => {
  it("works to the last millisecond, and not at the next", async () => {
    const key = await fleet.key({ lifetime: HOUR });
    assert.equal((await get(fleet, PATH, { key })).status, 200);
    held.forward(HOUR - 1);
    assert.equal((await get(fleet, PATH, { key })).status, 200);
    held.forward(1);
    refused(await get(fleet, PATH, { key }), 401, "key_expired");
  });
});

describe("a rotated key", () => {
  it("works beside its successor for the overlap, then no more", async () => {
    const old = await fleet.key({ name: "to rotate", customerId: BRENNER });
    const { secret } = await turnKey(fleet.store, held.clock, await idOf(fleet, "to rotate"), HOUR);
    held.forward(HOUR - 1);
    for (const key of [old, secret]) assert.equal(listOf(await get(fleet, PATH, { key })).total_items, 2);
    held.forward(1);
    refused(await get(fleet, PATH, { key: old }), 401, "key_expired");
    assert.equal(listOf(await get(fleet, PATH, { key: secret })).total_items, 2);
  });
});

describe("a key made by another process", () => {
  it("works at once, though it was refused before it was there", async () => {
    const other = await openStore(`sqlite:${live.databaseFile}`, () => {});
    try {
      for (let i = 0; i < 5; i++) {
        const wish = { role: "read", customerId: null, deviceId: null, rate: null, lifetime: null } as const;
        const { secret } = await makeKey(other, Date.now, { name: `made ${i}`, ...wish });
        assert.equal((await get(live, PATH, { key: secret })).status, 200);
      }
    } finally {
      await other.close();
    }
  });
});

describe("within a second", () => {
  /** Uses the key all the while, so that whatever remembers keys remembers this one. */
  async function endOf(key: string, end: () => Promise<unknown>): Promise<void> {
    for (let i = 0; i < 5; i++) assert.equal((await get(live, PATH, { key })).status, 200);
    await end();
    const ended = performance.now();
    const answer = await until("the key is refused", async () => {
      const seen = await get(live, PATH, { key });
      return seen.status === 200 ? undefined : seen;
    });
    assert.ok(performance.now() - ended < 1000, `it took ${performance.now() - ended} ms`);
    refused(answer, 401, "key_revoked");
  }

  it("a revoked key is refused", async () => {
    const key = await live.key({ name: "to revoke" });
    const id = await idOf(live, "to revoke");
    await endOf(key, () => endKey(live.store, Date.now, id));
  });

  it("a key that another process revoked is refused", async () => {
    const key = await live.key({ name: "to revoke elsewhere" });
    const id = await idOf(live, "to revoke elsewhere");
    const other = await openStore(`sqlite:${live.databaseFile}`, () => {});
    await endOf(key, () => endKey(other, Date.now, id)).finally(() => other.close());
  });

  it("a key of a customer who was deleted is refused", async () => {
    await live.store.importCustomers([customerRecord("cus_leaving")]);
    const key = await live.key({ customerId: "cus_leaving" });
    await endOf(key, () => live.store.importCustomers([{ remove: "cus_leaving" }]));
  });
});

describe("roles", () => {
  it("ingest reaches no endpoint, bound to a customer or not", async () => {
    for (const customerId of [null, BRENNER]) {
      const key = await fleet.key({ role: "ingest", customerId });
      for (const { path } of ENDPOINTS) {
        const { detail } = refused(await get(fleet, path, { key }), 403, "role_insufficient");
        assert.ok(detail.includes('"ingest"') && detail.includes('"read"'), detail);
      }
      refused(await get(fleet, "/metrics", { key }), 403, "role_insufficient");
    }
  });

  it("read reaches every endpoint, but not the metrics", async () => {
    for (const { path } of ENDPOINTS) assert.equal((await get(fleet, path, { key: fleet.operator })).status, 200);
    refused(await get(fleet, "/metrics", { key: fleet.operator }), 403, "role_insufficient");
  });

  it("manage reaches everything", async (t) => {
    const service = await startService(t);
    const key = await service.key({ role: "manage" });
    for (const path of ["/v1/customers", "/v1/tanks", "/metrics"]) {
      assert.equal((await get(service, path, { key })).status, 200);
    }
  });
});
