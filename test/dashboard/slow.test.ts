// While the service is slow: what is typed and where the focus is stay, and nothing false is shown.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { openBrowser } from "../support/chromium.ts";
import { until } from "../support/until.ts";
import { openDashboard, startFleet } from "./support.ts";

const browser = await openBrowser();
after(() => browser?.close());
const fleet = await startFleet({ after });
const { email } = fleet;

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

test("after a search without a match, the field keeps focus and text while the next result is loaded", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.viewer);
  if (opened === undefined) return;
  const { page } = opened;
  const field = page.getByRole("searchbox");
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

test("no list says that it is empty while it is loaded", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.viewer, "/alerts?state=acknowledged");
  if (opened === undefined) return;
  const { page } = opened;
  await page.getByText("No acknowledged alerts").waitFor();
  const release = await hold(page, /\/insight\/v1\/alerts\?.*state=open/);
  await page.getByRole("link", { name: "Open", exact: true }).click();
  await page.getByText("Loading…").waitFor();
  assert.equal(await page.getByText("No open alerts").count(), 0);
  release();
  await page.getByText("3 alerts").waitFor();
});

test("a key that is pressed while a search is applied is not lost", async (t) => {
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
});

test("the heading of a new screen keeps the focus when its data arrives", async (t) => {
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
});
