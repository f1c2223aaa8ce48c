// The history of the browser: Back leads to where the person was, at the same place of a list.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { openBrowser } from "../support/chromium.ts";
import { until } from "../support/until.ts";
import { openDashboard, PHONE, startFleet } from "./support.ts";

const browser = await openBrowser();
after(() => browser?.close());
const fleet = await startFleet({ after });
const { email } = fleet;

const scrolledTo = (page: Page): Promise<number> => page.evaluate("Math.round(scrollY)");

test("Back from a tank leads to the same place of the list", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.viewer, "/customers/c1", { viewport: PHONE });
  if (opened === undefined) return;
  const { page } = opened;
  const row = page.getByRole("table", { name: "Tanks" }).locator("tbody tr").nth(18).getByRole("link");
  await row.scrollIntoViewIfNeeded();
  const before = await scrolledTo(page);
  assert.ok(before > 500);
  await row.click();
  await page.locator(".figures").waitFor();
  assert.equal(await scrolledTo(page), 0);
  await page.goBack();
  await until("the list is where it was", async () => Math.abs((await scrolledTo(page)) - before) < 50);
});

test("another page of a list begins at its top, and Back leads to where the person was", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.viewer, "/customers/c1", { viewport: PHONE });
  if (opened === undefined) return;
  const { page } = opened;
  const table = page.getByRole("table", { name: "Tanks" });
  const next = page.getByRole("link", { name: "Next" });
  await next.scrollIntoViewIfNeeded();
  const before = await scrolledTo(page);
  await next.click();
  await page.getByText("26–50 of 60").waitFor();
  await until("the top of the list is in view", async () => {
    const { y = -1 } = (await table.boundingBox()) ?? {};
    return y >= 0 && y < 200;
  });
  await page.goBack();
  await page.getByText("1–25 of 60").waitFor();
  await until("the list is where it was", async () => Math.abs((await scrolledTo(page)) - before) < 50);
});

test("from a page beyond the last one, Previous leads to the last one", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.viewer, "/customers/c1?page=9");
  if (opened === undefined) return;
  const { page } = opened;
  await page.getByText("None of 60").waitFor();
  await page.getByRole("link", { name: "Previous" }).click();
  await page.getByText("51–60 of 60").waitFor();
});

test("typing a date adds no entries to the history", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.admin, "/audit");
  if (opened === undefined) return;
  const { page } = opened;
  const before: number = await page.evaluate("history.length");
  const day = page.getByLabel("From");
  await day.waitFor();
  for (const value of ["0002-03-01", "0020-03-01", "0202-03-01", "2026-03-01"]) await day.fill(value);
  await page.waitForURL(/from=2026-03-01/);
  assert.equal(await page.evaluate("history.length"), before);
});
