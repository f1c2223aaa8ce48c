import assert from "node:assert/strict";
import test from "node:test";
import type { Channel } from "../../../src/domain/alerts/channel.ts";
import type { Notification } from "../../../src/domain/alerts/notification.ts";
import type { Command } from "../../../src/domain/commands/command.ts";
import { formatInstant, LAST_INSTANT } from "../../../src/domain/instant.ts";
import { channelResource } from "../../../src/domain/resource.ts";
import { errorOf as errorIn, NOW, planned as plan, STORED } from "./planned.ts";

const DAY = 86_400_000;
const SECRET = "whsec_the secret";
const URL = "https://hooks.example.com/tanks?token=hidden";
const ALLOW = [{ network: "10.0.0.0", length: 8 }];
const NEW: Channel = {
  ...{ id: "new", type: "webhook", url: URL, to: null, events: null, kinds: null, customer_id: null, delay: 0 },
  ...{ quiet_hours: null, state: "active", disabled_reason: null, description: null, created_at: NOW, updated_at: NOW },
};
const QUIET = { from: "21:00", to: "07:00", timezone: "Europe/Berlin" };
const HOOK: Channel = { ...NEW, id: "hook", created_at: NOW - DAY, updated_at: NOW - DAY };
const MAIL: Channel = { ...HOOK, id: "mail", type: "email", url: null, to: "dispatch@x.example", quiet_hours: QUIET };
const OFF: Channel = { ...HOOK, id: "off", state: "disabled", disabled_reason: "it has failed for five days" };
const notification = (id: string, more: Partial<Notification> = {}): Notification => ({
  ...{ id, channel_id: "hook", customer_id: null, about_customer: "anna", event: "alert.opened", alert_ids: ["alr"] },
  ...{ tank_id: "one", state: "failed", next_attempt_at: null, created_at: NOW - 1000, attempts: [], ...more },
});
/** Ben has unsubscribed. */
const customers = (STORED.customers ?? []).map((one) =>
  one.customer.id === "ben" ? { ...one, notifications: { ...one.notifications, unsubscribed_at: NOW } } : one,
);
const OBJECTS = {
  ...STORED,
  customers,
  channels: [HOOK, MAIL, OFF, { ...HOOK, id: "delayed", delay: 60_000 }],
  notifications: [
    notification("failed"),
    notification("old", { created_at: NOW - DAY }),
    notification("pending", { state: "pending" }),
    notification("delivered", { state: "delivered" }),
    notification("of off", { channel_id: "off" }),
    notification("of none", { channel_id: "deleted" }),
    notification("of anna", { channel_id: null, customer_id: "anna", state: "expired" }),
    notification("of gone", { channel_id: null, customer_id: "gone" }),
    notification("of ben", { channel_id: null, customer_id: "ben" }),
    notification("link of ben", { channel_id: null, customer_id: "ben", event: "customer.verification" }),
  ],
};
const planned = (command: Command) => plan(command, OBJECTS);
const errorOf = (command: Command) => errorIn(command, OBJECTS);
const create = (fields: unknown): Command => ({
  ...{ type: "create_channel", newId: "new", fields, secret: SECRET, webhookAllow: ALLOW },
});
const change = (id: string, fields: unknown, ifMatch?: string): Command => ({
  ...{ type: "change_channel", id, fields, ifMatch, webhookAllow: ALLOW },
});

async function messages(command: Command): Promise<Record<string, string>> {
  const { error, errors = [] } = await errorOf(command);
  assert.equal(error, "body_invalid");
  return Object.fromEntries(errors.map(({ field, message }) => [field, message]));
}

const invalid = async (command: Command): Promise<string[]> => Object.keys(await messages(command)).sort();

test("a channel needs its type and where it sends to; all else has defaults", async () => {
  const { channels, resource } = await planned(create({ type: "webhook", url: URL }));
  assert.deepEqual(channels, [{ before: undefined, after: NEW, secret: { value: SECRET, previousUntil: null } }]);
  assert.deepEqual(resource, channelResource(NEW));
  const mail = await planned(create({ type: "email", to: "dispatch@x.example" }));
  const after = { ...NEW, type: "email", url: null, to: "dispatch@x.example" };
  assert.deepEqual(mail.channels, [{ before: undefined, after, secret: { value: null, previousUntil: null } }]);
});

