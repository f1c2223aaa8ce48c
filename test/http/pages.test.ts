// The pages that links in mail lead to, as people, mail programs, mail scanners and attackers request them.

import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { unsubscribeToken } from "../../src/domain/unsubscribe.ts";
import { newVerificationToken } from "../../src/domain/verification.ts";
import { PAGES } from "../../src/http/pages/phrases.ts";
import { composeNext } from "../store/compose-support.ts";
import { customerRecord, putReadings, tankRecord } from "../support/records.ts";
import { startService } from "../support/service.ts";
import { claimedToken, requestLink } from "../support/verification.ts";
import { send } from "./client.ts";

const PUBLIC_URL = "https://tanks.example.com/monitor";
const service = await startService({ after }, { environment: { PUBLIC_URL, LOG_LEVEL: "trace" } });
const { store } = service;
const FORM = { "content-type": "application/x-www-form-urlencoded" };
const OPERATOR = { by: "test", at: Date.now() };
let secret = "";

const post = (path: string, body = "", headers: Record<string, string> = FORM) =>
  send(service, path, { method: "POST", body, headers });
const customer = async (id: string) => (await store.managedCustomer(id)) ?? assert.fail();
const unsubscribePath = (id: string, email = `${id}@customers.example`, key = secret) =>
  `/unsubscribe?token=${unsubscribeToken(key, { id, email })}`;

async function addCustomer(id: string, fields: Readonly<Record<string, unknown>> = {}): Promise<void> {
  await store.importCustomers([customerRecord(id, { email: `${id}@customers.example`, ...fields })]);
}

async function verificationPath(id: string, at = Date.now()): Promise<string> {
  return `/verify?token=${await claimedToken(store, await requestLink(store, id, at), at)}`;
}

before(async () => {
  await addCustomer("owner", { verified_at: "2026-01-01T00:00:00Z" });
  await store.importTanks([tankRecord("low", "owner")]);
  await putReadings(store, "low", [[Date.now(), 5]]);
  await composeNext(store, Date.now() + 6000, { publicUrl: PUBLIC_URL });
  secret = (await store.unsubscribeSecret()) ?? assert.fail("no mail was composed");
});

it("a link verifies an address once, after a click", async () => {
  await addCustomer("ann");
  const path = await verificationPath("ann");
  for (let i = 0; i < 2; i++) {
    const { status, text } = await send(service, path);
    assert.deepEqual([status, /<button name="action" value="verify">Confirm address/.test(text)], [200, true]);
  }
  assert.equal((await customer("ann")).customer.verified_at, null, "looking changes nothing");
  assert.match((await post(path, "action=verify")).text, /<h1>Your address is confirmed<\/h1>/);
  assert.ok((await customer("ann")).customer.verified_at !== null);
  assert.equal((await post(path)).status, 404);
  const [entry] = (
    await store.auditPage({ page: 1, size: 1, from: undefined, to: undefined, by: undefined, object: undefined, id: "ann" })
  ).data;
  assert.deepEqual([entry?.by, Object.keys(entry?.changes ?? {})], ["verification link", ["verified_at"]]);
});

it("no page promises mail about a kind of alert: OWNER_ALERTS decides whether customers get any", () => {
  for (const { verify, verified, resubscribed } of Object.values(PAGES)) {
    for (const { text } of [verify, verified, resubscribed]) assert.doesNotMatch(text, /low|niedrig/);
  }
});

it("a link is invalid after a newer one, seven days, or a change of the address", async () => {
  await addCustomer("ben");
  const old = await verificationPath("ben", Date.now() - 8 * 86_400_000);
  assert.equal((await post(old)).status, 404);
  const first = await verificationPath("ben");
  const second = await verificationPath("ben");
  assert.equal((await post(first)).status, 404);
  const change = (email: string) => store.execute({ type: "change_customer", id: "ben", fields: { email } }, OPERATOR);
  await change("other@customers.example");
  assert.equal((await post(second)).status, 404);
  await change("ben@customers.example");
  assert.equal((await post(second)).status, 404, "changed back");
});

it("unsubscribing and subscribing again take one click each, and can be repeated", async () => {
  await addCustomer("cleo");
  const path = unsubscribePath("cleo");
  const state = async () => (await customer("cleo")).notifications.unsubscribed_at;
  assert.match((await send(service, path)).text, /value="unsubscribe">Unsubscribe</);
  assert.equal(await state(), null, "looking changes nothing");
  assert.match((await post(path, "action=unsubscribe")).text, /You are unsubscribed/);
  const since = await state();
  assert.ok(since !== null);
  assert.match((await post(path, "List-Unsubscribe=One-Click")).text, /You are unsubscribed/);
  assert.equal(await state(), since);
  assert.match((await send(service, path)).text, /value="resubscribe">Subscribe again/);
  assert.match((await post(path, "action=resubscribe")).text, /You are subscribed again/);
  assert.equal(await state(), null);
  const { data } = await store.auditPage({
    page: 1,
    size: 1,
    from: undefined,
    to: undefined,
    by: "unsubscribe link",
    object: undefined,
    id: "cleo",
  });
  assert.deepEqual(Object.keys(data[0]?.changes ?? {}), ["notifications.unsubscribed_at"]);
});

