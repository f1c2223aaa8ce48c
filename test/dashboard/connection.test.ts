// Without a network, without a session, or while the service responds with errors: what is on the page stays, and goes on by itself.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { openBrowser } from "../support/chromium.ts";
import { until } from "../support/until.ts";
import { openDashboard, startFleet } from "./support.ts";

const browser = await openBrowser();
after(() => browser?.close());
const fleet = await startFleet({ after });
const { email } = fleet;

test("without a network, a screen that is not loaded yet shows an error, and the page stays", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.viewer);
  if (opened === undefined) return;
  const { page } = opened;
  await page.getByRole("link", { name: "Tank 1", exact: true }).waitFor();
  await page.context().setOffline(true);
  await page.getByRole("link", { name: "Map" }).click();
  const error = page.getByRole("alert").filter({ hasText: "could not be reached" });
  await error.waitFor();
  const retry = page.getByRole("button", { name: "Try again" });
  await retry.click();
  await error.waitFor();
  await page.getByRole("link", { name: "Fleet" }).click();
  await page.getByRole("heading", { level: 1, name: "Fleet" }).waitFor();
  await page.getByRole("link", { name: "Map" }).click();
  await retry.waitFor();
  await page.context().setOffline(false);
  await retry.click();
  await page.locator(".map").waitFor();
});

test("an error that stays is announced once", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.viewer, "/account");
  if (opened === undefined) return;
  const { page } = opened;
  let failed = 0;
  const fail = () => {
    failed += 1;
    const body = { code: "internal", detail: "An error.", status: 500, request_id: `request-${failed}` };
    return { status: 500, contentType: "application/problem+json", body: JSON.stringify(body) };
  };
  await page.route(/\/manage\/v1\/customers/, (route) => route.fulfill(fail()));
  await page.getByRole("link", { name: "Customers" }).click();
  const id = page.getByText(/^Request request-/);
  const first = await id.innerText();
  await page.evaluate(`new MutationObserver(() => { window.announced = true }).observe(document.querySelector("[role=alert]"),
    { childList: true, characterData: true, subtree: true })`);
  await until("another attempt has failed", async () => (await id.innerText()) !== first, 20_000);
  assert.equal(await page.evaluate("window.announced"), undefined);
});

test("a page that is opened while the service fails goes on by itself", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.viewer, "/customers");
  if (opened === undefined) return;
  const { page } = opened;
  await page.route("**/insight/v1/me", (route) => route.fulfill({ status: 503 }));
  await page.reload();
  await page.getByRole("heading", { name: "Something went wrong" }).waitFor();
  await page.unroute("**/insight/v1/me");
  await page.getByRole("link", { name: "Brenner Gas GmbH" }).waitFor();
});

test("a list of choices says that it is loaded, and not that it is empty, also after an error", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.admin, "/keys");
  if (opened === undefined) return;
  const { page } = opened;
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(/\/insight\/v1\/fleet|\/manage\/v1\/customers/, async (route) => {
    await promise;
    await route.fulfill({ status: 403 });
  });
  await page.getByRole("link", { name: "Devices" }).click();
  await page.getByRole("link", { name: "Others" }).click();
  await page
    .getByRole("button", { name: /^Set up/ })
    .first()
    .click();
  const options = page.getByRole("dialog").locator(".picker-options");
  await options.getByText("Loading…").waitFor();
  resolve();
  await page.getByRole("dialog").locator(".picker .error").waitFor();
  assert.doesNotMatch(await options.innerText(), /Loading|None yet|Nothing found/);
});

test("while a device is loaded, its button is busy, and has the focus again afterwards", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.dispatcher, "/devices?view=others");
  if (opened === undefined) return;
  const { page } = opened;
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(/\/manage\/v1\/devices\/[^/?]+$/, async (route) => {
    await promise;
    await route.continue();
  });
  const button = page.getByRole("button", { name: /^Set up/ }).first();
  await button.click();
  await until("it is busy", async () => (await button.getAttribute("aria-disabled")) === "true");
  resolve();
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await until("it has the focus", () => button.evaluate((element) => element.matches(":focus")));
});

test("a form stays open when the session ends, and can be sent after signing in again in another tab", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.dispatcher, "/customers/c1");
  if (opened === undefined) return;
  const { page } = opened;
  await page.getByRole("button", { name: "Edit" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Phone").fill("+49 30 5551");
  const cookies = await page.context().cookies();
  await page.context().clearCookies();
  await dialog.getByText("Your session has ended").waitFor();
  assert.equal(await dialog.getByRole("link", { name: "Sign in" }).getAttribute("target"), "_blank");
  await page.context().addCookies(cookies);
  await dialog.getByText("Your session has ended").waitFor({ state: "detached" });
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByRole("link", { name: "+49 30 5551" }).waitFor();

  await page.getByRole("button", { name: "Edit" }).click();
  await page.context().clearCookies();
  await dialog.getByText("Your session has ended").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.waitForURL(/\/sign-in\?return=/);
});
