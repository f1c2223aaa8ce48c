// Where the keyboard goes on after an action that removes the button or link which started it.

import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { expectStatus } from "../http/client.ts";
import { startSession } from "../support/browser.ts";
import { openBrowser } from "../support/chromium.ts";
import { openDashboard, startFleet } from "./support.ts";

const browser = await openBrowser();
after(() => browser?.close());
const fleet = await startFleet({ after });
const { email, manage } = fleet;

const focusOn = (page: Page, text: string) => page.locator("a:focus, button:focus", { hasText: text }).waitFor();
const focusOnHeading = (page: Page, name: string) => page.locator("h1:focus", { hasText: name }).waitFor();

/** With the keyboard: opens a dialog, and submits it. */
async function confirm(page: Page, button: string, action: string): Promise<void> {
  await page.getByRole("button", { name: button, exact: true }).press("Enter");
  await page.getByRole("dialog").getByRole("button", { name: action, exact: true }).press("Enter");
  await page.getByRole("dialog").waitFor({ state: "detached" });
}

test("after a row of a list is removed, the focus is on the row in its place, or on the heading", async (t) => {
  const create = async (path: string, body: object) => expectStatus(await manage("POST", path, body), 201);
  for (const name of ["one", "two"]) {
    await create("/manage/v1/keys", { name, role: "read" });
    await create("/manage/v1/channels", { type: "email", to: `${name}@operator.example` });
    await create("/manage/v1/users", { name: `Zoe ${name}`, email: `zoe-${name}@operator.example`, role: "viewer" });
    const reading = { device_id: `device-${name}-new`, fill_percentage: 50 };
    expectStatus(await manage("POST", "/ingest/v1/readings", reading), 200);
    await startSession(fleet.store, Date.now, email.admin);
  }
  const opened = await openDashboard(t, browser, fleet, email.admin, "/channels");
  if (opened === undefined) return;
  const { page } = opened;
  await confirm(page, "Delete one@operator.example", "Delete");
  await page.locator("a:focus, button:focus").and(page.locator("tr *")).waitFor();
  await confirm(page, "Delete two@operator.example", "Delete");
  await focusOnHeading(page, "Channels");

  await page.getByRole("link", { name: "Devices" }).click();
  await confirm(page, "Remove device-one-new", "Remove");
  await focusOn(page, "Set up device-two-new");
  await confirm(page, "Remove device-two-new", "Remove");
  await focusOnHeading(page, "Devices");

  await page.getByRole("link", { name: "Users" }).click();
  await confirm(page, "Remove Zoe one", "Remove");
  await page.locator("button:focus").and(page.locator("tr *")).waitFor();

  await page.getByRole("link", { name: "Keys" }).click();
  await confirm(page, "Revoke one", "Revoke");
  // The row stays, without its buttons.
  await focusOnHeading(page, "Keys");

  await page.goto(`${fleet.url}/account`);
  const end = page.getByRole("button", { name: /^End session/ });
  await end.nth(1).waitFor();
  const count = await end.count();
  await end.first().press("Enter");
  await end.nth(count - 1).waitFor({ state: "detached" });
  await page.locator("button:focus").and(page.locator("tr *")).waitFor();
});

test("after a customer or a tank is deleted or restored, the focus is on the heading", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.dispatcher, "/tanks/t10");
  if (opened === undefined) return;
  const { page } = opened;
  for (const action of ["Delete", "Restore"]) {
    await confirm(page, action, action);
    await page.getByRole("button", { name: action === "Delete" ? "Restore" : "Edit" }).waitFor();
    await focusOnHeading(page, "Tank 10");
  }
  expectStatus(await manage("POST", "/manage/v1/customers", { id: "c9", name: "Nine", email: "nine@example.com" }), 201);
  await page.goto(`${fleet.url}/customers/c9`);
  for (const action of ["Delete", "Restore"]) {
    await confirm(page, action, action);
    await focusOnHeading(page, "Nine");
  }
});

test("the last page, a filter that is removed and the whole range keep the focus where it was, or beside it", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.viewer, "/?page=2");
  if (opened === undefined) return;
  const { page } = opened;
  await page.getByText("26–50 of 65").waitFor();
  await page.getByRole("link", { name: "Next" }).press("Enter");
  await page.getByText("51–65 of 65").waitFor();
  await page.locator("a.button[aria-disabled=true]:focus", { hasText: "Next" }).waitFor();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Shift+Tab");
  await focusOn(page, "Previous");

  await page.goto(`${fleet.url}/?state=ok&city=Bonn`);
  // A link that has the focus may be replaced while the list is loaded.
  await page.waitForLoadState("networkidle");
  await page.locator(".chip", { hasText: "State" }).press("Enter");
  await focusOn(page, "City");
  await page.keyboard.press("Enter");
  await page.locator(".order:focus").waitFor();

  const day = 24 * 3_600_000;
  const [from, to] = [3, 0].map((days) => new Date(Date.now() - days * day).toISOString());
  await page.goto(`${fleet.url}/tanks/t1?${new URLSearchParams({ from: String(from), to: String(to) })}`);
  await page.getByRole("link", { name: "Whole range" }).press("Enter");
  await page.locator(".segments a[aria-current]:focus").waitFor();
});

test("Back leads to the link that was followed, from which the keyboard goes on, also if its list is loaded late", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.viewer, "/?owner_id=c1");
  if (opened === undefined) return;
  const { page } = opened;
  await page.locator(".fleet tbody tr").nth(24).waitFor();
  for (let presses = 0; presses < 20; presses++) await page.keyboard.press("j");
  const names = page.locator(".fleet-tank a");
  const name = await names.nth(19).innerText();
  await focusOn(page, name);
  await page.keyboard.press("Enter");
  await focusOnHeading(page, name);
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(/\/insight\/v1\/fleet\?/, (route) => promise.then(() => route.continue()).catch(() => {}));
  await page.goBack();
  await focusOnHeading(page, "Fleet");
  resolve();
  await focusOn(page, name);
  await page.keyboard.press("j");
  await focusOn(page, await names.nth(20).innerText());

  // Of the links to a customer, the one of that row.
  await page.keyboard.press("Tab");
  await focusOn(page, "Brenner Gas GmbH");
  await page.keyboard.press("Enter");
  await focusOnHeading(page, "Brenner Gas GmbH");
  await page.goBack();
  await page.locator("tr:nth-child(21) .fleet-customer a:focus").waitFor();
});
