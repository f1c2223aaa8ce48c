// Signing in while the service cannot be reached for a moment: the link of the mail, and the address, are not lost.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { createUser, linkFor } from "../support/browser.ts";
import { openBrowser } from "../support/chromium.ts";
import { startService } from "../support/service.ts";
import { expectFits } from "./expect-good.ts";
import { openDashboard, PHONE, seriousViolations } from "./support.ts";

const browser = await openBrowser();
after(() => browser?.close());
const service = await startService({ after }, { environment: { RATE_LIMIT: "0" } });
const userId = await createUser(service, "admin", "dana@operator.example");

const UNAVAILABLE = {
  status: 503,
  headers: { "retry-after": "600" },
  json: { code: "store_unavailable", detail: "The database cannot be reached." },
};

test("a link that could not be opened is tried again, also without a mouse", async (t) => {
  const opened = await openDashboard(t, browser, service, undefined, `/sign-in#token=${await linkFor(service, userId)}`, {
    viewport: PHONE,
    prepare: (page) => page.route("**/auth/v1/sign-in/inspect", (route) => route.abort()),
  });
  if (opened === undefined) return;
  const { page } = opened;
  const tryAgain = page.getByRole("button", { name: "Try again" });
  await page.locator("button:focus", { hasText: "Try again" }).waitFor();
  await page.getByRole("alert").waitFor();
  assert.deepEqual(await seriousViolations(page), []);
  await page.unroute("**/auth/v1/sign-in/inspect");
  await page.route("**/auth/v1/sign-in/inspect", (route) => route.fulfill(UNAVAILABLE));
  await page.keyboard.press("Enter");
  await page.getByText("The database cannot be reached.").waitFor();
  await page.unroute("**/auth/v1/sign-in/inspect");
  await tryAgain.click();
  await page.getByRole("button", { name: /Sign in as The admin/ }).click();
  await page.getByRole("heading", { name: "Fleet" }).waitFor();
});

test("an account that could not be chosen can be chosen again, until the link is invalid", async (t) => {
  const token = await linkFor(service, userId);
  const other = await openDashboard(t, browser, service, undefined, `/sign-in#token=${token}`);
  const opened = await openDashboard(t, browser, service, undefined, `/sign-in#token=${token}`);
  if (opened === undefined || other === undefined) return;
  const { page } = opened;
  const account = page.getByRole("button", { name: /Sign in as The admin/ });
  await other.page.getByRole("button", { name: /Sign in as The admin/ }).waitFor();
  await account.waitFor();
  await page.route("**/auth/v1/session", (route) => route.abort());
  await account.click();
  await page.getByRole("alert").waitFor();
  await page.unroute("**/auth/v1/session");
  await account.click();
  await page.getByRole("heading", { name: "Fleet" }).waitFor();
  await other.page.getByRole("button", { name: /Sign in as The admin/ }).click();
  await other.page.getByRole("alert").getByText("This link is not valid any more").waitFor();
  assert.equal(await other.page.getByLabel("E-mail address").inputValue(), "dana@operator.example");
});

test("a person whose session could not be loaded at once is signed in nevertheless", async (t) => {
  const opened = await openDashboard(t, browser, service, undefined, `/sign-in#token=${await linkFor(service, userId)}`);
  if (opened === undefined) return;
  const { page } = opened;
  await page.route("**/insight/v1/me", (route) => route.abort());
  await page.getByRole("button", { name: /Sign in as The admin/ }).click();
  await page.getByRole("button", { name: "Try again" }).waitFor();
  await page.unroute("**/insight/v1/me");
  await page.getByRole("heading", { name: "Fleet" }).waitFor();
});

test("to send the e-mail again, the address is not typed again", async (t) => {
  const opened = await openDashboard(t, browser, service, undefined, "/sign-in");
  if (opened === undefined) return;
  const { page } = opened;
  await page.route("**/auth/v1/sign-in", (route) => route.fulfill({ status: 202, json: { object: "sign_in_request" } }));
  await page.getByLabel("E-mail address").fill("nobody@operator.example");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("button", { name: /send the e-mail again/ }).click();
  assert.equal(await page.getByLabel("E-mail address").inputValue(), "nobody@operator.example");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText("nobody@operator.example", { exact: true }).waitFor();
  await expectFits(opened);
});

test("a service without mail does not say that an e-mail is sent", async (t) => {
  const opened = await openDashboard(t, browser, service, undefined, "/sign-in");
  if (opened === undefined) return;
  const { page } = opened;
  const hint = page.getByText("You get an e-mail with a link and a code.");
  await hint.waitFor();
  await page.getByLabel("E-mail address").fill("dana@operator.example");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("alert").getByText("This service cannot send mail.").waitFor();
  assert.equal(await hint.count(), 0);
});
