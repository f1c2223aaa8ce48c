// What a caller sees of customers: every field, the e-mail filter, and what remains of a deleted one.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { customerRecord, tankRecord } from "../support/records.ts";
import { get, idsOf, listOf, objectOf, refused } from "./answers.ts";
import { BRENNER, GONE, MOSER, startFleet } from "./fleet.ts";

const fleet = await startFleet({ after });
const ask = (path: string) => get(fleet, path, { key: fleet.operator });

const BRENNER_OBJECT = {
  id: BRENNER,
  object: "customer",
  created_at: "2025-03-02T08:15:30.123Z",
  email: "office@brenner-gas.example",
  is_verified: true,
  last_seen_at: "2026-11-14T09:30:00.000Z",
  name: "Brenner Gas GmbH",
  phone: "+49 30 5550 0142",
  tank_count: 2,
  updated_at: "2025-06-11T14:02:11.250Z",
  verified_at: "2025-03-02T08:40:02.000Z",
};

const MOSER_OBJECT = {
  id: MOSER,
  object: "customer",
  created_at: "2025-05-01T00:00:00.000Z",
  email: "cus_moser@customers.example",
  is_verified: false,
  last_seen_at: null,
  name: "Customer cus_moser",
  phone: null,
  tank_count: 1,
  updated_at: "2025-05-01T00:00:00.000Z",
  verified_at: null,
};

describe("a customer", () => {
  it("has every field of the interface", async () => {
    assert.deepEqual(objectOf(await ask(`/v1/customers/${BRENNER}`)), BRENNER_OBJECT);
  });

  it("shows what is not known of it as null", async () => {
    assert.deepEqual(objectOf(await ask(`/v1/customers/${MOSER}`)), MOSER_OBJECT);
  });

  it("is listed with the same fields, newest first", async () => {
    assert.deepEqual(listOf(await ask("/v1/customers")), {
      object: "list",
      data: [MOSER_OBJECT, BRENNER_OBJECT],
      page: 1,
      size: 10,
      total_pages: 1,
      total_items: 2,
    });
  });

  it("keeps texts in every script as they are", async () => {
    const fields = { name: "Żółć 株式会社 😀 \u00a0\u200d", email: "ünï+code@exämple.test", phone: "☎ 0/8\\15 \"'" };
    await fleet.store.importCustomers([customerRecord("cus_script", { created_at: "2001-01-01", ...fields })]);
    const { name, email, phone } = objectOf(await ask("/v1/customers/cus_script"));
    assert.deepEqual({ name, email, phone }, fields);
    await fleet.store.importCustomers([{ remove: "cus_script" }]);
  });

  it("counts its tanks as they come, move and go", async (t) => {
    await fleet.store.importCustomers([customerRecord("cus_a"), customerRecord("cus_b")]);
    t.after(() => fleet.store.importCustomers([{ remove: "cus_a" }, { remove: "cus_b" }]));
    const count = async (id: string) => objectOf(await ask(`/v1/customers/${id}`))["tank_count"];
    await fleet.store.importTanks([tankRecord("tank_x", "cus_a"), tankRecord("tank_y", "cus_a")]);
    assert.deepEqual([await count("cus_a"), await count("cus_b")], [2, 0]);
    await fleet.store.importTanks([tankRecord("tank_x", "cus_b")]);
    assert.deepEqual([await count("cus_a"), await count("cus_b")], [1, 1]);
    await fleet.store.importTanks([{ remove: "tank_x" }, { remove: "tank_y" }]);
    assert.deepEqual([await count("cus_a"), await count("cus_b")], [0, 0]);
    assert.equal(objectOf(await ask("/v1/customers/cus_a"))["updated_at"], "2026-01-01T00:00:00.000Z");
  });
});

describe("a deleted customer", () => {
  it("is answered with its id, its type and deleted, and nothing else", async () => {
    const { status, text } = await ask(`/v1/customers/${GONE}`);
    assert.equal(status, 200);
    assert.equal(text, `{"id":"${GONE}","object":"customer","deleted":true}`);
  });

  it("is in no list and in no total", async () => {
    const list = await ask("/v1/customers?size=100");
    assert.deepEqual(idsOf(list), [MOSER, BRENNER]);
    assert.equal(listOf(list).total_items, 2);
    assert.equal(listOf(await ask(`/v1/customers?email=${GONE}@customers.example`)).total_items, 0);
  });
});

describe("the e-mail filter", () => {
  const find = async (email: string) => idsOf(await ask(`/v1/customers?email=${encodeURIComponent(email)}`));

  it("finds exactly that e-mail", async () => {
    assert.deepEqual(await find("office@brenner-gas.example"), [BRENNER]);
  });

  it("is case-sensitive, and takes no parts, patterns or neighbours", async () => {
    for (const other of [
      "Office@brenner-gas.example",
      "OFFICE@BRENNER-GAS.EXAMPLE",
      "office@brenner-gas.exampl",
      "office@brenner-gas.example ",
      " office@brenner-gas.example",
      "%@brenner-gas.example",
      "*",
      "office@brenner_gas.example",
      "",
    ]) {
      assert.deepEqual(await find(other), [], other);
    }
  });

  it("finds all customers that share an e-mail, newest first, with exact totals", async (t) => {
    const ids = ["cus_1", "cus_2", "cus_3"];
    const email = "shared+box@twins.example";
    await fleet.store.importCustomers(ids.map((id, i) => customerRecord(id, { email, created_at: `2024-01-0${i + 1}` })));
    t.after(() => fleet.store.importCustomers(ids.map((id) => ({ remove: id }))));
    assert.deepEqual(await find(email), ["cus_3", "cus_2", "cus_1"]);
    const page = listOf(await ask(`/v1/customers?email=${encodeURIComponent(email)}&size=2&page=2`));
    assert.deepEqual([page.data.length, page.total_items, page.total_pages], [1, 3, 2]);
    const day = listOf(await ask(`/v1/customers?email=${encodeURIComponent(email)}&created_at_lte=2024-01-01`));
    assert.deepEqual([day.data.length, day.total_items], [1, 1]);
  });

  it("compares bytes: composed and decomposed letters differ", async (t) => {
    await fleet.store.importCustomers([customerRecord("cus_nfc", { email: "caf\u00e9@x.example" })]);
    t.after(() => fleet.store.importCustomers([{ remove: "cus_nfc" }]));
    assert.deepEqual(await find("caf\u00e9@x.example"), ["cus_nfc"]);
    assert.deepEqual(await find("cafe\u0301@x.example"), []);
  });

  it("takes a raw plus as a space, as forms do", async () => {
    assert.equal(listOf(await ask("/v1/customers?email=a+b@c.example")).total_items, 0);
  });

  it("refuses control characters", async () => {
    refused(await ask("/v1/customers?email=a%00b@c"), 400, "parameter_invalid", "email");
  });

  it("belongs to customers alone", async () => {
    refused(await ask("/v1/tanks?email=a@b"), 400, "parameter_unknown", "email");
    refused(await ask("/v1/tanks/tank_hall/telemetry?email=a@b"), 400, "parameter_unknown", "email");
    refused(await ask(`/v1/customers/${BRENNER}?email=a@b`), 400, "parameter_unknown", "email");
  });
});