test("a channel has what it is given; durations are returned in their largest unit", async () => {
  const fields = { events: ["alert.opened", "tank.refilled"], kinds: ["low"], customer_id: "anna", description: "Night shift" };
  const { resource, channels } = await planned(
    create({ type: "email", to: "ü@bücher.example", ...fields, delay: "90m", quiet_hours: QUIET }),
  );
  assert.deepEqual({ ...resource.object, ...fields, delay: "90m", quiet_hours: QUIET }, resource.object);
  assert.equal(channels[0]?.after?.delay, 5_400_000);
  for (const [given, shown] of [
    ["0s", null],
    ["120m", "2h"],
    ["2d", "48h"],
    ["15d", "15d"],
    [null, null],
  ]) {
    assert.equal((await planned(create({ type: "webhook", url: URL, delay: given }))).resource.object["delay"], shown);
  }
});

test("all errors of a channel are reported at once, field by field", async () => {
  for (const [fields, expected] of [
    [{}, ["type"]],
    [{ type: "pigeon", url: 7 }, ["type"]],
    [{ type: "webhook" }, ["url"]],
    [{ type: "email" }, ["to"]],
    [{ type: "webhook", url: URL, to: "a@b.example" }, ["to"]],
    [{ type: "webhook", url: URL, quiet_hours: QUIET }, ["quiet_hours"]],
    [{ type: "email", to: "a@b.example", url: URL }, ["url"]],
    [{ type: "webhook", url: "https://127.0.0.1/" }, ["url"]],
    [{ type: "webhook", url: "http://hooks.example.com/" }, ["url"]],
    [{ type: "webhook", url: "", events: [], kinds: ["high"] }, ["events", "kinds[0]", "url"]],
    [{ type: "webhook", url: URL, events: ["alert.opened", "alert.opened"], kinds: "low" }, ["events[1]", "kinds"]],
    [{ type: "webhook", url: URL, customer_id: "nobody", delay: "soon" }, ["customer_id", "delay"]],
    [{ type: "webhook", url: URL, customer_id: "gone", delay: "16d" }, ["customer_id", "delay"]],
    [{ type: "webhook", url: URL, events: ["alert.closed"], delay: "1h" }, ["events"]],
    [{ type: "webhook", url: URL, events: ["tank.refilled"], kinds: ["low"] }, ["kinds"]],
    [{ type: "webhook", url: URL, id: "mine", secret: "mine", state: "active" }, ["id", "secret", "state"]],
    [{ type: "email", to: "a@b.example", quiet_hours: { ...QUIET, to: "21:00" } }, ["quiet_hours.to"]],
    [
      { type: "email", to: "a@b.example", quiet_hours: { from: "24:00" } },
      ["quiet_hours.from", "quiet_hours.timezone", "quiet_hours.to"],
    ],
    [{ type: "email", to: "a@b.example", quiet_hours: { ...QUIET, timezone: "Mars/Olympus" } }, ["quiet_hours.timezone"]],
    [{ type: "email", to: "a@b.example", description: "a\nb" }, ["description"]],
  ] as const) {
    assert.deepEqual(await invalid(create(fields)), expected, JSON.stringify(fields));
  }
  await planned(create({ type: "webhook", url: "http://10.0.0.1/" }));
  const { to, ...others } = await messages(create({ type: "webhook", url: URL, events: ["alert.opend"], to: "x" }));
  assert.equal(to, "is only for e-mail channels");
  assert.match(others["events[0]"] ?? "", /^must be one of alert.opened, /);
  assert.deepEqual(await messages(create({ type: "webhook", url: URL, kinds: [] })), { kinds: "must have at least 1 entry" });
});

