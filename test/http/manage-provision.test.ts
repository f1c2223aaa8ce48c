// /manage/v1/audit and provision.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { expectStatus, type Item } from "./client.ts";
import { CUSTOMER, fieldErrors, idsIn, startManaged } from "./services.ts";

const { manage, forward, now, create, keyId } = await startManaged({ after });
const PROVISION = "/manage/v1/provision";
const CUSTOMERS = "/manage/v1/customers";
const TANKS = "/manage/v1/tanks";

it("the audit log says who changed what, from what to what, and when", async () => {
  const { tank } = await create();
  forward(1000);
  expectStatus(await manage("PATCH", `${TANKS}/${tank}`, { min_fill_alert_percentage: 25, location: { city: "Bonn" } }), 200);
  const audit = async (query: string) => (await manage("GET", `/manage/v1/audit?type=tank&id=${tank}&${query}`)).body;
  const { data, total_items } = await audit("size=1");
  assert.equal(total_items, 2);
  const { number, ...entry } = (data as Item[])[0] ?? {};
  assert.equal(typeof number, "number");
  assert.deepEqual(entry, {
    object: "audit_entry",
    created_at: now(),
    by: keyId,
    action: "changed",
    type: "tank",
    id: tank,
    changes: { min_fill_alert_percentage: { from: 20, to: 25 }, "location.city": { from: null, to: "Bonn" } },
  });
  assert.equal((await audit(`by=${keyId}`))["total_items"], 2);
  assert.equal((await audit("by=key_x"))["total_items"], 0);
  assert.equal((await audit(`created_at_gte=${now()}`))["total_items"], 1);
});

