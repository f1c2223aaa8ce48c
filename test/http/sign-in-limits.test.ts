// What people who are not signed in can make the service do: limits of sign-in requests, of links and of codes.

import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { DatabaseSync } from "node:sqlite";
import { after, describe, it } from "node:test";
import { newSecret } from "../../src/domain/key.ts";
import { Browser, createUser, linkFor, signedInAs } from "../support/browser.ts";
import { manualClock } from "../support/clock.ts";
import { startMailServer } from "../support/mail-server.ts";
import { databaseSetting } from "../support/postgres/database.ts";
import { type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { expectStatus } from "./client.ts";

const MINUTE = 60_000;
const MAIL = { MAIL_FROM: "tanks@operator.example", PUBLIC_URL: "http://tanks.localhost" };

/** Calls of the store, apart from background jobs. */
const calls = ({ events }: Service, since: number): string[] =>
  events.slice(since).flatMap((event) => {
    if (event.kind === "write_completed") return event.write === "execute" ? ["execute"] : [];
    return event.kind === "query_completed" && /^(user|session|signIn|customersWithEmail)/.test(event.query) ? [event.query] : [];
  });

for (const engine of ["sqlite", "postgres"] as const) {
  describe(engine, async () => {
    const life = { after };
    const { clock, forward } = manualClock();
    const mails = await startMailServer(life);
    const database = await databaseSetting(life, engine);
    const environment = { ...database, ...MAIL, SMTP_URL: mails.url, TRUST_PROXY: "loopback" };
    const service = await startService(life, { clock, environment });
    const userId = await createUser(service, "viewer", "dana@operator.example", clock);
    const from = (address: string) => new Browser(service, { "x-forwarded-for": address });

    it("wrong links, and codes that nobody requested, execute no command", async () => {
      const browser = from("203.0.113.1");
      browser.cookies.set("tank_monitor_browser", newSecret());
      for (const proof of [{ token: newSecret() }, { email: "dana@operator.example", code: "12345678" }]) {
        const before = service.events.length;
        expectStatus(await browser.send("POST", "/auth/v1/session", proof), 401, "sign_in_invalid");
        assert.deepEqual(calls(service, before), ["token" in proof ? "signInByHash" : "signInsOf"]);
      }
    });

    it("ending a session that there is not executes no command", async () => {
      const browser = await signedInAs(service, "viewer", { email: "ending@operator.example", clock });
      const before = service.events.length;
      expectStatus(await browser.send("DELETE", "/auth/v1/sessions/ses_nothing"), 404, "session_unknown");
      assert.ok(!calls(service, before).includes("execute"));
    });

    it("after 30 wrong ones nothing is looked up for a client address, then one a second; wrong keys do not count", async () => {
      const guess = () => from("203.0.113.2").send("POST", "/auth/v1/session", { token: newSecret() });
      for (let i = 0; i < 30; i++) expectStatus(await guess(), 401, "sign_in_invalid");
      const before = service.events.length;
      const token = await linkFor(service, userId, clock);
      const signIn = (address: string) => from(address).send("POST", "/auth/v1/session", { token });
      for (const response of [await guess(), await signIn("203.0.113.2")]) {
        expectStatus(response, 429, "keys_throttled");
        assert.equal(response.headers["retry-after"], "1");
      }
      assert.deepEqual(calls(service, before), ["execute"], "which created the link");
      forward(1000);
      expectStatus(await signIn("203.0.113.2"), 200);
      const wrongKey = { "x-api-key": newSecret() };
      for (let i = 0; i < 31; i++) await from("203.0.113.3").send("GET", "/v1/tanks", undefined, wrongKey);
      expectStatus(await from("203.0.113.3").send("GET", "/v1/tanks", undefined, wrongKey), 429, "keys_throttled");
      expectStatus(await guess(), 401, "sign_in_invalid");
      expectStatus(await from("203.0.113.3").send("POST", "/auth/v1/session", { token: newSecret() }), 401, "sign_in_invalid");
    });

    it("five mails an hour go to an address for one client address, 30 for all; the response stays the same", async () => {
      const email = "erin@operator.example";
      await createUser(service, "viewer", email, clock);
      const mailCount = () => mails.received.filter(({ to }) => to.includes(email)).length;
      const request = async (address: string) =>
        expectStatus(await from(address).send("POST", "/auth/v1/sign-in", { email }), 202);
      const processed = async (address: string) => {
        const before = service.events.length;
        await request(address);
        await until("it was processed", () => calls(service, before).includes("execute"));
      };
      const sent = (count: number) => until(`${count} mails arrive`, () => mailCount() >= count, 20_000);
      let total = 0;
      for (const network of [1, 2, 3, 4, 5, 6]) {
        for (let n = 0; n < 7; n++) await request(`198.51.100.${network}`);
        total += 5;
        await sent(total);
      }
      await processed("198.51.100.7");
      forward(12 * MINUTE);
      await processed("198.51.100.1");
      forward(48 * MINUTE);
      assert.equal(mailCount(), 30);
      await processed("198.51.100.7");
      await sent(31);
      assert.equal(mailCount(), 31);
    });
  });
}

it("20 links of a client address wait, more are rejected, and those of clients that have gone are not used", async (t) => {
  const service = await startService(t, { environment: { TRUST_PROXY: "loopback" } });
  const userId = await createUser(service, "viewer");
  const tokens: string[] = [];
  for (let i = 0; i < 30; i++) tokens.push(await linkFor(service, userId));
  // Nothing can be written meanwhile.
  const other = new DatabaseSync(service.databaseFile, { timeout: 5000 });
  other.exec("BEGIN IMMEDIATE");
  const headers = { "content-type": "application/json", "sec-fetch-site": "same-origin", "x-forwarded-for": "203.0.113.1" };
  const statuses: (number | undefined)[] = [];
  const requests = tokens.map((token) => {
    const request = httpRequest(`${service.url}/auth/v1/session`, { method: "POST", headers }, (response) => {
      statuses.push(response.resume().statusCode);
    });
    request.on("error", () => {});
    request.end(JSON.stringify({ token }));
    return request;
  });
  await until("more than four that run and 20 that wait are refused", () => statuses.length >= 6);
  for (const request of requests) request.destroy();
  const closed = () => service.events.filter((event) => event.kind === "request_completed" && event.status === 499).length;
  await until("the connections are closed", () => closed() === 24);
  other.exec("ROLLBACK");
  other.close();
  const inspect = (token: string) =>
    new Browser(service, { "x-forwarded-for": "203.0.113.2" }).send("POST", "/auth/v1/sign-in/inspect", { token });
  const sessions = async () => (await service.store.sessionsOf({ type: "user", id: userId }, Date.now())).length;
  await until("those that were running are done", async () => (await sessions()) === 4);
  const inspected = [];
  for (const token of tokens) inspected.push((await inspect(token)).status);
  assert.deepEqual(statuses, [429, 429, 429, 429, 429, 429]);
  assert.equal(inspected.filter((status) => status === 200).length, 26);
  assert.equal(await sessions(), 4);
});

it("bodies of sign-in requests have at most 4 KiB", async (t) => {
  const service = await startService(t);
  for (const path of ["/auth/v1/sign-in", "/auth/v1/sign-in/inspect", "/auth/v1/session"]) {
    const ofSize = (bytes: number) => new Browser(service).send("POST", path, { x: "x".repeat(bytes - '{"x":""}'.length) });
    expectStatus(await ofSize(4096), 400, "body_invalid");
    expectStatus(await ofSize(4097), 413, "body_too_large");
  }
});

it("20 requests an hour from one client address, then one in three minutes; and not without mail", async (t) => {
  const { clock, forward } = manualClock();
  const service = await startService(t, { clock, environment: { TRUST_PROXY: "loopback" } });
  const send = (ip: string, email: string) =>
    new Browser(service, { "x-forwarded-for": ip }).send("POST", "/auth/v1/sign-in", { email });
  for (let i = 0; i < 20; i++) {
    const { detail } = expectStatus(await send("203.0.113.7", `a${i}@b.example`), 409, "state_conflict");
    assert.match(String(detail), /cannot send mail/);
  }
  const limited = await send("203.0.113.7", "a@b.example");
  expectStatus(limited, 429, "rate_limited");
  assert.equal(limited.headers["retry-after"], "180");
  expectStatus(await send("203.0.113.8", "a@b.example"), 409);
  forward(3 * MINUTE);
  expectStatus(await send("203.0.113.7", "a@b.example"), 409);
  expectStatus(await send("203.0.113.7", "a@b.example"), 429);
});
