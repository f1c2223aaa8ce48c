// What lists say about customers: a long name takes a few lines, and who may add one; and a link that signs one in.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { expectStatus } from "../http/client.ts";
import { openBrowser } from "../support/chromium.ts";
import { openDashboard, PHONE, startFleet } from "./support.ts";

const browser = await openBrowser();
after(() => browser?.close());
const fleet = await startFleet({ after });
const { email, manage } = fleet;

test("in the lists of keys and channels, a customer's name of 500 letters takes three lines", async (t) => {
  const name = "Brenner Gas ".repeat(42).trim();
  expectStatus(await manage("POST", "/manage/v1/customers", { id: "long", name, email: "long@example.com" }), 201);
  expectStatus(await manage("POST", "/manage/v1/keys", { name: "report", role: "read", customer_id: "long" }), 201);
  const channel = { type: "email", to: "office@operator.example", customer_id: "long" };
  expectStatus(await manage("POST", "/manage/v1/channels", channel), 201);
  const opened = await openDashboard(t, browser, fleet, email.admin, "/keys", { viewport: PHONE });
  if (opened === undefined) return;
  const { page } = opened;
  for (const path of ["/keys", "/channels"]) {
    await page.goto(fleet.url + path);
    const { height = 999 } = (await page.getByTitle(name).boundingBox()) ?? {};
    assert.ok(height < 80, `${path}: ${height} px`);
  }
});

test("only those who may add customers are told how", async (t) => {
  const none = { data: [], page: 1, size: 25, total_pages: 0, total_items: 0 };
  const prepare = (page: Page) => page.route(/\/manage\/v1\/customers\?/, (route) => route.fulfill({ json: none }));
  const viewer = await openDashboard(t, browser, fleet, email.viewer, "/customers", { prepare });
  await viewer?.page.getByText("Dispatchers and administrators can add customers.").waitFor();
  const dispatcher = await openDashboard(t, browser, fleet, email.dispatcher, "/customers", { prepare });
  await dispatcher?.page.getByText("Add the first one here").waitFor();
});

test("an admin creates a link that signs a customer in, others do not", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.admin, "/customers/c2");
  if (opened === undefined) return;
  const create = { name: /^Create sign-in link for / };
  await opened.page.getByRole("button", create).click();
  const dialog = opened.page.getByRole("dialog");
  await dialog.getByText("signs in as this customer").waitFor();
  const link = await dialog.getByLabel(/^Sign-in link for /).inputValue();
  const other = await openDashboard(t, browser, fleet, undefined, link.slice(fleet.url.length));
  await other?.page.getByRole("button", { name: /^Sign in as / }).click();
  await other?.page.getByRole("heading", { level: 1, name: "Your tanks" }).waitFor();

  const dispatcher = await openDashboard(t, browser, fleet, email.dispatcher, "/customers/c2");
  await dispatcher?.page.getByRole("button", { name: "Add tank" }).waitFor();
  assert.equal(await dispatcher?.page.getByRole("button", create).count(), 0);
});
