// Pages of other servers, in the browser of somebody who is signed in. One differs in the port: browsers call it the same site, and
// send the cookie along. One differs in the host name. Neither changes anything, reads anything, or signs anybody in or out.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { expectStatus, jsonClient } from "../http/client.ts";
import { createUser, linkFor } from "../support/browser.ts";
import { openBrowser } from "../support/chromium.ts";
import { freePort } from "../support/free-port.ts";
import { customerRecord, tankRecord } from "../support/records.ts";
import { startService } from "../support/service.ts";
import { openDashboard } from "./support.ts";

const browser = await openBrowser();
after(() => browser?.close());

const other = createServer((_request, response) =>
  response.setHeader("content-type", "text/html").end("<!doctype html><p>Hello"),
);
other.listen(0, "127.0.0.1");
await once(other, "listening");
after(() => other.close());
const otherPort = (other.address() as AddressInfo).port;
const SAME_SITE = `http://127.0.0.1:${otherPort}`;
const CROSS_SITE = `http://localhost:${otherPort}`;

// Even one that may use the interface with keys.
const environment = { PORT: String(await freePort()), CORS_ORIGINS: SAME_SITE };
const service = await startService({ after }, { environment });
const manage = jsonClient(service, await service.key({ role: "manage" }));
await service.store.importCustomers([customerRecord("c1", { name: "Brenner Gas GmbH" })]);
await service.store.importTanks([tankRecord("t1", "c1", { min_fill_alert_percentage: 20 })]);
const admin = await createUser(service, "admin", "admin@operator.example");
const attacker = await createUser(service, "viewer", "attacker@operator.example");

const SIMPLE_TYPES = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"];

type Attempt = { readonly method: string; readonly path: string; readonly body: unknown };
const CREATION: Attempt = {
  ...{ method: "POST", path: "/manage/v1/customers" },
  body: { name: "Injected", email: "injected@evil.example" },
};
const WRITES: readonly Attempt[] = [
  CREATION,
  { method: "PATCH", path: "/manage/v1/tanks/t1", body: { min_fill_alert_percentage: 99 } },
  { method: "DELETE", path: "/manage/v1/tanks/t1", body: undefined },
  { method: "DELETE", path: "/auth/v1/session", body: undefined },
];

/** All that a write would change: each adds an audit entry. */
async function stored(): Promise<unknown> {
  const read = async (path: string) => expectStatus(await manage("GET", path), 200);
  const sessions = await read(`/manage/v1/users/${admin}/sessions`);
  return [(await read("/manage/v1/audit?size=1"))["total_items"], await read("/manage/v1/tanks/t1"), sessions["total_items"]];
}

/** What the script of a page learns of a request that it sends with cookies. */
function fetchIn(page: Page, { method, path, body }: Attempt, mode: "cors" | "no-cors", type: string): Promise<string> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  return page.evaluate(
    async ([url, init]) => {
      try {
        const response = await fetch(url, init);
        return `${response.type} ${response.status} ${await response.text()}`;
      } catch (error) {
        return `${error}`;
      }
    },
    [
      service.url + path,
      { method, mode, credentials: "include", ...(text === undefined ? {} : { headers: { "content-type": type }, body: text }) },
    ] as const,
  );
}

/** Sends a form, as a click on a link in a mail could. With text/plain, its body is JSON. */
async function submitForm(page: Page, { path, body }: Attempt, enctype: string): Promise<string> {
  const text = JSON.stringify(body);
  const [name, value] = enctype === "text/plain" ? [`${text.slice(0, -1)},"x":"`, '"}'] : ["json", text];
  const loaded = page.waitForURL(service.url + path);
  await page.evaluate(`const form = document.createElement("form");
    Object.assign(form, ${JSON.stringify({ method: "post", action: service.url + path, enctype })});
    form.append(Object.assign(document.createElement("input"), ${JSON.stringify({ name, value })}));
    document.body.append(form);
    form.submit();`);
  await loaded;
  return page.locator("body").innerText();
}

/** Of the service's responses to POST since the last call. */
function statuses(): number[] {
  return service.events
    .splice(0)
    .flatMap((event) => (event.kind === "request_completed" && event.method === "POST" ? [event.status] : []));
}

for (const [origin, isSameSite] of [
  [SAME_SITE, true],
  [CROSS_SITE, false],
] as const) {
  test(`a page of another ${isSameSite ? "port" : "host"} writes nothing, reads nothing, and signs nobody in or out`, async (t) => {
    const opened = await openDashboard(t, browser, service, undefined, `/sign-in#token=${await linkFor(service, admin)}`);
    if (opened === undefined) return;
    const { page } = opened;
    await page.getByRole("button", { name: "Sign in as" }).click();
    await page.getByRole("heading", { name: "Fleet" }).waitFor();
    const signIn: Attempt = { method: "POST", path: "/auth/v1/session", body: { token: await linkFor(service, attacker) } };
    const cookies = await page.context().cookies();
    const before = await stored();

    await page.goto(origin);
    statuses();
    for (const attempt of [...WRITES, signIn]) {
      const sent = await fetchIn(page, attempt, "cors", "application/json");
      assert.match(sent, /^TypeError/, `${attempt.method} ${attempt.path}`);
    }
    for (const attempt of [CREATION, signIn]) {
      for (const type of SIMPLE_TYPES) {
        assert.equal(await fetchIn(page, attempt, "no-cors", type), "opaque 0 ", type);
        assert.match(await fetchIn(page, attempt, "cors", type), /^TypeError/, type);
        // Browsers send no Lax cookie with a form of another site.
        const code = isSameSite || attempt === signIn ? "origin_not_allowed" : "key_missing";
        assert.ok((await submitForm(page, attempt, type)).includes(code), type);
        await page.goto(origin);
      }
    }
    // Within a site the cookie is sent: without one, the status is 401.
    const expected = Array.from({ length: 18 }, (_, i) => (isSameSite || i >= 9 ? 403 : 401));
    assert.deepEqual(statuses(), expected);

    const read = { method: "GET", path: "/insight/v1/me", body: undefined };
    assert.match(await fetchIn(page, read, "cors", ""), /^TypeError/);
    assert.equal(await fetchIn(page, read, "no-cors", ""), "opaque 0 ");
    assert.deepEqual([await stored(), await page.context().cookies()], [before, cookies]);

    // From a page of the service, the same requests succeed.
    await page.goto(service.url);
    assert.match(await fetchIn(page, CREATION, "cors", "application/json"), /^basic 201 /);
    assert.match(await fetchIn(page, signIn, "cors", "application/json"), /^basic 200 .*attacker@/);
  });
}