test("a channel with a delay must want opened alerts or refills, without which it is sent nothing", async () => {
  const events = ["alert.closed", "alert.acknowledged"];
  await planned(create({ type: "webhook", url: URL, events, delay: "0s" }));
  assert.deepEqual(await invalid(change("hook", { events, delay: "1h" })), ["events"]);
  assert.deepEqual(await invalid(change("delayed", { events })), ["events"]);
  await planned(change("delayed", { events, delay: null }));
  for (const event of ["alert.opened", "tank.refilled"]) await planned(change("delayed", { events: [event, ...events] }));
});

test("a recipient is one plain address", async () => {
  for (const to of [
    ...[
      "",
      "nobody",
      "a@",
      "@b.example",
      "a@b@c.example",
      "a b@c.example",
      "a@b.example, c@d.example",
      "a@b.example;c@d.example",
    ],
    ...[
      "Anna <a@b.example>",
      "<a@b.example>",
      '"a"@b.example',
      "a@b.example\r\nBcc: c@d.example",
      "a\n@b.example",
      "a@-b.example",
    ],
    ...[
      "a@b.example.",
      `${"a".repeat(65)}@b.example`,
      `a@${"b".repeat(260)}.example`,
      "a(c)@b.example",
      "a@[127.0.0.1]",
      "a@b\u202e.example",
    ],
  ]) {
    assert.deepEqual(await invalid(create({ type: "email", to })), ["to"], JSON.stringify(to));
  }
  for (const to of ["a@b.example", "a.b+c@d-e.example", "o'neil@b.example", "root@localhost", "用户@例え.jp"]) {
    await planned(create({ type: "email", to }));
  }
});

test("a change is a merge, also of quiet hours", async () => {
  const { channels, resource, audit } = await planned(
    change("mail", { quiet_hours: { from: "22:00" }, delay: "4h", kinds: ["low"] }),
  );
  const after = { ...MAIL, quiet_hours: { ...QUIET, from: "22:00" }, delay: 4 * 3_600_000, kinds: ["low"], updated_at: NOW };
  assert.deepEqual(channels, [{ before: MAIL, after }]);
  assert.deepEqual(resource, channelResource(after as Channel));
  assert.deepEqual(Object.keys(audit[0]?.changes ?? {}).sort(), ["delay", "kinds", "quiet_hours"]);
  const cleared = await planned(change("mail", { quiet_hours: null }));
  assert.equal(cleared.channels[0]?.after?.quiet_hours, null);
  for (const fields of [{}, { to: "dispatch@x.example" }, { state: "active" }, { delay: null, quiet_hours: { to: "07:00" } }]) {
    assert.deepEqual((await planned(change("mail", fields))).channels, []);
  }
});

test("errors of a change: the other type's fields, null where a value is needed, the type itself", async () => {
  assert.deepEqual(await invalid(change("hook", { to: "a@b.example", quiet_hours: QUIET })), ["quiet_hours", "to"]);
  assert.deepEqual(await invalid(change("hook", { url: null, state: "gone" })), ["state", "url"]);
  assert.deepEqual(await invalid(change("hook", { url: "https://169.254.169.254/", secret: "x" })), ["secret", "url"]);
  assert.deepEqual(await invalid(change("mail", { quiet_hours: { timezone: null, to: "21:00" } })), [
    "quiet_hours.timezone",
    "quiet_hours.to",
  ]);
  assert.deepEqual(await invalid(change("mail", { url: URL })), ["url"]);
  assert.deepEqual(await messages(change("hook", { type: "email" })), { type: "cannot be changed: create another channel" });
  assert.deepEqual(await invalid(change("hook", [])), [""]);
});

test("a channel is disabled manually, and enabled again without its reason", async () => {
  const disabled = (await planned(change("hook", { state: "disabled" }))).channels[0]?.after;
  assert.deepEqual([disabled?.state, disabled?.disabled_reason], ["disabled", "It was disabled manually."]);
  const enabled = (await planned(change("off", { state: "active" }))).channels[0]?.after;
  assert.deepEqual([enabled?.state, enabled?.disabled_reason], ["active", null]);
  assert.deepEqual((await planned(change("off", { state: "disabled" }))).channels, []);
});

