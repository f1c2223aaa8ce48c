// /manage/v1/channels and /manage/v1/notifications: each route by an example. The rules of commands are tested in
// test/domain/commands, what they do to stored data in test/store.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { runSql } from "../store/raw-sql.ts";
import { until } from "../support/until.ts";
import { expectStatus, jsonClient } from "./client.ts";
import { fieldErrors, idsIn, startManaged } from "./services.ts";

const MAIL = { SMTP_URL: "smtp://127.0.0.1:1", MAIL_FROM: "tanks@x.example", PUBLIC_URL: "https://tanks.example.com" };
const service = await startManaged({ after }, { WEBHOOK_ALLOW: "10.0.0.0/8" });
const { manage, now, create } = service;
const CHANNELS = "/manage/v1/channels";
const NOTIFICATIONS = "/manage/v1/notifications";
const URL = "https://hooks.invalid/tanks?token=hidden";
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;

async function createHook(fields: object = {}): Promise<{ id: string; secret: string }> {
  const body = expectStatus(await manage("POST", CHANNELS, { type: "webhook", url: URL, ...fields }), 201);
  return body as { id: string; secret: string };
}

const inspect = async (id: string) => expectStatus(await manage("GET", `${CHANNELS}/${id}`), 200);

describe("a channel", () => {
  it("is created with its type and URL or address; the secret of a webhook is shown once", async () => {
    const once = { "idempotency-key": "hook 1" };
    const given = { type: "webhook", url: URL };
    const created = await manage("POST", CHANNELS, given, once);
    const { secret, ...shown } = expectStatus(created, 201);
    assert.match(String(secret), SECRET);
    assert.match(String(shown["id"]), /^chn_/);
    assert.equal(created.headers.location, `${CHANNELS}/${shown["id"]}`);
    const nothing = { to: null, events: null, kinds: null, customer_id: null, delay: null, quiet_hours: null, description: null };
    const state = { state: "active", disabled_reason: null, problem: null };
    const common = { id: shown["id"], object: "channel", created_at: now(), updated_at: now() };
    assert.deepEqual(shown, { ...common, ...given, ...nothing, ...state });
    const replayed = await manage("POST", CHANNELS, given, once);
    assert.deepEqual([expectStatus(replayed, 201)["secret"], replayed.body["id"]], [null, shown["id"]]);
    const { failing_since, pending, held, last_delivered_at, last_error, ...inspected } = await inspect(String(shown["id"]));
    assert.deepEqual(inspected, shown);
    assert.deepEqual([failing_since, pending, held, last_delivered_at, last_error], [null, 0, 0, null, null]);
    const mail = expectStatus(await manage("POST", CHANNELS, { type: "email", to: "dispatch@x.example" }), 201);
    assert.deepEqual([mail["secret"], mail["to"], mail["url"]], [null, "dispatch@x.example", null]);
    assert.deepEqual(idsIn(await manage("GET", `${CHANNELS}?size=2`)).sort(), [mail["id"], shown["id"]].sort());
  });

  it("that fails says so in the response to a change, too", async () => {
    const { id } = await createHook();
    await runSql(`sqlite:${service.databaseFile}`, `UPDATE channel SET failing_since = 1 WHERE id = '${id}'`);
    const { problem } = await inspect(id);
    assert.match(String(problem), /^Every delivery has failed since /);
    assert.equal(expectStatus(await manage("PATCH", `${CHANNELS}/${id}`, { delay: "4h" }), 200)["problem"], problem);
    assert.equal(expectStatus(await manage("POST", `${CHANNELS}/${id}/rotate`), 200)["problem"], problem);
  });

  it("with invalid fields gets all errors at once", async () => {
    const response = await manage("POST", CHANNELS, {
      ...{ type: "webhook", url: "https://localhost/", to: "a@b.example", events: ["alert.opend"], kinds: ["low", "low"] },
      ...{ customer_id: "nobody", delay: "soon" },
    });
    expectStatus(response, 400, "body_invalid");
    assert.deepEqual(fieldErrors(response), [
      "to is only for e-mail channels",
      "events[0] must be one of alert.opened, alert.acknowledged, alert.closed, tank.refilled",
      "delay must be a duration such as 30m, 4h or 7d",
      "url must not be at localhost: add localhost to WEBHOOK_ALLOW of the service, and restart it",
      'kinds[1] repeats "low"',
      "customer_id no such customer",
    ]);
    await createHook({ url: "http://10.0.0.7/hook" });
  });

  it("is changed by a merge patch, but not by a client that has not seen the last change", async () => {
    const { customer } = await create();
    const { id } = await createHook();
    const path = `${CHANNELS}/${id}`;
    const tag = String((await manage("GET", path)).headers.etag);
    const fields = { delay: "4h", customer_id: customer, kinds: ["low"] };
    const changed = await manage("PATCH", path, fields, { "if-match": tag });
    assert.deepEqual({ ...expectStatus(changed, 200), ...fields }, changed.body);
    for (const kinds of [["low", "silent", "leak"], ["low", "silent"], ["low"], null]) {
      assert.deepEqual(expectStatus(await manage("PATCH", path, { kinds }), 200)["kinds"], kinds);
    }
    expectStatus(await manage("PATCH", path, { delay: null }, { "if-match": tag }), 412, "precondition_failed");
    expectStatus(await manage("DELETE", path, undefined, { "if-match": tag }), 412, "precondition_failed");
    const disabled = expectStatus(await manage("PATCH", path, { state: "disabled" }), 200);
    assert.deepEqual([disabled["state"], disabled["disabled_reason"]], ["disabled", "It was disabled manually."]);
    expectStatus(await manage("POST", `${path}/test`), 409, "state_conflict");
    expectStatus(await manage("POST", `${path}/recover`, { since: now() }), 409, "state_conflict");
    assert.equal(expectStatus(await manage("PATCH", path, { state: "active" }), 200)["disabled_reason"], null);
    assert.deepEqual(expectStatus(await manage("DELETE", path), 200), { id, object: "channel", deleted: true });
    for (const [method, end] of [
      ["GET", ""],
      ["PATCH", ""],
      ["DELETE", ""],
      ["POST", "/test"],
      ["POST", "/rotate"],
      ["POST", "/recover"],
    ] as const) {
      const body = method === "PATCH" || end === "/recover" ? { since: now() } : undefined;
      expectStatus(await manage(method, `${path}${end}`, body), 404, "channel_unknown");
    }
  });

  it("gets a new secret by rotation, shown once; an e-mail channel has none", async () => {
    const { id, secret } = await createHook();
    const rotated = expectStatus(await manage("POST", `${CHANNELS}/${id}/rotate?overlap=1h`), 200);
    assert.match(String(rotated["secret"]), SECRET);
    assert.notEqual(rotated["secret"], secret);
    assert.ok(!("secret" in (await inspect(id))));
    const mail = expectStatus(await manage("POST", CHANNELS, { type: "email", to: "a@b.example" }), 201);
    expectStatus(await manage("POST", `${CHANNELS}/${mail["id"]}/rotate`), 409, "state_conflict");
    expectStatus(await manage("POST", `${CHANNELS}/${id}/rotate?overlap=soon`), 400, "parameter_invalid");
  });

  it("says in plain words when nothing can be sent", async () => {
    const email = { type: "email", to: "a@b.example" };
    const { problem } = expectStatus(await manage("POST", CHANNELS, email), 201);
    assert.equal(problem, "No mail is sent: SMTP_URL, MAIL_FROM and PUBLIC_URL are not set.");
    const { PUBLIC_URL: _, ...incomplete } = MAIL;
    const other = await startManaged({ after }, incomplete);
    const shown = expectStatus(await other.manage("POST", CHANNELS, email), 201);
    assert.equal(shown["problem"], "No mail is sent: PUBLIC_URL is not set.");
    const complete = await startManaged({ after }, MAIL);
    assert.equal(expectStatus(await complete.manage("POST", CHANNELS, email), 201)["problem"], null);
    const { data } = expectStatus(await other.manage("GET", CHANNELS), 200) as { data: { problem: string }[] };
    assert.equal(data[0]?.problem, "No mail is sent: PUBLIC_URL is not set.");
  });
});