describe("provisioning", () => {
  it("validates all rows before it writes them in one transaction; a dry run writes nothing", async () => {
    const { customer, tank, fields } = await create();
    const [customer2, tank2] = [`${customer}-2`, `${tank}-2`];
    const customers = [
      { id: customer, name: "Renamed" },
      { id: customer2, name: "New", email: "n@x.example" },
    ];
    const tanks = [{ ...fields, id: tank2, owner_id: customer2, assigned_device_id: tank2 }, { id: tank }];
    const wrong = await manage("POST", PROVISION, {
      customers,
      tanks: [
        ...tanks,
        { ...fields, id: "p3", owner_id: "nobody", assigned_device_id: tank2.toUpperCase() },
        { ...fields, id: "p4", assigned_device_id: tank.replace("t", "d") },
      ],
    });
    expectStatus(wrong, 400, "body_invalid");
    assert.deepEqual(fieldErrors(wrong), [
      "tanks[2].owner_id no such customer",
      `tanks[3].assigned_device_id is already assigned to tank ${tank}`,
    ]);
    expectStatus(await manage("GET", `${CUSTOMERS}/${customer2}`), 404, "customer_unknown");
    const dry = expectStatus(await manage("POST", `${PROVISION}?dry_run=true`, { customers, tanks }), 200);
    assert.deepEqual(dry, {
      object: "provisioning",
      dry_run: true,
      customers: { new: 1, changed: 1, unchanged: 0 },
      tanks: { new: 1, changed: 0, unchanged: 1 },
      changes: [{ row: "customers[0]", id: customer, field: "name", from: CUSTOMER.name, to: "Renamed" }],
      more_changes: 0,
    });
    expectStatus(await manage("GET", `${CUSTOMERS}/${customer2}`), 404, "customer_unknown");
    const written = expectStatus(await manage("POST", PROVISION, { customers, tanks }), 200);
    assert.deepEqual(written, { ...dry, dry_run: false });
    assert.deepEqual(idsIn(await manage("GET", `${TANKS}?owner_id=${customer2}`)), [tank2]);
    const again = expectStatus(await manage("POST", PROVISION, { customers, tanks }), 200);
    assert.deepEqual(again["customers"], { new: 0, changed: 0, unchanged: 2 });
    expectStatus(await manage("POST", PROVISION, { tnaks: [] }), 400, "body_invalid");
    for (const body of [[], null, 1, "{}"])
      expectStatus(await manage("POST", PROVISION, JSON.stringify(body)), 400, "body_invalid");
  });

  it("happens once per Idempotency-Key, which a dry run does not use", async () => {
    const once = { "idempotency-key": "sheet 1" };
    const body = { customers: [{ name: "Idempotent", email: "a@b.example" }] };
    expectStatus(await manage("POST", `${PROVISION}?dry_run=true`, body, once), 200);
    const [first, again] = [await manage("POST", PROVISION, body, once), await manage("POST", PROVISION, body, once)];
    assert.deepEqual(expectStatus(again, 200), expectStatus(first, 200));
    const replayed = [first, again].map(({ headers }) => headers["idempotency-replayed"]);
    assert.deepEqual(replayed, [undefined, "true"]);
    assert.equal((await manage("GET", `${CUSTOMERS}?name=idempotent`)).body["total_items"], 1);
    expectStatus(await manage("POST", PROVISION, { customers: [] }, once), 422, "idempotency_key_reused");
  });

  it("of many rows without ids happens once per Idempotency-Key, also when it is repeated at the same time or after a failure", async () => {
    const once = { "idempotency-key": "sheet 2" };
    const customers = Array.from({ length: 1100 }, (_, i) => ({ name: `Many ${i}`, email: "a@b.example" }));
    const responses = await Promise.all([0, 1].map(() => manage("POST", PROVISION, { customers }, once)));
    for (const response of responses)
      assert.deepEqual(expectStatus(response, 200)["customers"], { new: 1100, changed: 0, unchanged: 0 });
    assert.equal((await manage("GET", `${CUSTOMERS}?name=many`)).body["total_items"], 1100);
    const other = expectStatus(await manage("POST", PROVISION, { customers }, { "idempotency-key": "sheet 3" }), 200);
    assert.deepEqual(other["customers"], { new: 1100, changed: 0, unchanged: 0 });
  });

  it("reports all errors of a row, and none that only follows from the row of the customer", async () => {
    const { device, fields } = await create();
    const customers = [{ id: "invalid", name: "", email: "a@b.example" }];
    const tanks = [
      { ...fields, owner_id: "nobody", assigned_device_id: device, capacity: -1 },
      { ...fields, owner_id: "invalid", assigned_device_id: `${device}-2` },
    ];
    const errors = fieldErrors(await manage("POST", PROVISION, { customers, tanks }));
    assert.deepEqual(
      errors.map((error) => error.split(" ", 1)[0]),
      ["customers[0].name", "tanks[0].capacity", "tanks[0].owner_id", "tanks[0].assigned_device_id"],
    );
  });

  it("may swap the devices of tanks, and assigns each device and each id once", async () => {
    const { tank, device, fields } = await create();
    const [tank2, device2] = [`${tank}-2`, `${device}-2`];
    expectStatus(await manage("POST", TANKS, { ...fields, id: tank2, assigned_device_id: device2 }), 201);
    const swapped = [
      { id: tank, assigned_device_id: device2 },
      { id: tank2, assigned_device_id: device },
    ];
    const third = { ...fields, id: `${tank}-3`, assigned_device_id: device2 };
    const twice = await manage("POST", PROVISION, { tanks: [...swapped, third] });
    assert.deepEqual(fieldErrors(twice), [`tanks[2].assigned_device_id is already assigned to tank ${tank}`]);
    expectStatus(await manage("POST", PROVISION, { tanks: swapped }), 200);
    for (const [id, expected] of [
      [device2, tank],
      [device, tank2],
    ]) {
      assert.equal(expectStatus(await manage("GET", `/manage/v1/devices/${id}`), 200)["tank_id"], expected);
    }
    const repeated = await manage("POST", PROVISION, { tanks: [{ id: tank }, { id: tank, name: "Other" }] });
    assert.deepEqual(fieldErrors(repeated), [`tanks[1].id "${tank}" is already used in tanks[0]`]);
  });

  it("reports the first 100 changes and the number of the others", async () => {
    const { tank } = await create();
    const customers = Array.from({ length: 60 }, (_, i) => ({ id: `n${i}`, name: "N", email: "n@x.example" }));
    expectStatus(await manage("POST", PROVISION, { customers }), 200);
    const changed = customers.map(({ id }) => ({ id, name: "M", email: "m@x.example" }));
    const shape = { kind: "upright", height: 2, unit: "m" };
    const tanks = [{ id: tank, shape }];
    const dry = `${PROVISION}?dry_run=true`;
    const { changes, more_changes } = expectStatus(await manage("POST", dry, { customers: changed, tanks }), 200);
    assert.deepEqual([(changes as unknown[]).length, more_changes], [100, 21]);
    const one = expectStatus(await manage("POST", dry, { tanks }), 200);
    assert.deepEqual(one["changes"], [{ row: "tanks[0]", id: tank, field: "shape", from: null, to: shape }]);
  });
});