test("there are at most 1000 channels", async () => {
  const channels = Array.from({ length: 1000 }, (_, i) => ({ ...HOOK, id: `hook-${i}` }));
  const { error } = await errorIn(create({ type: "webhook", url: URL }), { ...STORED, channels });
  assert.equal(error, "state_conflict");
  await plan(create({ type: "webhook", url: URL }), { ...STORED, channels: channels.slice(1) });
});

test("a deleted channel ends its pending notifications", async () => {
  const { channels, notificationsEnded, resource } = await planned({ type: "delete_channel", id: "hook" });
  assert.deepEqual(channels, [{ before: HOOK, after: undefined }]);
  assert.deepEqual(notificationsEnded, [{ ids: ["pending"], reason: "the channel was deleted" }]);
  assert.deepEqual(resource.object, { id: "hook", object: "channel", deleted: true });
});

test("a channel that is limited to a customer keeps what is about this one, and nothing else", async () => {
  const about = (about_customer: string | null) => notification(`about ${about_customer}`, { about_customer, state: "pending" });
  const limited = { ...HOOK, customer_id: "anna" };
  const pending = [about("anna"), about("ben"), about(null)];
  const ended = async (channel: Channel, customer_id: string | null) => {
    const objects = { ...OBJECTS, channels: [channel], notifications: pending };
    return (await plan(change("hook", { customer_id, delay: "1h" }), objects)).notificationsEnded.map(({ ids }) => ids);
  };
  assert.deepEqual(await ended(HOOK, "anna"), [["about ben", "about null"]]);
  assert.deepEqual(await ended(limited, "ben"), [["about anna", "about null"]]);
  assert.deepEqual([await ended(limited, "anna"), await ended(limited, null), await ended(HOOK, null)], [[], [], []]);
  const failed = pending.map((one) => ({ ...one, state: "failed" as const }));
  const objects = { ...OBJECTS, channels: [limited], notifications: failed };
  const recover: Command = {
    ...{ type: "recover_channel", id: "hook", fields: { since: formatInstant(NOW - DAY) }, failedBy: NOW },
  };
  assert.deepEqual((await plan(recover, objects)).notificationsRetried, ["about anna"]);
  await plan({ type: "retry_notification", id: "about anna" }, objects);
  for (const id of ["about ben", "about null"]) {
    assert.equal((await errorIn({ type: "retry_notification", id }, objects)).error, "state_conflict");
  }
});

test("a rotation keeps the old secret for the overlap; an e-mail channel has none", async () => {
  const rotate = (id: string, overlap: number): Command => ({ type: "rotate_channel", id, overlap, secret: SECRET });
  const previousUntil = async (overlap: number) => (await planned(rotate("hook", overlap))).channels[0]?.secret;
  assert.deepEqual(await previousUntil(DAY), { value: SECRET, previousUntil: NOW + DAY });
  assert.deepEqual(await previousUntil(0), { value: SECRET, previousUntil: null });
  assert.equal((await errorOf(rotate("mail", DAY))).error, "state_conflict");
  const { channels } = await plan(rotate("hook", DAY), OBJECTS, LAST_INSTANT - 1000);
  assert.equal(channels[0]?.secret?.previousUntil, LAST_INSTANT, "not later than any instant can be");
});

test("a test is a notification like others, due at once; to a disabled channel there is none", async () => {
  const { notifications, resource } = await planned({ type: "test_channel", id: "hook", newId: "msg" });
  const [sent] = notifications;
  assert.deepEqual([sent?.id, sent?.destination, sent?.channel_id, sent?.due_at], ["msg", "hook", "hook", NOW]);
  const { data, ...payload } = JSON.parse(sent?.payload ?? "");
  assert.deepEqual(payload, { type: "channel.test", timestamp: formatInstant(NOW), sequence: null });
  assert.equal(data.channel.id, "hook");
  assert.deepEqual([resource.object["state"], resource.object["event"]], ["pending", "channel.test"]);
  const [mail] = (await planned({ type: "test_channel", id: "mail", newId: "msg" })).notifications;
  const { to, subject } = JSON.parse(mail?.payload ?? "");
  assert.deepEqual([mail?.destination, to, typeof subject], ["mail", "dispatch@x.example", "string"]);
  assert.equal((await errorOf({ type: "test_channel", id: "off", newId: "msg" })).error, "state_conflict");
});

