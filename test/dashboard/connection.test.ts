// Without a network, without a session, or while the service is slow or responds with errors: what is on the page, what is typed and
// where the focus is stay, nothing false is shown, and the page goes on by itself.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { expectStatus } from "../http/client.ts";
import { openBrowser } from "../support/chromium.ts";
import { until } from "../support/until.ts";
import { openDashboard, startFleet } from "./support.ts";

const browser = await openBrowser();
after(() => browser?.close());
const fleet = await startFleet({ after });
const { email } = fleet;
// Without a tank that has a place there is no map.
expectStatus(await fleet.manage("PATCH", "/manage/v1/tanks/t1", { location: { latitude: 48, longitude: 7.8 } }), 200);

/** Holds requests until the result is called. */
async function hold(page: Page, url: RegExp): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(url, async (route) => {
    await promise;
    // The page may have aborted it.
    await route.continue().catch(() => {});
  });
  return resolve;
}

test("without a network, a screen that is not loaded yet shows an error, and the page stays; later it is loaded by itself", async (t) => {
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
  await page.locator(".map").waitFor();
});

test("a page that is opened while the service fails goes on by itself; an error that stays is announced once", async (t) => {
  const me = "**/insight/v1/me";
  const prepare = (page: Page) => page.route(me, (route) => route.fulfill({ status: 503 }));
  const opened = await openDashboard(t, browser, fleet, email.viewer, "/customers", { prepare });
  if (opened === undefined) return;
  const { page } = opened;
  await page.getByRole("heading", { name: "Something went wrong" }).waitFor();
  await page.unroute(me);
  await page.getByRole("link", { name: "Brenner Gas GmbH" }).waitFor();

  let failed = 0;
  const fail = () => {
    failed += 1;
    const body = { code: "internal", detail: "An error.", status: 500, request_id: `request-${failed}` };
    return { status: 500, contentType: "application/problem+json", body: JSON.stringify(body) };
  };
  await page.route(/\/manage\/v1\/devices/, (route) => route.fulfill(fail()));
  await page.getByRole("link", { name: "Devices" }).click();
  const id = page.getByText(/^Request request-/);
  const first = await id.innerText();
  await page.evaluate(`new MutationObserver(() => { window.announced = true }).observe(document.querySelector("[role=alert]"),
    { childList: true, characterData: true, subtree: true })`);
  await until("another attempt has failed", async () => (await id.innerText()) !== first, 20_000);
  assert.equal(await page.evaluate("window.announced"), undefined);
});

test("data that is damaged is an error where it is shown; the service is not called unreachable, and the rest goes on", async (t) => {
  const damaged = { code: "data_damaged", detail: "Stored data of this object is damaged.", status: 503 };
  const body = JSON.stringify({ ...damaged, request_id: "request-1" });
  const prepare = (page: Page) =>
    page.route(/\/series\?/, (route) => route.fulfill({ status: 503, contentType: "application/problem+json", body }));
  const opened = await openDashboard(t, browser, fleet, email.viewer, "/tanks/t1", { prepare });
  if (opened === undefined) return;
  const { page, requests } = opened;
  await page.getByText("Stored data of this object is damaged.").first().waitFor();
  const polls = () => requests.filter((url) => url.endsWith("/insight/v1/tanks/t1")).length;
  const before = polls();
  await until("it was requested three times more", () => polls() >= before + 3, 30_000);
  assert.equal(await page.getByText("has been unreachable").count(), 0);
});

test("Export waits until it is known how many tanks there are, and says if that fails", async (t) => {
  let release: (() => void) | undefined;
  const prepare = async (page: Page) => {
    release = await hold(page, /\/insight\/v1\/fleet\?/);
  };
  const opened = await openDashboard(t, browser, fleet, email.viewer, "/", { prepare });
  if (opened === undefined) return;
  const { page } = opened;
  const button = page.getByRole("button", { name: "Export" });
  await button.click();
  await until("it is busy", async () => (await button.getAttribute("aria-disabled")) === "true");
  release?.();
  await page.getByRole("dialog").getByRole("heading", { name: "Export 65 tanks" }).waitFor();
  await page.keyboard.press("Escape");
  await page.route(/\/insight\/v1\/fleet\?.*size=1$/, (route) => route.fulfill({ status: 503 }));
  await button.click();
  await page.getByRole("status").getByText("The response has the status 503").waitFor();
  assert.equal(await page.getByRole("dialog").count(), 0);
});

