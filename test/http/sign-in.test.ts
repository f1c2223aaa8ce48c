// Signing in by link or code, on both engines, with a real mail server.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { MAX_ACCOUNTS, SIGN_IN_LINK_LIFETIME_MS } from "../../src/domain/sign-in.ts";
import { Browser, createUser, linkFor, tokenIn } from "../support/browser.ts";
import { manualClock } from "../support/clock.ts";
import { startMailServer } from "../support/mail-server.ts";
import { databaseSetting } from "../support/postgres/database.ts";
import { customerRecord, tankRecord } from "../support/records.ts";
import { startService } from "../support/service.ts";
import { sqlOn } from "../support/sql.ts";
import { until } from "../support/until.ts";
import { expectStatus, jsonClient } from "./client.ts";

for (const engine of ["sqlite", "postgres"] as const) {
  describe(engine, async () => {
    const life = { after };
    const { clock, forward } = manualClock();
    const mails = await startMailServer(life);
    const database = await databaseSetting(life, engine);
    const mail = { SMTP_URL: mails.url, MAIL_FROM: "tanks@operator.example", PUBLIC_URL: "http://tanks.localhost" };
    const service = await startService(life, { clock, environment: { ...database, ...mail, RATE_LIMIT: "0" } });
    const sql = await sqlOn(life, database["DATABASE_URL"] ?? `sqlite:${service.databaseFile}`);
    const manage = jsonClient(service, await service.key({ role: "manage" }));
    let count = 0;

    /** An address of its own for each test. */
    const address = (): string => `person-${++count}@${engine}.example`;

    /** A mail of a test before may still arrive. */
    const mailsTo = (email: string) =>
      mails.received.filter(({ to }) => to.some((one) => one.toLowerCase() === email.toLowerCase()));

    /** Other writes are of background jobs. */
    const isCommand = (event: (typeof service.events)[number]) => event.kind === "write_completed" && event.write === "execute";

    /** The response to a request for a link, once the request is stored. */
    async function responseOnceStored(browser: Browser, email: string) {
      const before = service.events.length;
      const response = await browser.send("POST", "/auth/v1/sign-in", { email });
      await until("it is stored", () => service.events.slice(before).some(isCommand));
      return response;
    }

    async function requested(browser: Browser, email: string) {
      const before = mailsTo(email).length;
      expectStatus(await browser.send("POST", "/auth/v1/sign-in", { email }), 202);
      const received = await until("the mail arrives", async () => mailsTo(email)[before], 20_000);
      const text = received.parsed.text ?? "";
      const [, first = "", second = ""] = /: (\d{4}) (\d{4})/.exec(text) ?? [];
      return { to: received.to, text, html: received.parsed.html, token: tokenIn(text), code: first + second, received };
    }

    async function customer(id: string, email: string, fields: Readonly<Record<string, unknown>> = {}): Promise<void> {
      await service.store.importCustomers([customerRecord(id, { email, ...fields })]);
    }

    const me = (browser: Browser) => browser.send("GET", "/auth/v1/session");

    it("a user signs in by link, once", async () => {
      const email = address();
      const id = await createUser(service, "dispatcher", email, clock);
      const browser = new Browser(service);
      const { token, to } = await requested(browser, email.toUpperCase());
      assert.deepEqual(to, [email], "to the stored address");
      const session = await browser.signInWith(token);
      assert.deepEqual(
        [session["object"], session["user_id"], session["customer_id"], session["role"], session["email"], session["current"]],
        ["session", id, null, "dispatcher", email, true],
      );
      assert.deepEqual(expectStatus(await me(browser), 200), session);
      const again = await new Browser(service).send("POST", "/auth/v1/session", { token });
      expectStatus(again, 401, "sign_in_invalid");
    });

    it("a customer signs in by code, in the browser that requested it; their address is verified then", async () => {
      const email = address();
      await customer("cus-code", email, { verified_at: null, last_seen_at: null });
      const browser = new Browser(service);
      const { code } = await requested(browser, email);
      const other = new Browser(service);
      expectStatus(await other.send("POST", "/auth/v1/session", { email, code }), 401, "sign_in_invalid");
      const typed = ` ${code.slice(0, 4)}-${code.slice(4)} `;
      const session = expectStatus(
        await browser.send("POST", "/auth/v1/session", { email: email.toUpperCase(), code: typed }),
        200,
      );
      assert.deepEqual([session["customer_id"], session["role"]], ["cus-code", "customer"]);
      expectStatus(await browser.send("POST", "/auth/v1/session", { email, code }), 401, "sign_in_invalid");
      const found = expectStatus(await manage("GET", "/manage/v1/customers/cus-code"), 200);
      assert.equal(found["is_verified"], true);
      await until("last_seen_at moves", async () => {
        return expectStatus(await manage("GET", "/manage/v1/customers/cus-code"), 200)["last_seen_at"] !== null || undefined;
      });
    });

    it("mail to customers is in their language, and has no other addressee", async () => {
      const [german, english] = [address(), address()];
      await customer(`cus-de-${engine}`, german);
      await service.store.importTanks([
        tankRecord(`tank-de-${engine}`, `cus-de-${engine}`, { location: { country: "Germany" } as never }),
      ]);
      await customer(`cus-en-${engine}`, english);
      const de = await requested(new Browser(service), german);
      assert.match(de.text, /Anmelden/);
      assert.match(String(de.received.parsed.subject), /Anmeldung/);
      assert.match((await requested(new Browser(service), english)).text, /Sign in/);
    });

    it("a link that is created for a customer opens that one only, once, and does not verify the address", async () => {
      const email = address();
      const userId = await createUser(service, "admin", email, clock);
      const ids = Array.from({ length: MAX_ACCOUNTS + 1 }, (_, i) => `cus-shared-${engine}-${100 + i}`);
      const shared = { email, verified_at: null, last_seen_at: null };
      await service.store.importCustomers(ids.map((id) => customerRecord(id, shared)));
      const [first = "", last = ""] = [ids[0], ids.at(-1)];
      const created = expectStatus(await manage("POST", `/manage/v1/customers/${last}/link`), 200);
      assert.deepEqual([created["user_id"], created["customer_id"]], [null, last]);
      const token = tokenIn(String(created["url"]));
      const browser = new Browser(service);
      for (const account of [first, userId]) {
        expectStatus(await browser.send("POST", "/auth/v1/session", { token, account }), 401, "sign_in_invalid");
      }
      const { accounts } = expectStatus(await browser.send("POST", "/auth/v1/sign-in/inspect", { token }), 200);
      assert.deepEqual(
        (accounts as { id: string }[]).map(({ id }) => id),
        [last],
      );
      const session = await browser.signInWith(token);
      assert.deepEqual([session["customer_id"], session["role"]], [last, "customer"]);
      expectStatus(await new Browser(service).send("POST", "/auth/v1/session", { token }), 401, "sign_in_invalid");
      const seen = await until("last_seen_at moves", async () => {
        const found = expectStatus(await manage("GET", `/manage/v1/customers/${last}`), 200);
        return found["last_seen_at"] === null ? undefined : found;
      });
      assert.equal(seen["is_verified"], false);
      const { data } = expectStatus(await manage("GET", `/manage/v1/audit?type=customer&id=${last}`), 200);
      assert.deepEqual(
        (data as { action: string; changes: object }[]).map(({ action, changes }) => [action, changes]).slice(0, 2),
        [
          ["signed_in", { session: { from: null, to: session["id"] } }],
          ["link_created", {}],
        ],
      );
    });

    it("a link for a customer is invalid once the customer is deleted, and none is created then", async () => {
      const id = `cus-deleted-${engine}`;
      await customer(id, address());
      const token = await linkFor(service, id, clock, "customer");
      expectStatus(await manage("DELETE", `/manage/v1/customers/${id}`), 200);
      expectStatus(await new Browser(service).send("POST", "/auth/v1/session", { token }), 401, "sign_in_invalid");
      expectStatus(await manage("POST", `/manage/v1/customers/${id}/link`), 409, "state_conflict");
      expectStatus(await manage("POST", "/manage/v1/customers/nobody/link"), 404, "customer_unknown");
    });

    it("a link, and requests that scanners make with it, change nothing until somebody signs in", async () => {
      const email = address();
      await createUser(service, "viewer", email, clock);
      const requesting = new Browser(service);
      const { token } = await requested(requesting, email);
      for (const method of ["GET", "HEAD"]) await new Browser(service).send(method, `/sign-in?token=${token}`);
      // A scanner that runs the scripts of the page looks the link up.
      const scanner = new Browser(service);
      for (let i = 0; i < 3; i++) {
        const seen = expectStatus(await scanner.send("POST", "/auth/v1/sign-in/inspect", { token }), 200);
        assert.deepEqual([seen["same_browser"], seen["email"]], [false, email]);
      }
      expectStatus(await me(scanner), 401, "session_missing");
      const seen = expectStatus(await requesting.send("POST", "/auth/v1/sign-in/inspect", { token }), 200);
      assert.equal(seen["same_browser"], true);
      assert.deepEqual(
        (seen["accounts"] as { role: string }[]).map(({ role }) => role),
        ["viewer"],
      );
      await requesting.signInWith(token);
      expectStatus(await scanner.send("POST", "/auth/v1/sign-in/inspect", { token }), 401, "sign_in_invalid");
    });

    it("link and code are invalid after ten minutes", async () => {
      const email = address();
      await createUser(service, "viewer", email, clock);
      const browser = new Browser(service);
      const { token, code } = await requested(browser, email);
      forward(SIGN_IN_LINK_LIFETIME_MS - 1);
      expectStatus(await browser.send("POST", "/auth/v1/sign-in/inspect", { token }), 200);
      forward(1);
      for (const proof of [{ token }, { email, code }]) {
        expectStatus(await browser.send("POST", "/auth/v1/session", proof), 401, "sign_in_invalid");
      }
      expectStatus(await browser.send("POST", "/auth/v1/sign-in/inspect", { token }), 401, "sign_in_invalid");
    });

    it("link and code are invalid while the clock is more than ten minutes behind the time of the request", async () => {
      const email = address();
      await createUser(service, "viewer", email, clock);
      const browser = new Browser(service);
      const { token, code } = await requested(browser, email);
      forward(-SIGN_IN_LINK_LIFETIME_MS - 1);
      for (const proof of [{ token }, { email, code }]) {
        expectStatus(await browser.send("POST", "/auth/v1/session", proof), 401, "sign_in_invalid");
      }
      forward(1);
      await browser.signInWith(token);
      forward(SIGN_IN_LINK_LIFETIME_MS);
    });

    it("a code is invalid after five wrong ones; the link is not", async () => {
      const email = address();
      await createUser(service, "viewer", email, clock);
      const browser = new Browser(service);
      const { token, code } = await requested(browser, email);
      const wrong = (n: number) => String((Number(code) + n) % 100_000_000).padStart(8, "0");
      for (let n = 1; n <= 5; n++) {
        expectStatus(await browser.send("POST", "/auth/v1/session", { email, code: wrong(n) }), 401, "sign_in_invalid");
      }
      expectStatus(await browser.send("POST", "/auth/v1/session", { email, code }), 401, "sign_in_invalid");
      await browser.signInWith(token);
    });

    it("wrong codes of others do not invalidate it", async () => {
      const email = address();
      await createUser(service, "viewer", email, clock);
      const [browser, attacker] = [new Browser(service), new Browser(service)];
      const { code } = await requested(browser, email);
      await requested(attacker, email);
      for (let n = 0; n < 8; n++) {
        expectStatus(await attacker.send("POST", "/auth/v1/session", { email, code: `0000000${n}` }), 401, "sign_in_invalid");
      }
      expectStatus(await browser.send("POST", "/auth/v1/session", { email, code }), 200);
    });

    it("a link is invalid when the address changes, and opens no account that no longer has the address", async () => {
      const [before, now] = [address(), address()];
      const id = await createUser(service, "viewer", before, clock);
      await customer(`cus-moved-${engine}`, before);
      const browser = new Browser(service);
      const { token } = await requested(browser, before);
      const forUser = await linkFor(service, id, clock);
      const forCustomer = await linkFor(service, `cus-moved-${engine}`, clock, "customer");
      expectStatus(await manage("PATCH", `/manage/v1/users/${id}`, { email: now }), 200);
      expectStatus(await manage("PATCH", `/manage/v1/customers/cus-moved-${engine}`, { email: now }), 200);
      for (const one of [token, forUser, forCustomer]) {
        expectStatus(await browser.send("POST", "/auth/v1/session", { token: one }), 401, "sign_in_invalid");
      }
    });

    it("several accounts with one address: the person chooses, and the link is not used up before", async () => {
      const email = address();
      const userId = await createUser(service, "admin", email, clock);
      await customer(`cus-a-${engine}`, email, { name: "Mill" });
      await customer(`cus-b-${engine}`, email, { name: "Barn" });
      await customer(`cus-gone-${engine}`, email, { deleted: true });
      await customer(`cus-other-${engine}`, address());
      const browser = new Browser(service);
      const { token } = await requested(browser, email);
      for (let i = 0; i < 2; i++) {
        const choice = await browser.signInWith(token);
        assert.equal(choice["object"], "account_choice");
        const accounts = choice["accounts"] as { id: string; type: string; role: string }[];
        assert.deepEqual(
          accounts.map(({ id, type, role }) => [id, type, role]).sort(),
          [
            [userId, "user", "admin"],
            [`cus-a-${engine}`, "customer", "customer"],
            [`cus-b-${engine}`, "customer", "customer"],
          ].sort(),
        );
      }
      for (const id of [`cus-gone-${engine}`, `cus-other-${engine}`, "nothing"]) {
        expectStatus(await browser.send("POST", "/auth/v1/session", { token, account: id }), 401, "sign_in_invalid");
      }
      const session = await browser.signInWith(token, `cus-b-${engine}`);
      assert.deepEqual([session["customer_id"], session["name"]], [`cus-b-${engine}`, "Barn"]);
      expectStatus(await browser.send("POST", "/auth/v1/session", { token, account: userId }), 401, "sign_in_invalid");
    });

    it("known and unknown addresses get the same responses, and wrong codes for both are the same", async () => {
      const [known, unknown] = [address(), address()];
      await createUser(service, "viewer", known, clock);
      const comparable = ({ status, headers, body }: Awaited<ReturnType<Browser["send"]>>) => {
        const { "x-request-id": _, date: __, "set-cookie": cookies = [], ...rest } = headers;
        const { request_id, email, ...fields } = body;
        return { status, headers: { ...rest, cookies: cookies.map((one) => one.replace(/tm_\w+/, "…")) }, fields };
      };
      const seen = [];
      for (const email of [known, unknown]) {
        const browser = new Browser(service);
        const responses = [await responseOnceStored(browser, email)];
        for (let n = 0; n < 7; n++) {
          responses.push(await browser.send("POST", "/auth/v1/session", { email, code: `1234567${n}` }));
        }
        seen.push(responses.map(comparable));
      }
      assert.deepEqual(seen[0], seen[1]);
      await until("one mail arrives", async () => mailsTo(known).length > 0 || undefined, 20_000);
      assert.deepEqual([mailsTo(known).length, mailsTo(unknown).length], [1, 0]);
    });

    it("wrong codes make the same calls of the store for known and unknown addresses", async () => {
      const [known, unknown] = [address(), address()];
      await createUser(service, "viewer", known, clock);
      const calls: string[][] = [];
      for (const email of [known, unknown]) {
        const browser = new Browser(service);
        expectStatus(await responseOnceStored(browser, email), 202);
        const before = service.events.length;
        expectStatus(await browser.send("POST", "/auth/v1/session", { email, code: "12345678" }), 401, "sign_in_invalid");
        calls.push(
          service.events.slice(before).flatMap((event) => {
            if (isCommand(event)) return ["execute"];
            return event.kind === "query_completed" && /^(user|session|signIn|customersWithEmail)/.test(event.query)
              ? [event.query]
              : [];
          }),
        );
      }
      assert.deepEqual(calls, [
        ["signInsOf", "execute"],
        ["signInsOf", "execute"],
      ]);
    });

    it("no secret is stored, logged, exported or in the audit log", async () => {
      const email = address();
      await createUser(service, "viewer", email, clock);
      const browser = new Browser(service);
      const { token, code } = await requested(browser, email);
      await browser.signInWith(token);
      const id = `cus-secret-${engine}`;
      await customer(id, address());
      const headers = { "Idempotency-Key": `link-${engine}` };
      const { url } = expectStatus(await manage("POST", `/manage/v1/customers/${id}/link`, undefined, headers), 200);
      const secrets = [token, code, tokenIn(String(url)), ...browser.cookies.values()];
      const audit = expectStatus(await manage("GET", "/manage/v1/audit?size=100"), 200);
      const notifications = expectStatus(await manage("GET", "/manage/v1/notifications?size=100"), 200);
      const exported = JSON.stringify(await Array.fromAsync(service.store.exportRecords()));
      const tables = ["sign_in", "session", "notification", "audit", "idempotency", "app_user", "service_state"];
      const stored = await Promise.all(tables.map((table) => sql(`SELECT * FROM ${table}`)));
      const text = JSON.stringify([audit, notifications, service.events, stored]) + exported;
      for (const secret of secrets) assert.ok(!text.includes(secret));
      assert.ok(!exported.includes(email), "users are not exported");
    });

    it("signing in and out is in the audit log", async () => {
      const email = address();
      const id = await createUser(service, "viewer", email, clock);
      const browser = new Browser(service);
      const session = await browser.signInWith((await requested(browser, email)).token);
      expectStatus(await browser.send("DELETE", "/auth/v1/session"), 200);
      const { data } = expectStatus(await manage("GET", `/manage/v1/audit?type=user&id=${id}`), 200);
      assert.deepEqual(
        (data as { by: string; action: string; changes: object }[])
          .map(({ by, action, changes }) => [by, action, changes])
          .slice(0, 2),
        [
          [id, "signed_out", { session: { from: session["id"], to: null } }],
          ["sign-in link", "signed_in", { session: { from: null, to: session["id"] } }],
        ],
      );
    });

    it("a session that ends because another account signs in in the same browser is in the audit log", async () => {
      const [first, second] = [
        await createUser(service, "viewer", address(), clock),
        await createUser(service, "viewer", address(), clock),
      ];
      const browser = new Browser(service);
      const replaced = await browser.signInWith(await linkFor(service, first, clock));
      await browser.signInWith(await linkFor(service, second, clock));
      const { data } = expectStatus(await manage("GET", `/manage/v1/audit?type=user&id=${first}&size=1`), 200);
      const [{ by, action, changes } = assert.fail()] = data as { by: string; action: string; changes: object }[];
      assert.deepEqual([by, action, changes], ["sign-in link", "signed_out", { session: { from: replaced["id"], to: null } }]);
    });
  });
}