describe("a notification", () => {
  it("is created by a test, once per Idempotency-Key, and listed with every filter", async () => {
    const { id } = await createHook();
    const path = `${CHANNELS}/${id}/test`;
    const once = { "idempotency-key": "test 1" };
    const tested = await manage("POST", path, undefined, once);
    const body = expectStatus(tested, 201);
    assert.equal(tested.headers.location, `${NOTIFICATIONS}/${body["id"]}`);
    const { id: _, state: _state, next_attempt_at: _next, attempts: _attempts, ...rest } = body;
    assert.deepEqual(rest, {
      ...{ object: "notification", channel_id: id, customer_id: null, event: "channel.test", alert_ids: [], tank_id: null },
      created_at: now(),
    });
    assert.equal(expectStatus(await manage("POST", path, undefined, once), 201)["id"], body["id"]);
    for (const [query, found] of [
      [`channel_id=${id}`, [body["id"]]],
      [`channel_id=${id}&created_at_gte=${now()}`, [body["id"]]],
      [`channel_id=${id}&customer_id=nobody`, []],
      [`channel_id=${id}&alert_id=alr_nothing`, []],
      [`channel_id=${id}&state=expired`, []],
    ] as const) {
      assert.deepEqual(idsIn(await manage("GET", `${NOTIFICATIONS}?${query}`)), found, query);
    }
    expectStatus(await manage("GET", `${NOTIFICATIONS}?state=lost`), 400, "parameter_invalid");
    assert.equal(expectStatus(await manage("GET", `${NOTIFICATIONS}/${body["id"]}`), 200)["id"], body["id"]);
    for (const unknown of ["msg_nothing", "%00"]) {
      expectStatus(await manage("GET", `${NOTIFICATIONS}/${unknown}`), 404, "notification_unknown");
      expectStatus(await manage("POST", `${NOTIFICATIONS}/${unknown}/retry`), 404, "notification_unknown");
    }
  });

  it("of a deleted channel has failed, and is not sent again", async () => {
    const { id } = await createHook();
    const { id: notification } = expectStatus(await manage("POST", `${CHANNELS}/${id}/test`), 201);
    expectStatus(await manage("DELETE", `${CHANNELS}/${id}`), 200);
    const { state, attempts } = expectStatus(await manage("GET", `${NOTIFICATIONS}/${notification}`), 200);
    assert.deepEqual([state, (attempts as { error: string }[]).at(-1)?.error], ["failed", "the channel was deleted"]);
    expectStatus(await manage("POST", `${NOTIFICATIONS}/${notification}/retry`), 409, "state_conflict");
  });

  it("about a customer is not sent any more to a channel that is limited to another one", async () => {
    const { customer, tank } = await create();
    const { customer: other } = await create();
    const { id } = await createHook({ customer_id: customer });
    const reading = { tank_id: tank, created_at: now(), fill_percentage: 1 };
    expectStatus(await manage("POST", "/ingest/v1/readings", reading), 200);
    const notification = async (): Promise<Record<string, unknown>> => {
      const { data } = expectStatus(await manage("GET", `${NOTIFICATIONS}?channel_id=${id}`), 200);
      const [first, ...others] = data as Record<string, unknown>[];
      assert.deepEqual(others, []);
      return first ?? {};
    };
    const { id: about, state: before } = await notification();
    assert.equal(before, "pending");
    const changed = { customer_id: other, url: "https://other.invalid/" };
    expectStatus(await manage("PATCH", `${CHANNELS}/${id}`, changed), 200);
    const { state, attempts } = await notification();
    const error = "the channel is now limited to a customer, and this may be about others";
    assert.deepEqual([state, (attempts as { error: string }[]).at(-1)?.error], ["failed", error]);
    const refused = await manage("POST", `${NOTIFICATIONS}/${about}/retry`);
    expectStatus(refused, 409, "state_conflict");
    assert.match(String(refused.body["detail"]), /limited to a customer/);
    const since = { since: "2020-01-01T00:00:00Z" };
    assert.equal(expectStatus(await manage("POST", `${CHANNELS}/${id}/recover`, since), 200)["recovered"], 0);
    assert.equal((await notification())["state"], "failed");
  });

  it("that failed is sent again, alone or with all since a time, and the sender is woken", async () => {
    const { id } = await createHook();
    const path = `${CHANNELS}/${id}/recover`;
    assert.deepEqual(expectStatus(await manage("POST", path, { since: now() }), 200), {
      object: "channel_recovery",
      channel_id: id,
      recovered: 0,
    });
    const response = await manage("POST", path, { since: "yesterday", until: now() });
    assert.deepEqual(fieldErrors(response), [
      "until is not a known field",
      'since must be a datetime such as "2026-11-14T09:30:00Z"',
    ]);
    const created = () => service.events.filter(({ kind }) => kind === "notifications_created").length;
    const { id: first } = expectStatus(await manage("POST", `${CHANNELS}/${id}/test`), 201);
    const { id: second } = expectStatus(await manage("POST", `${CHANNELS}/${id}/test`), 201);
    const fail = async () => {
      const end = `state = 'failed', due_at = NULL, lease = NULL, ended_at = ${Date.parse(now())}`;
      await runSql(`sqlite:${service.databaseFile}`, `UPDATE notification SET ${end} WHERE channel_id = '${id}'`);
    };
    const states = async (): Promise<unknown[]> => {
      const { data } = expectStatus(await manage("GET", `${NOTIFICATIONS}?channel_id=${id}`), 200);
      return (data as { id: unknown; state: unknown }[]).map(({ state }) => state);
    };
    await fail();
    const before = created();
    const retried = expectStatus(await manage("POST", `${NOTIFICATIONS}/${first}/retry`), 200);
    assert.deepEqual([retried["id"], retried["state"], retried["next_attempt_at"]], [first, "pending", now()]);
    await until("the sender is woken", () => created() > before);
    expectStatus(await manage("POST", `${NOTIFICATIONS}/${first}/retry`), 200);
    await fail();
    assert.deepEqual(await states(), ["failed", "failed"]);
    assert.equal(expectStatus(await manage("POST", path, { since: now() }), 200)["recovered"], 2);
    assert.deepEqual(await states(), ["pending", "pending"]);
    assert.deepEqual(idsIn(await manage("GET", `${NOTIFICATIONS}?channel_id=${id}`)).sort(), [first, second].sort());
  });
});