test("while a device is loaded, its button is busy; a list of choices says that it is loaded, and not that it is empty, also after an error", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.dispatcher, "/devices?view=others");
  if (opened === undefined) return;
  const { page } = opened;
  const dialog = page.getByRole("dialog");
  const release = await hold(page, /\/manage\/v1\/devices\/[^/?]+$/);
  const button = page.getByRole("button", { name: /^Set up/ }).first();
  await button.click();
  await until("it is busy", async () => (await button.getAttribute("aria-disabled")) === "true");
  release();
  await dialog.waitFor();
  await page.keyboard.press("Escape");
  await until("it has the focus", () => button.evaluate((element) => element.matches(":focus")));

  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(/\/insight\/v1\/fleet|\/manage\/v1\/customers/, async (route) => {
    await promise;
    await route.fulfill({ status: 403 });
  });
  await button.click();
  const options = dialog.locator(".picker-options");
  await options.getByText("Loading…").waitFor();
  resolve();
  await dialog.locator(".picker .error").waitFor();
  assert.doesNotMatch(await options.innerText(), /Loading|None yet|Nothing found/);
});

test("no key is lost while a search is applied, or while its result is loaded after one without a match", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.viewer);
  if (opened === undefined) return;
  const { page } = opened;
  const field = page.getByRole("searchbox");
  await field.waitFor();
  await page.evaluate(`{
    const replace = history.replaceState.bind(history);
    history.replaceState = (...given) => {
      replace(...given);
      history.replaceState = replace;
      const input = document.getElementById("search");
      input.value += "7";
      input.dispatchEvent(new Event("input"));
    };
  }`);
  await field.fill("device-");
  await page.getByText("1 tank found").waitFor();
  assert.equal(await field.inputValue(), "device-7");

  await field.fill("nothing like it");
  await page.getByText("No tank matches").waitFor();
  const release = await hold(page, /\/insight\/v1\/fleet/);
  await field.fill("");
  await page.waitForURL((url) => url.search === "");
  await page.getByText("Loading…").waitFor();
  assert.equal(await page.getByText("No tanks yet").count(), 0);
  await page.keyboard.type("device-7");
  assert.equal(await field.inputValue(), "device-7");
  release();
  await page.getByText("1 tank found").waitFor();
});

test("the heading of a new screen keeps the focus when its data arrives; no list says that it is empty while it is loaded", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.viewer);
  if (opened === undefined) return;
  const { page } = opened;
  const focused = () => page.evaluate<string>("document.activeElement.localName + ' ' + document.activeElement.textContent");
  // The map is loaded on demand: only then has it a heading at once.
  await page.getByRole("link", { name: "Map" }).click();
  await page.locator(".map").waitFor();
  for (const [link, request, before, loaded, title] of [
    ["Fleet", /fleet/, "Fleet", ".fleet", "Fleet"],
    ["Tank 1", /tanks\/t1$/, "Tank", ".figures", "Tank 1"],
    ["Brenner Gas GmbH", /customers\/c1$/, "Customer", ".facts", "Brenner Gas GmbH"],
    ["Map", /insight\/v1\/map$/, "Map", ".map", "Map"],
  ] as const) {
    const release = await hold(page, request);
    await page.getByRole("link", { name: link, exact: true }).first().click();
    await until(`the heading of ${title} has the focus`, async () => (await focused()) === `h1 ${before}`);
    release();
    await page.locator(loaded).first().waitFor();
    assert.equal(await focused(), `h1 ${title}`);
  }

  await page.getByRole("link", { name: /^Alerts/ }).click();
  await page.getByRole("link", { name: "Acknowledged" }).click();
  await page.getByText("No acknowledged alerts").waitFor();
  const release = await hold(page, /\/insight\/v1\/alerts\?.*state=open/);
  await page.getByRole("link", { name: "Open", exact: true }).click();
  await page.getByText("Loading…").waitFor();
  assert.equal(await page.getByText("No open alerts").count(), 0);
  release();
  await page.getByText("3 alerts").waitFor();
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
