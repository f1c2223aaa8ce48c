// The cookie of a session: how it is set, and which cookies are none.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { newSecret } from "../../src/domain/key.ts";
import { SESSION_LIFETIME_MS } from "../../src/domain/session.ts";
import { Browser, createUser, linkFor, signedInAs } from "../support/browser.ts";
import { startService } from "../support/service.ts";
import { expectError, expectStatus, send } from "./client.ts";

const COOKIE = "tank_monitor_session";

type Running = Awaited<ReturnType<typeof startService>>;
const service: Running = await startService({ after }, { environment: { RATE_LIMIT: "0" } });

describe("the cookie", async () => {
  const https: Running = await startService(
    { after },
    { environment: { PUBLIC_URL: "https://tanks.example.com/fuel", RATE_LIMIT: "0" } },
  );
  const http: Running = await startService({ after }, { environment: { PUBLIC_URL: "http://192.168.1.5:8080" } });
  const signIn = async (to: Running, headers: Record<string, string | undefined>) => {
    const token = await linkFor(to, await createUser(to, "admin", `${newSecret().slice(3, 20)}@x.example`));
    const response = await new Browser(to, headers).send("POST", "/auth/v1/session", { token });
    expectStatus(response, 200);
    return String(response.headers["set-cookie"]);
  };

  it("is for this host alone, over https, and not for scripts; on loopback it has no prefix", async (t) => {
    const attributes = `; Path=/; Max-Age=${SESSION_LIFETIME_MS / 1000}; HttpOnly; SameSite=Lax`;
    assert.match(await signIn(service, {}), new RegExp(`^${COOKIE}=tm_\\w{36}${attributes}$`));
    for (const host of ["localhost:8080", "tanks.localhost", "[::1]:80"]) {
      assert.match(await signIn(service, { host }), new RegExp(`^${COOKIE}=tm_\\w{36}${attributes}$`), host);
    }
    // Behind a proxy with TLS the name of the host is another one.
    assert.match(
      await signIn(service, { host: "tanks.example.com" }),
      new RegExp(`^__Host-${COOKIE}=tm_\\w{36}${attributes}; Secure$`),
    );
    assert.match(await signIn(https, {}), new RegExp(`^__Host-${COOKIE}=tm_\\w{36}${attributes}; Secure$`));
    assert.match(await signIn(http, { host: "192.168.1.5:8080" }), new RegExp(`^${COOKIE}=tm_\\w{36}${attributes}$`));
    const proxied = await startService(t, { environment: { TRUST_PROXY: "loopback" } });
    assert.match(await signIn(proxied, { "x-forwarded-proto": "https" }), /^__Host-/);
  });

  it("without the prefix is not a session where there is https", async () => {
    const browser = await signedInAs(https, "admin");
    const secret = browser.cookies.get(`__Host-${COOKIE}`);
    assert.equal((await send(https, "/auth/v1/session", { headers: { cookie: `__Host-${COOKIE}=${secret}` } })).status, 200);
    expectError(await send(https, "/auth/v1/session", { headers: { cookie: `${COOKIE}=${secret}` } }), 401, "session_missing");
  });

  it("that a browser would reject, because the page was opened over plain HTTP, is not set, and the link can still be used", async () => {
    const id = await createUser(service, "admin", "lan@operator.example");
    const token = await linkFor(service, id);
    const plain = { host: "192.168.1.5:8080", origin: "http://192.168.1.5:8080", "sec-fetch-site": undefined };
    for (const [opened, remedy] of [
      [service, /Open it over https\..*PUBLIC_URL=http:\/\/192\.168\.1\.5:8080/],
      [https, /Open https:\/\/tanks\.example\.com\/fuel instead/],
    ] as const) {
      for (const [path, body] of [
        ["/auth/v1/sign-in", { email: "lan@operator.example" }],
        ["/auth/v1/sign-in/inspect", { token }],
        ["/auth/v1/session", { token }],
      ] as const) {
        const response = await new Browser(opened, plain).send("POST", path, body);
        assert.match(String(expectStatus(response, 403, "origin_not_allowed")["detail"]), remedy);
        assert.equal(response.headers["set-cookie"], undefined);
      }
    }
    await new Browser(service, { host: "tanks.example.com", origin: "https://tanks.example.com" }).signInWith(token);
    assert.doesNotMatch(await signIn(http, plain), /Secure/);
  });

  it("is new at every sign-in: one that was known before is not signed in, and ends", async () => {
    const id = await createUser(service, "admin", "fixed@operator.example");
    const planted = newSecret();
    const browser = new Browser(service);
    browser.cookies.set(COOKIE, planted);
    await browser.signInWith(await linkFor(service, id));
    const first = browser.cookies.get(COOKIE) ?? "";
    assert.notEqual(first, planted);
    expectError(await send(service, "/auth/v1/session", { headers: { cookie: `${COOKIE}=${planted}` } }), 401, "session_ended");
    await browser.signInWith(await linkFor(service, id));
    assert.notEqual(browser.cookies.get(COOKIE), first);
    expectError(await send(service, "/auth/v1/session", { headers: { cookie: `${COOKIE}=${first}` } }), 401, "session_ended");
    assert.equal((expectStatus(await browser.send("GET", "/auth/v1/sessions"), 200)["data"] as object[]).length, 1);
  });

  it("of another kind is ignored", async () => {
    for (const cookie of [`x${COOKIE}=${newSecret()}`, `${COOKIE.toUpperCase()}=1`, "=;;=", COOKIE, `${COOKIE}`]) {
      expectError(await send(service, "/auth/v1/session", { headers: { cookie } }), 401, "session_missing");
    }
  });
});
