// Requests to verify the address of a customer.

import assert from "node:assert/strict";
import { after, it } from "node:test";
import { customerRecord } from "../support/records.ts";
import { startService } from "../support/service.ts";
import { expectStatus, jsonClient } from "./client.ts";

const environment = {
  PUBLIC_URL: "https://tanks.example.com",
  MAIL_FROM: "tanks@operator.example",
  // Nothing listens there: the mail stays pending.
  SMTP_URL: "smtp://127.0.0.1:9",
};
const service = await startService({ after }, { environment });
const manage = jsonClient(service, await service.key({ role: "manage" }));
const read = jsonClient(service, await service.key());
const pathOf = (id: string): string => `/manage/v1/customers/${id}/verification`;

async function addCustomer(id: string, fields: Readonly<Record<string, unknown>> = {}): Promise<void> {
  await service.store.importCustomers([customerRecord(id, fields)]);
}

it("creates a notification, whose address is in Location; nothing in it is a link", async () => {
  await addCustomer("ann");
  const created = await manage("POST", pathOf("ann"));
  const { id, event, customer_id, state } = expectStatus(created, 201);
  assert.deepEqual([event, customer_id, state], ["customer.verification", "ann", "pending"]);
  assert.equal(created.headers.location, `/manage/v1/notifications/${id}`);
  const found = expectStatus(await manage("GET", String(created.headers.location)), 200);
  assert.doesNotMatch(JSON.stringify([created, found]), /verify|token/);
});

it("is safe to repeat with an Idempotency-Key", async () => {
  await addCustomer("ben");
  const repeat = () => manage("POST", pathOf("ben"), undefined, { "idempotency-key": "once" });
  const [first, second] = [await repeat(), await repeat()];
  assert.equal(expectStatus(first, 201)["id"], expectStatus(second, 201)["id"]);
  assert.equal(second.headers["idempotency-replayed"], "true");
});

it("is rejected for unknown, deleted and verified customers, and for keys that may not manage", async () => {
  await addCustomer("gone", { deleted: true });
  await addCustomer("verified", { verified_at: "2026-01-01T00:00:00Z" });
  expectStatus(await manage("POST", pathOf("nobody")), 404, "customer_unknown");
  expectStatus(await manage("POST", pathOf("gone")), 409, "state_conflict");
  expectStatus(await manage("POST", pathOf("verified")), 409, "state_conflict");
  expectStatus(await read("POST", pathOf("ann")), 403, "role_insufficient");
});

it("is limited to five an hour for each customer", async () => {
  await addCustomer("cleo");
  for (let i = 0; i < 5; i++) expectStatus(await manage("POST", pathOf("cleo")), 201);
  const refused = await manage("POST", pathOf("cleo"));
  expectStatus(refused, 429, "rate_limited");
  assert.match(String(refused.headers["retry-after"]), /^(3[56]\d\d)$/);
  await addCustomer("dan");
  expectStatus(await manage("POST", pathOf("dan")), 201);
});

it("names the settings that are missing", async (t) => {
  const other = await startService(t, { environment: { MAIL_FROM: "tanks@operator.example" } });
  await other.store.importCustomers([customerRecord("ann")]);
  const response = await jsonClient(other, await other.key({ role: "manage" }))("POST", pathOf("ann"));
  expectStatus(response, 409, "state_conflict");
  assert.match(String(response.body["detail"]), /^No mail is sent: SMTP_URL and PUBLIC_URL are not set\.$/);
});