it("a customer changes ten times at once, then once in six seconds", async () => {
  await addCustomer("often");
  await addCustomer("other");
  const change = (n: number) => post(unsubscribePath("often"), `action=${n % 2 === 0 ? "unsubscribe" : "resubscribe"}`);
  let changes = 0;
  let response = await change(0);
  while (response.status === 200 && changes < 30) response = await change(++changes);
  // Some more on a slow machine.
  assert.ok(changes >= 10 && changes < 20, String(changes));
  assert.deepEqual([response.status, response.headers["retry-after"]], [429, "6"]);
  assert.match(response.text, /Please try again later/);
  assert.equal((await change(changes - 1)).status, 200, "which changes nothing");
  assert.equal((await post(unsubscribePath("other"))).status, 200);
});

it("mail programs unsubscribe with any form, without cookie, origin or language", async () => {
  const multipart = '--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n';
  for (const [id, body, headers] of [
    ["dan", "List-Unsubscribe=One-Click", FORM],
    ["eve", multipart, { "content-type": "multipart/form-data; boundary=x" }],
    ["fay", "", {}],
    ["gus", "List-Unsubscribe=One-Click", { ...FORM, origin: "https://mail.example", "sec-fetch-site": "cross-site" }],
  ] as const) {
    await addCustomer(id);
    assert.equal((await post(unsubscribePath(id), body, headers)).status, 200, id);
    assert.ok((await customer(id)).notifications.unsubscribed_at !== null, id);
  }
});

it("a deleted customer can unsubscribe, which counts once restored; links to a former address are not valid", async () => {
  await addCustomer("hal");
  await store.execute({ type: "delete_customer", id: "hal", tanks: false }, OPERATOR);
  assert.match((await post(unsubscribePath("hal"))).text, /You are unsubscribed/);
  await store.execute({ type: "restore_customer", id: "hal", tanks: true }, OPERATOR);
  assert.ok((await customer("hal")).notifications.unsubscribed_at !== null);
  assert.equal((await post(unsubscribePath("owner", "former@customers.example"))).status, 404);
});

it("wrong tokens get the same response", async () => {
  const real = unsubscribePath("owner");
  for (const [kind, good, wrong] of [
    [
      "unsubscribe",
      real,
      [
        "x",
        "",
        `${"A".repeat(43)}`,
        unsubscribePath("owner", "owner@customers.example", "guess").split("=")[1],
        unsubscribePath("nobody", "nobody@x.example", "guess").split("=")[1],
        `${real.split("=")[1]}A`,
        "%00",
        "a".repeat(5000),
      ],
    ],
    ["verify", "", ["x", "", newVerificationToken(), "%ff", "a".repeat(5000)]],
  ] as const) {
    if (good !== "") assert.equal((await send(service, good)).status, 200);
    const responses = new Set<string>();
    for (const token of wrong) {
      const { status, text } = await post(`/${kind}?token=${token}`);
      responses.add(`${status} ${text}`);
    }
    assert.equal(responses.size, 1, kind);
    assert.match([...responses][0] ?? "", /^404 .*This link is not valid/s);
  }
});

it("many wrong tokens from one address are throttled, and right ones are not", async () => {
  const statuses = new Set<number>();
  for (let i = 0; i < 60; i++) statuses.add((await post(`/verify?token=${newVerificationToken()}`)).status);
  assert.deepEqual([...statuses], [404, 429]);
  const throttled = await post(`/verify?token=${newVerificationToken()}`);
  assert.deepEqual([throttled.status, throttled.headers["retry-after"]], [429, "1"]);
  assert.match(throttled.text, /<h1>Please try again later/);
  assert.equal((await send(service, unsubscribePath("owner"))).status, 200);
});

it("pages load nothing, run nothing, are not cached, and send no address to others", async () => {
  for (const path of [`/verify?token=${newVerificationToken()}`, unsubscribePath("owner")]) {
    const { headers, text } = await send(service, path);
    assert.match(
      String(headers["content-security-policy"]),
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'; form-action 'self';/,
    );
    assert.doesNotMatch(String(headers["content-security-policy"]), /unsafe/);
    assert.deepEqual(
      [headers["cache-control"], headers["referrer-policy"], headers["x-content-type-options"], headers["set-cookie"]],
      ["no-store", "no-referrer", "nosniff", undefined],
    );
    assert.doesNotMatch(text, /<script|<link|<img|src=|href=|token/i);
  }
});

it("pages are in German where it is preferred, in English otherwise", async () => {
  const languageFor = async (accepted: string) => {
    const { text, headers } = await send(service, unsubscribePath("owner"), { headers: { "accept-language": accepted } });
    assert.match(String(headers["vary"]), /Accept-Language/);
    return /<html lang="(\w+)">/.exec(text)?.[1];
  };
  for (const accepted of ["de", "de-AT,de;q=0.9,en;q=0.8", "fr, en;q=0.3, de;q=0.5"])
    assert.equal(await languageFor(accepted), "de", accepted);
  assert.equal(await languageFor(`${"fr,".repeat(19)}de`), "de");
  assert.equal(await languageFor(`${"fr,".repeat(20)}de`), "en", "20 ranges are read");
  for (const accepted of ["", "en", "en-US,en;q=0.9,de;q=0.8", "fr", "de;q=0", ";;q=x,,"])
    assert.equal(await languageFor(accepted), "en", accepted);
});

it("a form that is too large is rejected", async () => {
  assert.equal((await post(unsubscribePath("owner"), "x".repeat(20_000))).status, 413);
  assert.equal((await customer("owner")).notifications.unsubscribed_at, null);
});

it("tokens are in no log line", () => {
  const log = JSON.stringify(service.events);
  assert.match(log, /"path":"\/unsubscribe"/);
  assert.doesNotMatch(log, /token/);
  assert.ok(!log.includes(secret));
});
