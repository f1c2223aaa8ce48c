// Signing in and out in a real browser, with a real mail server.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Browser, createUser, linkFor } from "../support/browser.ts";
import { openBrowser } from "../support/chromium.ts";
import { freePort } from "../support/free-port.ts";
import { startMailServer } from "../support/mail-server.ts";
import { startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { openDashboard, overflow, PHONE, seriousViolations } from "./support.ts";

// For the test of another host than loopback.
const browser = await openBrowser(["--host-resolver-rules=MAP tanks.lan 127.0.0.1"]);
after(() => browser?.close());
const mails = await startMailServer({ after });
const port = String(await freePort());
const url = `http://127.0.0.1:${port}`;
const mail = { SMTP_URL: mails.url, MAIL_FROM: "tanks@operator.example", PUBLIC_URL: url };
const service = await startService({ after }, { environment: { ...mail, PORT: port, RATE_LIMIT: "0" } });
const userId = await createUser(service, "admin", "dana@operator.example");

const NO_ALERTS = { low: 0, runs_low_soon: 0, leak: 0, silent: 0 };
const THREE_OPEN_ALERTS = { object: "alert_counts", open: { ...NO_ALERTS, low: 3 }, acknowledged: NO_ALERTS };

/** The text of the next mail after `action`. */
async function mailAfter(action: () => Promise<void>): Promise<string> {
  const before = mails.received.length;
  await action();
  const received = await until("the mail arrives", async () => mails.received[before], 20_000);
  return received.parsed.text ?? "";
}

test("with a code, also after a reload: the person comes back to where they were, and signs out", async (t) => {
  const opened = await openDashboard(t, browser, service, undefined, "/?search=hall", { viewport: PHONE });
  if (opened === undefined) return;
  const { page } = opened;
  const address = page.getByLabel("E-mail address");
  await address.fill("nobody@operator.example");
  assert.deepEqual([await seriousViolations(page), await overflow(page)], [[], 0]);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText(/is known here/).waitFor();
  await page.getByRole("button", { name: /another address/ }).click();
  await address.fill("DANA@operator.example");
  const text = await mailAfter(() => page.getByRole("button", { name: "Continue" }).click());
  const [, code = ""] = /requested the e-mail: (\d{4} \d{4})/.exec(text) ?? [];
  const field = page.getByLabel("8-digit code");
  await field.waitFor();
  await page.reload();
  await page.getByText("DANA@operator.example").waitFor();
  await field.fill("00000000");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").waitFor();
  await field.fill(code);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(`${url}/?search=hall`);
  await page.getByRole("heading", { name: "Fleet" }).waitFor();
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL(`${url}/sign-in`);
  await page.goto(url);
  await page.waitForURL(/\/sign-in\?return=%2F/);
  await address.waitFor();
});

test("with the link of a mail: at once in the browser that requested it, with a click elsewhere, and only once; signs out", async (t) => {
  const opened = await openDashboard(t, browser, service, undefined, "/sign-in");
  if (opened === undefined) return;
  const { page } = opened;
  await page.getByLabel("E-mail address").fill("dana@operator.example");
  const text = await mailAfter(() => page.getByRole("button", { name: "Continue" }).click());
  const [link = ""] = /http\S+#token=\S+/.exec(text) ?? [];
  await page.goto(link);
  await page.getByRole("heading", { name: "Fleet" }).waitFor();
  assert.equal(new URL(page.url()).hash, "");
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL(`${url}/sign-in`);

  const other = await openDashboard(t, browser, service, undefined, link.slice(url.length));
  await other?.page.getByText("This link is not valid any more").waitFor();
  const fresh = await linkFor(service, userId);
  const elsewhere = await openDashboard(t, browser, service, undefined, `/sign-in#token=${fresh}`);
  await elsewhere?.page.getByRole("button", { name: /Sign in as The admin/ }).waitFor();
  assert.deepEqual(elsewhere && (await seriousViolations(elsewhere.page)), []);
  await elsewhere?.page.getByRole("button", { name: /Sign in as The admin/ }).click();
  await elsewhere?.page.getByRole("heading", { name: "Fleet" }).waitFor();
});

test("without a mouse, each step has the focus in its field; where several accounts have the address, the person chooses", async (t) => {
  await createUser(service, "viewer", "shared@operator.example");
  const { store } = service;
  const { customerRecord } = await import("../support/records.ts");
  await store.importCustomers([customerRecord("cus-shared", { email: "shared@operator.example", name: "Shared GmbH" })]);
  const opened = await openDashboard(t, browser, service, undefined, "/sign-in");
  if (opened === undefined) return;
  const { page } = opened;
  const focused = () => page.evaluate<string | undefined>("document.activeElement.labels?.[0]?.textContent");
  const fieldHasFocus = (label: string) => until(`"${label}" has the focus`, async () => (await focused()) === label);
  await fieldHasFocus("E-mail address");
  await page.keyboard.type("nobody@operator.example\n");
  await fieldHasFocus("8-digit code");
  await page.keyboard.type("00000000\n");
  await page.getByRole("alert").waitFor();
  await fieldHasFocus("8-digit code");
  await page.getByRole("button", { name: /another address/ }).click();
  await fieldHasFocus("E-mail address");
  assert.equal(await page.getByRole("alert").count(), 0, "no error of the step before");

  await page.getByLabel("E-mail address").fill("shared@operator.example");
  const text = await mailAfter(() => page.getByRole("button", { name: "Continue" }).click());
  const [, code = ""] = /requested the e-mail: (\d{4} \d{4})/.exec(text) ?? [];
  for (const [typed, message] of [
    [code.slice(1), "The code has eight digits."],
    [code.replaceAll(/\d/g, (digit) => String(9 - Number(digit))), "This code is wrong, or not valid any more. Compare it"],
  ] as const) {
    await page.getByLabel("8-digit code").fill(typed);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").getByText(message).waitFor();
  }
  await page.getByLabel("8-digit code").fill(code);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Which account?" }).waitFor();
  await page.getByRole("button", { name: /Shared GmbH/ }).click();
  await page.getByText("Tanks appear here as soon as").waitFor();
});

test("after the session has ended, the page says so, and the person comes back to where they were", async (t) => {
  const opened = await openDashboard(t, browser, service, "dana@operator.example", "/?sort=silent");
  if (opened === undefined) return;
  const { page } = opened;
  await page.route("**/insight/v1/alerts/counts", (route) => route.fulfill({ json: THREE_OPEN_ALERTS }));
  await until("the title has the number of alerts", async () => (await page.title()) === "(3) Fleet · Tank Monitor");
  await page.unroute("**/insight/v1/alerts/counts");
  await page.context().clearCookies();
  await page.getByText("Your session has ended").waitFor();
  await until("the title has no alerts any more", async () => (await page.title()) === "Sign in · Tank Monitor");
  await page.evaluate(`location.hash = "token=${await linkFor(service, userId)}"`);
  await page.getByRole("button", { name: /Sign in as The admin/ }).click();
  await page.waitForURL(`${url}/?sort=silent`);
});

test("over plain HTTP on another host than loopback, the page says why signing in is rejected, and the link can still be used", async (t) => {
  const own = await startService(t, { environment: { RATE_LIMIT: "0" } });
  const token = await linkFor(own, await createUser(own, "admin"));
  const named = { ...own, url: own.url.replace("127.0.0.1", "tanks.lan") };
  const opened = await openDashboard(t, browser, named, undefined, `/sign-in#token=${token}`);
  if (opened === undefined) return;
  const { page } = opened;
  await page.getByText(`the operator of the service can set PUBLIC_URL=${named.url} instead`).waitFor();
  await page.goto(`${own.url}/sign-in#token=${token}`);
  await page.getByRole("button", { name: /Sign in as The admin/ }).click();
  await page.getByRole("heading", { name: "Fleet" }).waitFor();
});

test("after too many requests for mail, the page says when to try again", async (t) => {
  const limited = await startService(t);
  const opened = await openDashboard(t, browser, limited, undefined, "/sign-in");
  if (opened === undefined) return;
  const { page } = opened;
  const requestOne = () => new Browser(limited).send("POST", "/auth/v1/sign-in", { email: "nobody@operator.example" });
  await until("the requests are refused", async () => (await requestOne()).status === 429);
  await page.getByLabel("E-mail address").fill("dana@operator.example");
  await page.getByRole("button", { name: "Continue" }).click();
  const text = "Too many requests for sign-in mail from your network address. Try again in 3 minutes.";
  assert.equal(await page.getByRole("alert").innerText(), text);
});

test("a browser that keeps no cookies: the page says so", async (t) => {
  const opened = await openDashboard(t, browser, service, undefined, `/sign-in#token=${await linkFor(service, userId)}`);
  if (opened === undefined) return;
  const { page } = opened;
  await page.route("**/insight/v1/me", async (route) => {
    await page.context().clearCookies();
    await route.continue();
  });
  await page.getByRole("button", { name: /Sign in as The admin/ }).click();
  await page.getByRole("alert").getByText("Your browser has rejected the cookie").waitFor();
});
