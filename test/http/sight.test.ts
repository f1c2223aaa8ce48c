// What a customer's key sees: its own customer, and nothing that would tell of another.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { customerRecord, tankRecord } from "../support/records.ts";
import { get, idsOf, listOf, objectOf, refused, withoutRequestId } from "./answers.ts";
import { BRENNER, GONE, HALL_READINGS, MOSER, startFleet } from "./fleet.ts";

const fleet = await startFleet({ after }, { environment: { RATE_LIMIT: "0" } });
const key = fleet.brenner;
const ask = (path: string, by = key) => get(fleet, path, { key: by });

describe("of another customer's object, a customer's key learns nothing:", () => {
  for (const [path, unknown] of [
    [`/v1/customers/${MOSER}`, "/v1/customers/cus_nobody"],
    [`/v1/customers/${GONE}`, "/v1/customers/cus_nobody"],
    ["/v1/tanks/tank_mill", "/v1/tanks/tank_nothing"],
    ["/v1/tanks/tank_sold", "/v1/tanks/tank_nothing"],
    ["/v1/tanks/tank_mill/telemetry", "/v1/tanks/tank_nothing/telemetry"],
    ["/v1/tanks/tank_sold/telemetry", "/v1/tanks/tank_nothing/telemetry"],
    ["/v1/tanks/tank_mill/telemetry?page=2&size=1", "/v1/tanks/tank_nothing/telemetry?page=2&size=1"],
    ["/v1/tanks/tank_mill/telemetry?size=0", "/v1/tanks/tank_nothing/telemetry?size=0"],
    ["/v1/tanks/tank_mill?colour=red", "/v1/tanks/tank_nothing?colour=red"],
    [`/v1/customers/${MOSER}?colour=red`, "/v1/customers/cus_nobody?colour=red"],
  ] as const) {
    it(`${path} is answered as ${unknown}`, async () => {
      assert.deepEqual(withoutRequestId(await ask(path)), withoutRequestId(await ask(unknown)));
      assert.ok((await ask(path)).status >= 400);
    });

    it(`${path} is not told by If-None-Match either`, async () => {
      const headers = { "if-none-match": "*" };
      const [one, other] = [await get(fleet, path, { key, headers }), await get(fleet, unknown, { key, headers })];
      assert.deepEqual(withoutRequestId(one), withoutRequestId(other));
    });
  }
});

describe("a customer's key", () => {
  it("sees its customer", async () => {
    assert.equal(objectOf(await ask(`/v1/customers/${BRENNER}`))["id"], BRENNER);
  });

  it("lists its customer alone", async () => {
    assert.deepEqual(idsOf(await ask("/v1/customers")), [BRENNER]);
    assert.equal(listOf(await ask("/v1/customers")).total_items, 1);
    assert.deepEqual(listOf(await ask("/v1/customers?page=2")).data, []);
    assert.equal(listOf(await ask("/v1/customers?page=2")).total_items, 1);
  });

  it("finds nobody else by e-mail", async () => {
    assert.deepEqual(idsOf(await ask("/v1/customers?email=office@brenner-gas.example")), [BRENNER]);
    assert.equal(listOf(await ask("/v1/customers?email=cus_moser@customers.example")).total_items, 0);
  });

  it("finds its customer by time, or not", async () => {
    assert.deepEqual(idsOf(await ask("/v1/customers?created_at_lte=2025-03-02T08:15:30.123Z")), [BRENNER]);
    assert.deepEqual(idsOf(await ask("/v1/customers?created_at_lte=2025-03-02T08:15:30.122Z")), []);
  });

  it("lists its tanks alone, with totals of its own", async () => {
    const list = await ask("/v1/tanks?size=1");
    assert.deepEqual(idsOf(list), ["tank_yard"]);
    assert.deepEqual([listOf(list).total_items, listOf(list).total_pages], [2, 2]);
    const range = listOf(await ask("/v1/tanks?created_at_gte=2025-03-05"));
    assert.deepEqual([range.total_items, range.data.length], [1, 1]);
  });

  it("sees its tanks, deleted ones too, and their telemetry", async () => {
    assert.equal(objectOf(await ask("/v1/tanks/tank_hall"))["owner_id"], BRENNER);
    assert.equal(objectOf(await ask("/v1/tanks/tank_scrapped"))["deleted"], true);
    assert.equal(listOf(await ask("/v1/tanks/tank_hall/telemetry")).total_items, HALL_READINGS);
    refused(await ask("/v1/tanks/tank_scrapped/telemetry"), 404, "tank_deleted");
  });

  it("loses sight of a tank that goes to another, who gains it", async () => {
    await fleet.store.importTanks([tankRecord("tank_moving", BRENNER)]);
    assert.equal((await ask("/v1/tanks/tank_moving")).status, 200);
    refused(await ask("/v1/tanks/tank_moving", fleet.moser), 404, "tank_unknown");
    await fleet.store.importTanks([tankRecord("tank_moving", MOSER)]);
    refused(await ask("/v1/tanks/tank_moving"), 404, "tank_unknown");
    refused(await ask("/v1/tanks/tank_moving/telemetry"), 404, "tank_unknown");
    assert.equal((await ask("/v1/tanks/tank_moving", fleet.moser)).status, 200);
    await fleet.store.importTanks([{ remove: "tank_moving" }]);
  });

  it("is not widened by an id that looks like a pattern", async () => {
    await fleet.store.importCustomers([customerRecord("%"), customerRecord("cus_")]);
    const wide = await fleet.key({ customerId: "%" });
    assert.deepEqual(idsOf(await ask("/v1/customers", wide)), ["%"]);
    assert.equal(listOf(await ask("/v1/tanks", wide)).total_items, 0);
  });
});

describe("the operator's keys", () => {
  it("see everything, as read and as manage", async () => {
    const manage = await fleet.key({ role: "manage" });
    for (const by of [fleet.operator, manage]) {
      for (const id of [BRENNER, MOSER, GONE]) assert.equal((await ask(`/v1/customers/${id}`, by)).status, 200);
      for (const id of ["tank_hall", "tank_mill", "tank_sold"]) assert.equal((await ask(`/v1/tanks/${id}`, by)).status, 200);
      assert.equal(listOf(await ask("/v1/tanks", by)).total_items, 3);
    }
  });
});