describe("mail to customers", () => {
  const path = `${NOTIFICATIONS}/recover`;
  const inSql = (sql: string) => runSql(`sqlite:${service.databaseFile}`, sql);
  const columns = "id, customer_id, destination, event, alert_ids, state, created_at, pending_since, ended_at, payload, attempts";
  const expired = (id: string, customer: string) =>
    inSql(`INSERT INTO notification (${columns})
      VALUES ('${id}', '${customer}', 'mail', 'alert.opened', '[]', 'expired', 1, 1, ${Date.parse(now())}, '{}', '[]')`);

  it("that failed or expired since a time is sent again, to all or to one customer", async () => {
    const [{ customer }, { customer: other }] = [await create(), await create()];
    for (const id of [customer, other]) {
      expectStatus(await manage("PATCH", `/manage/v1/customers/${id}`, { is_verified: true }), 200);
    }
    await expired("msg_first", customer);
    await expired("msg_other", other);
    const recover = async (body: object) => expectStatus(await manage("POST", path, body), 200);
    const since = "2020-01-01T00:00:00Z";
    assert.deepEqual(await recover({ since, customer_id: other }), { object: "notification_recovery", recovered: 1 });
    const pending = idsIn(await manage("GET", `${NOTIFICATIONS}?state=pending&customer_id=${other}`));
    assert.deepEqual(pending, ["msg_other"]);
    assert.equal((await recover({ since }))["recovered"], 1);
    assert.equal((await recover({ since }))["recovered"], 0);
    const { data } = expectStatus(await manage("GET", `/manage/v1/audit?id=${customer}`), 200);
    const [{ action, changes } = {}] = data as Record<string, unknown>[];
    const entry = { since: { from: null, to: since }, notifications: { from: null, to: 1 } };
    assert.deepEqual([action, changes], ["mail_recovered", entry]);
  });

  it("is not sent again by a request that is wrong, or with a key that may not manage", async () => {
    assert.deepEqual(fieldErrors(await manage("POST", path, { customer_id: null })), [
      "since is missing",
      "customer_id must not be null",
    ]);
    const unknown = await manage("POST", path, { since: now(), customer_id: "nobody" });
    assert.deepEqual(fieldErrors(unknown), ["customer_id no such customer"]);
    const read = jsonClient(service, await service.key());
    expectStatus(await read("POST", path, { since: now() }), 403, "role_insufficient");
  });
});

it("no secret and no path of a URL is in the log or in the audit log", async () => {
  const { id, secret } = await createHook();
  const { secret: rotated } = expectStatus(await manage("POST", `${CHANNELS}/${id}/rotate`), 200);
  expectStatus(await manage("PATCH", `${CHANNELS}/${id}`, { url: `${URL}2` }), 200);
  expectStatus(await manage("POST", `${CHANNELS}/${id}/test`), 201);
  expectStatus(await manage("DELETE", `${CHANNELS}/${id}`), 200);
  const audit = expectStatus(await manage("GET", `/manage/v1/audit?id=${id}`), 200);
  const actions = (audit["data"] as { action: string }[]).map(({ action }) => action);
  assert.deepEqual(actions, ["deleted", "tested", "changed", "rotated", "created"]);
  const seen = JSON.stringify([audit, service.events]);
  for (const hidden of [secret, String(rotated), "whsec_", "hidden"]) assert.ok(!seen.includes(hidden), hidden);
});