test("what has failed since a time is sent again; one of any state, unless nobody wants it any more", async () => {
  const recover = (id: string, fields: unknown): Command => ({ type: "recover_channel", id, fields, failedBy: NOW });
  const { notificationsRetried, resource } = await planned(recover("hook", { since: formatInstant(NOW - 1000) }));
  assert.deepEqual([notificationsRetried, resource.object], [["failed"], { recovered: 1, until: NOW - 1000 }]);
  for (const fields of [undefined, {}, { since: "yesterday" }, { since: null }, { since: formatInstant(NOW), all: true }]) {
    assert.equal((await errorOf(recover("hook", fields))).error, "body_invalid");
  }
  assert.equal((await errorOf(recover("off", { since: formatInstant(NOW) }))).error, "state_conflict");
  for (const id of ["failed", "delivered", "of anna", "pending"]) {
    const retried = await planned({ type: "retry_notification", id });
    assert.deepEqual(retried.notificationsRetried, [id]);
    assert.deepEqual(
      [retried.resource.object["state"], retried.resource.object["next_attempt_at"]],
      ["pending", formatInstant(NOW)],
    );
  }
  for (const id of ["of off", "of none", "of gone", "of ben", "link of ben"]) {
    assert.equal((await errorOf({ type: "retry_notification", id })).error, "state_conflict", id);
  }
});

test("commands on an unknown channel or notification fail; If-Match is respected", async () => {
  const unknown: Command[] = [
    change("x", {}),
    { type: "delete_channel", id: "x" },
    { type: "rotate_channel", id: "x", overlap: 0, secret: SECRET },
    { type: "test_channel", id: "x", newId: "msg" },
    { type: "recover_channel", id: "x", fields: { since: formatInstant(NOW) }, failedBy: NOW },
  ];
  for (const command of unknown) assert.equal((await errorOf(command)).error, "channel_unknown");
  assert.equal((await errorOf({ type: "retry_notification", id: "x" })).error, "notification_unknown");
  const { etag } = channelResource(HOOK);
  await planned(change("hook", { delay: "1h" }, etag));
  await planned({ type: "delete_channel", id: "hook", ifMatch: etag });
  assert.equal((await errorOf(change("hook", { delay: "1h" }, '"other"'))).error, "precondition_failed");
  assert.equal((await errorOf({ type: "delete_channel", id: "hook", ifMatch: '"other"' })).error, "precondition_failed");
});

test("no result and no audit entry has the secret, and no audit entry the path of a URL", async () => {
  for (const command of [
    create({ type: "webhook", url: URL }),
    change("hook", { url: "https://hooks.example.com/moved?token=hidden" }),
    change("hook", { url: "https://elsewhere.example.com/tanks?token=hidden" }),
    { type: "rotate_channel", id: "hook", overlap: DAY, secret: SECRET },
    { type: "test_channel", id: "hook", newId: "msg" },
    { type: "delete_channel", id: "hook" },
  ] satisfies Command[]) {
    const { resource, audit } = await planned(command);
    assert.equal(audit.length, 1);
    assert.doesNotMatch(JSON.stringify(resource), /secret/);
    assert.doesNotMatch(JSON.stringify(audit), /secret|hidden|tanks|moved/, JSON.stringify(audit));
  }
  const [moved] = (await planned(change("hook", { url: "https://hooks.example.com/b" }))).audit;
  const masked = "https://hooks.example.com";
  assert.deepEqual(moved?.changes, { url: { from: masked, to: `${masked} (with another path or query)` } });
});
