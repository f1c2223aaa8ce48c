// Users, keys and sessions in a real browser.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { startSession } from "../support/browser.ts";
import { openBrowser } from "../support/chromium.ts";
import { until } from "../support/until.ts";
import { openDashboard, startFleet } from "./support.ts";

const browser = await openBrowser();
after(() => browser?.close());
const fleet = await startFleet({ after });
const { email } = fleet;

test("an admin sees all sessions of a user and of a customer, without pages", async (t) => {
  const COUNT = 30;
  for (let i = 0; i < COUNT; i++) {
    for (const address of [email.viewer, "office@brenner.example"]) await startSession(fleet.store, Date.now, address);
  }
  const opened = await openDashboard(t, browser, fleet, email.admin, "/users");
  if (opened === undefined) return;
  const { page } = opened;
  const rows = page.getByRole("table", { name: "Sessions" }).locator("tbody tr");
  await page.getByRole("button", { name: "Sessions of The viewer" }).click();
  await until("all are shown", async () => (await rows.count()) >= COUNT);
  assert.equal(await page.getByRole("navigation", { name: "Pages" }).count(), 0);
  await page.goto(`${fleet.url}/customers/c1`);
  await until("all are shown", async () => (await rows.count()) >= COUNT);
  assert.equal(await page.locator(".section", { hasText: "signed in" }).getByRole("navigation", { name: "Pages" }).count(), 0);
});
