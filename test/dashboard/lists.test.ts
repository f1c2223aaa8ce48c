// The screens of an operator's objects in a real browser: devices, customers, channels, keys, users and audit; and the history
// of the browser, where Back leads to the same place of a list.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { Page } from "playwright-core";
import { expectStatus } from "../http/client.ts";
import { Browser, linkFor } from "../support/browser.ts";
import { openBrowser } from "../support/chromium.ts";
import { until } from "../support/until.ts";
import { COLOURS, DESKTOP, HOSTILE_NAMES, openDashboard, overflow, PHONE, seriousViolations, startFleet } from "./support.ts";

const browser = await openBrowser();
after(() => browser?.close());
const fleet = await startFleet({ after });
const { email, manage } = fleet;

const pending = [
  { device_id: "desk-sensor", fill_percentage: 61.5 },
  { device_id: "phone-sensor", fill_percentage: 61.5 },
  { device_id: "radar-7", payload: { distance: 700, battery: 98 } },
];
expectStatus(await manage("POST", "/ingest/v1/readings", pending), 200);

const rowOf = (page: Page, text: string) => page.getByRole("row").filter({ hasText: text });

/** Without requests that were given up, because another screen or another search came first. */
const unexpected = (errors: readonly string[]) => errors.filter((text) => !text.endsWith(" failed"));

/** A user who acknowledges an alert with a long note, a key, a channel and a device of each hostile name. Removes the devices. */
async function createHostileObjects(): Promise<() => Promise<void>> {
  const create = async (path: string, body: object) => String(expectStatus(await manage("POST", path, body), 201)["id"]);
  const devices = HOSTILE_NAMES.map((name) => name.slice(0, 128));
  for (const [i, name] of HOSTILE_NAMES.entries()) {
    const scope = i % 2 === 0 ? { device_id: devices[i] } : { customer_id: "c2" };
    await create("/manage/v1/keys", { name, role: "ingest", ...scope });
    const url = `https://receiver-${i}.invalid/${encodeURIComponent(name)}`;
    await create("/manage/v1/channels", { type: "webhook", url, description: name, customer_id: "c2" });
    const readings = [{ tank_id: `t${61 + i}` }, { device_id: devices[i] }].map((to) => ({ ...to, fill_percentage: 4 }));
    expectStatus(await manage("POST", "/ingest/v1/readings", readings), 200);
    const alert = await until("an alert is open", async () => {
      const { data } = expectStatus(await manage("GET", `/insight/v1/alerts?tank_id=t${61 + i}`), 200);
      return (data as { readonly id: string }[])[0];
    });
    const person = new Browser(fleet);
    const user = { email: `${"w".repeat(1 + i * 15)}@operator.example`, name, role: "dispatcher" };
    await person.signInWith(await linkFor(fleet, await create("/manage/v1/users", user)));
    const note = name.repeat(Math.floor(1000 / name.length));
    expectStatus(await person.send("POST", `/manage/v1/alerts/${alert.id}/acknowledge`, { note }), 200);
  }
  return async () => {
    for (const id of devices) expectStatus(await manage("DELETE", `/manage/v1/devices/${encodeURIComponent(id)}`), 200);
  };
}

/** The link that leads to each screen, and its title. The fleet, the map, tanks and the account are in other files. */
const SCREENS: readonly (readonly [link: string, title: string])[] = [
  ["Alerts", "Alerts"],
  ["Acknowledged", "Alerts"],
  ["Devices", "Devices"],
  ["Customers", "Customers"],
  ["<img", "<img"],
  ["Channels", "Channels"],
  ["Notifications", "Channels"],
  ["To be sent", "Channels"],
  ["Keys", "Keys"],
  ["Users", "Users"],
  ["Audit log", "Audit log"],
];

/** Links that begin below what is shown of their cell. */
const HIDDEN_LINKS = `[...document.querySelectorAll(".cards td a")]
  .filter((link) => link.getBoundingClientRect().top >= link.closest("td > div").getBoundingClientRect().bottom)
  .map((link) => link.textContent)`;

test("every screen fits a desk and a phone with names of any kind, and axe reports no serious violations in light and dark", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.admin, "/devices");
  if (opened === undefined) return;
  const { page, requests, errors } = opened;
  const removeDevices = await createHostileObjects();
  await page.locator(".notice", { hasText: "WWW" }).waitFor();
  for (const [link, title] of SCREENS) {
    await page.setViewportSize(DESKTOP);
    await page.getByRole("link", { name: link }).first().click();
    // A page that is resized looks as one that is loaded at that width.
    for (const viewport of [DESKTOP, PHONE]) {
      await page.setViewportSize(viewport);
      await page.getByRole("heading", { level: 1, name: title }).waitFor();
      await page.locator(".list[aria-busy=false]").first().waitFor();
      const place = `${page.url()} at ${viewport.width} px`;
      assert.deepEqual([await overflow(page), await seriousViolations(page)], [0, []], place);
      const heights: number[] = await page
        .locator(".cards tbody tr, .notice")
        .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height));
      // A note is shown whole.
      const most = link === "Acknowledged" ? 1400 : viewport === PHONE ? 400 : 150;
      assert.ok(Math.max(0, ...heights) < most, `${place}: rows of ${heights} px`);
      assert.deepEqual(await page.evaluate(HIDDEN_LINKS), [], place);
      await page.setViewportSize({ ...viewport, width: Math.max(320, viewport.width - 70) });
      assert.equal(await overflow(page), 0, `${place}, with less space`);
    }
    await page.emulateMedia({ colorScheme: "dark" });
    assert.deepEqual(await seriousViolations(page, COLOURS), [], `${page.url()} in the dark scheme`);
    await page.emulateMedia({ colorScheme: "light" });
  }
  await removeDevices();
  assert.equal(await page.evaluate("window.injected"), undefined);
  assert.deepEqual([unexpected(errors), requests.filter((url) => !url.startsWith(`${fleet.url}/`))], [[], []]);
});

/** Screens whose layout stays as it is while their data arrives. */
const STEADY = [
  ...["/", "/map", "/tanks/t1", "/alerts?state=acknowledged", "/customers/c1", "/customers", "/devices", "/keys", "/users"],
  ...["/channels", "/channels?view=notifications&state=pending", "/audit", "/account", "/sign-in"],
];

const RECORD_SHIFTS = `{
  window.shifts = [];
  const record = ({ value, hadRecentInput, sources }) =>
    hadRecentInput || shifts.push({ value, moved: sources.map(({ node }) => node?.className ?? node?.nodeName).join() });
  new PerformanceObserver((list) => list.getEntries().forEach(record)).observe({ type: "layout-shift", buffered: true });
}`;

test("nothing moves while a screen is loaded", async (t) => {
  // Without a tank that has a place there is no map.
  expectStatus(await manage("PATCH", "/manage/v1/tanks/t1", { location: { latitude: 48, longitude: 7.8 } }), 200);
  const check = async (viewport: typeof PHONE) => {
    const prepare = async (page: Page) => {
      await page.addInitScript(RECORD_SHIFTS);
      // The last response is that of the account, without which nothing is shown.
      await page.route("**/insight/v1/me", (route) => pause(300).then(() => route.continue()));
    };
    const opened = await openDashboard(t, browser, fleet, email.admin, "/account", { viewport, prepare });
    for (const path of opened === undefined ? [] : STEADY) {
      await opened?.page.goto(fleet.url + path);
      await opened?.page.getByRole("heading", { level: 1 }).waitFor();
      await opened?.page.waitForFunction('document.querySelector("[aria-busy=true]") === null');
      // What the list only names, such as a person, may arrive later.
      await pause(300);
      assert.deepEqual(await opened?.page.evaluate("shifts"), [], `${path} at ${viewport.width} px`);
    }
  };
  await Promise.all([{ width: 1440, height: 900 }, PHONE].map(check));
});

test("at any width, a dispatcher assigns a tank to a device, and its pending reading is stored", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.dispatcher, "/devices");
  if (opened === undefined) return;
  const { page, errors } = opened;
  const dialog = page.getByRole("dialog");
  for (const [viewport, device, number] of [
    [DESKTOP, "desk-sensor", 58],
    [PHONE, "phone-sensor", 60],
  ] as const) {
    await page.setViewportSize(viewport);
    await page.getByRole("button", { name: `Set up ${device}` }).click();
    await dialog.getByText("61.5 %").waitFor();
    await dialog.getByRole("searchbox").fill(`Tank ${number}`);
    await dialog.getByRole("radio", { name: new RegExp(`^Tank ${number}`) }).check();
    assert.deepEqual([await overflow(page), await seriousViolations(page)], [0, []]);
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText(new RegExp(`1 pending reading stored.*device-${number} replaced`)).waitFor();
    await rowOf(page, device).waitFor({ state: "detached" });
    const { data } = expectStatus(await manage("GET", `/v1/tanks/t${number}/telemetry?size=1`), 200);
    assert.equal((data as { fill_percentage: number }[])[0]?.fill_percentage, 61.5);
    assert.deepEqual(unexpected(errors), []);
  }
});

test("without a mouse: a profile and the shape of the tank make a payload readable", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.dispatcher, "/devices");
  if (opened === undefined) return;
  const { page } = opened;
  const button = page.getByRole("button", { name: "Set up radar-7" });
  await button.focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  await dialog.getByText('"distance": 700').waitFor();
  await dialog.getByRole("searchbox").focus();
  await page.keyboard.type("Tank 59");
  await dialog.getByRole("radio", { name: /^Tank 59/ }).waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowDown");
  await dialog.getByLabel("Profile").selectOption("milesight-em500-udl");
  await dialog.getByLabel("Shape of the tank").selectOption("upright");
  await dialog.getByLabel("Height", { exact: true }).fill("0.0001");
  await dialog.getByLabel("Unit").selectOption("m");
  await dialog.getByLabel("Sensor height").fill("2.2");
  await page.keyboard.press("Enter");
  // The error is shown at its field, which then has the focus.
  await dialog.locator("[aria-invalid][name='shape.height']:focus").waitFor();
  for (let i = 0; i < 2; i++) await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  assert.match(await page.evaluate("document.activeElement.textContent"), /Set up radar-7/);
  await page.keyboard.press("Enter");
  await dialog.getByRole("searchbox").fill("Tank 59");
  await dialog.getByRole("radio", { name: /^Tank 59/ }).check();
  await dialog.getByLabel("Profile").selectOption("milesight-em500-udl");
  await dialog.getByLabel("Shape of the tank").selectOption("upright");
  await dialog.getByLabel("Height", { exact: true }).fill("2");
  await dialog.getByLabel("Unit").selectOption("m");
  await dialog.getByLabel("Sensor height").fill("2.2");
  await page.keyboard.press("Enter");
  await page.getByText(/1 pending reading stored/).waitFor();
  await page.getByText("No readings are pending").waitFor();
});

test("a dispatcher creates a customer with a tank, changes it, deletes and restores the tank, and the customer", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.dispatcher, "/customers");
  if (opened === undefined) return;
  const { page } = opened;
  const dialog = page.getByRole("dialog");
  const submit = (name: string) => dialog.getByRole("button", { name, exact: true }).click();
  await page.getByRole("button", { name: "Add customer" }).click();
  await dialog.getByLabel("Name").fill("Hofgut Lindenau");
  await dialog.getByLabel("E-mail address").fill("not@valid@example");
  await dialog.locator("form").evaluate((form) => form.setAttribute("novalidate", ""));
  await submit("Add");
  await dialog.locator(".field .error").waitFor();
  await dialog.getByLabel("E-mail address").fill("hof@lindenau.example");
  await submit("Add");
  await page.getByRole("heading", { level: 1, name: "Hofgut Lindenau" }).waitFor();
  await page.getByRole("button", { name: "Add tank" }).click();
  await dialog.getByLabel("Name").fill("Barn");
  await dialog.getByLabel("Device").fill("barn-1");
  await dialog.getByLabel("Capacity").fill("4850,7");
  await submit("Add");
  await page.getByRole("link", { name: "Barn" }).waitFor();
  await page.getByRole("button", { name: "Edit" }).click();
  await dialog.getByLabel("Phone").fill("+49 221 7");
  await submit("Save");
  await page.getByRole("link", { name: "+49 221 7" }).waitFor();

  await page.getByRole("link", { name: "Barn" }).click();
  await page.getByText("of 4,851 l").waitFor();
  await page.getByRole("button", { name: "Delete" }).click();
  await submit("Delete");
  await page.getByText("This tank has been deleted").waitFor();
  for (let i = 0; i < 2; i++) await page.waitForResponse((response) => response.status() === 404);
  assert.equal(await page.getByText("has been unreachable").count(), 0, "that it is gone is no outage");
  await page.getByRole("link", { name: "Its customer" }).click();
  await page.getByText("No tanks yet").waitFor();
  await page.getByRole("link", { name: "Deleted" }).click();
  await page.getByRole("link", { name: "Barn" }).click();
  await page.getByRole("button", { name: "Restore" }).click();
  await dialog.getByLabel("Device").fill("device-1");
  await submit("Restore");
  await dialog.getByRole("alert").waitFor();
  await dialog.getByLabel("Device").fill("barn-2");
  await submit("Restore");
  await page.getByText("Barn was restored").waitFor();
  await page.getByRole("link", { name: "Set up" }).click();
  await page.getByRole("button", { name: "Set up barn-2" }).waitFor();
  await page.getByRole("searchbox", { name: "Device id" }).fill("barn");
  await page.getByText("No device has this id").waitFor();
  await page.goBack();
  await page.getByRole("link", { name: "Hofgut Lindenau" }).click();

  await page.getByRole("button", { name: "Delete" }).click();
  await dialog.getByText(/Nothing is lost/).waitFor();
  await dialog.getByRole("checkbox").check();
  await submit("Delete");
  await page.getByText("This customer is deleted:").waitFor();
  await page.getByRole("link", { name: "All customers" }).click();
  await page.getByRole("link", { name: "Deleted" }).click();
  await page.getByRole("link", { name: "Hofgut Lindenau" }).click();
  await page.getByRole("button", { name: "Restore" }).click();
  await submit("Restore");
  await page.getByRole("link", { name: "Barn" }).waitFor();
  await page.getByRole("link", { name: "Customers", exact: true }).click();
  await page.getByRole("searchbox").fill("HOF@lind");
  await page.getByText("1 customer found").waitFor();
  await page.getByRole("searchbox").fill("lindenau hofgut");
  await page.getByText("1 customer found").waitFor();
  await page.getByRole("link", { name: "Hofgut Lindenau" }).waitFor();
  await page.getByRole("searchbox").fill("lindenau nobody");
  await page.getByRole("heading", { name: "No customer matches" }).waitFor();
});

test("an admin creates a key, a webhook and a user: secrets are shown once, a test says what failed", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.admin, "/keys");
  if (opened === undefined) return;
  const { page } = opened;
  const dialog = page.getByRole("dialog");
  const submit = (name: string) => dialog.getByRole("button", { name, exact: true }).click();
  await page.getByRole("button", { name: "Create key" }).click();
  await dialog.getByLabel("Name").fill("report");
  await submit("Create");
  assert.match(await dialog.getByLabel("Key report").inputValue(), /^tm_/);
  await submit("Done");
  await page.getByRole("button", { name: "Revoke report" }).click();
  await submit("Revoke");
  await rowOf(page, "report").getByText("Revoked").waitFor();

  await page.getByRole("link", { name: "Channels" }).click();
  await page.getByRole("button", { name: "Add channel" }).click();
  await dialog.getByLabel("Type").selectOption("webhook");
  await dialog.getByLabel("URL").fill("http://127.0.0.1:9/hook");
  await submit("Add");
  await dialog.locator(".field .error").waitFor();
  await dialog.getByLabel("URL").fill("https://receiver.invalid/hook");
  await submit("Add");
  assert.match(await dialog.getByLabel("Secret of the webhook").inputValue(), /^whsec_/);
  await submit("Done");
  const channel = rowOf(page, "receiver.invalid");
  await channel.getByRole("button", { name: /^Test/ }).click();
  await dialog.getByText(/Attempt 1/).waitFor();
  assert.deepEqual(await seriousViolations(page), []);
  await submit("Done");
  await page.goto(`${fleet.url}/channels?view=notifications&state=pending`);
  await rowOf(page, "https://receiver.invalid").waitFor();
  await page.goBack();
  await channel.getByRole("button", { name: /^Disable/ }).click();
  await channel.getByRole("button", { name: /^Enable again/ }).click();
  await channel.getByText("Active").waitFor();

  await page.getByRole("link", { name: "Users" }).click();
  await page.getByRole("button", { name: "Add user" }).click();
  await dialog.getByLabel("Name").fill("Ida");
  await dialog.getByLabel("E-mail address").fill("ida@operator.example");
  await submit("Add");
  await page.getByRole("button", { name: "Create sign-in link for Ida" }).click();
  assert.match(await dialog.getByLabel("Sign-in link for Ida").inputValue(), /^http.*\/sign-in#token=/);
  await submit("Done");
  await page.getByRole("button", { name: "Remove The admin" }).click();
  await submit("Remove");
  await dialog.getByRole("alert").waitFor();
  await submit("Cancel");

  await page.goto(`${fleet.url}/audit?type=user`);
  const link = rowOf(page, "user link created").first();
  await link.getByRole("link", { name: "The admin", exact: true }).waitFor();
  await link.getByRole("link", { name: "Ida", exact: true }).waitFor();
  const { body } = await manage("GET", "/manage/v1/users?email=ida@operator.example");
  expectStatus(await manage("DELETE", `/manage/v1/users/${(body["data"] as { id: string }[])[0]?.id}`), 200);
  await page.reload();
  await link.getByRole("link", { name: "Ida (removed)", exact: true }).waitFor();
  await page.getByLabel("Type of object").selectOption("channel");
  await page.getByText("channel tested").waitFor();

  // A date that is typed adds no entries to the history of the browser.
  const before: number = await page.evaluate("history.length");
  for (const value of ["0002-03-01", "0020-03-01", "0202-03-01", "2026-03-01"]) await page.getByLabel("From").fill(value);
  await page.waitForURL(/from=2026-03-01/);
  assert.equal(await page.evaluate("history.length"), before);
});

test("a viewer reads customers and devices, and changes nothing", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.viewer, "/customers/c1");
  if (opened === undefined) return;
  const { page } = opened;
  await page.getByRole("link", { name: "Tank 1", exact: true }).waitFor();
  assert.equal(await page.getByRole("main").getByRole("button").count(), 0);
  await page.goto(`${fleet.url}/customers?search=gmbh`);
  await page.getByText("1 customer found").waitFor();
  await page.goto(`${fleet.url}/customers/nope`);
  await page.getByRole("heading", { name: "There is no such customer" }).waitFor();
  await page.getByRole("link", { name: "Go to the customers" }).waitFor();
  await page.goto(`${fleet.url}/keys`);
  await page.getByRole("heading", { name: "Your role does not allow this" }).waitFor();
});

const scrolledTo = (page: Page): Promise<number> => page.evaluate("Math.round(scrollY)");

test("Back from a tank, or from another page of a list, leads to the same place of the list; Previous from beyond its end to its last page", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.viewer, "/customers/c1", { viewport: PHONE });
  if (opened === undefined) return;
  const { page } = opened;
  const table = page.getByRole("table", { name: "Tanks" });
  const row = table.locator("tbody tr").nth(18).getByRole("link");
  await row.scrollIntoViewIfNeeded();
  const before = await scrolledTo(page);
  assert.ok(before > 500);
  await row.click();
  await page.locator(".figures").waitFor();
  assert.equal(await scrolledTo(page), 0);
  await page.goBack();
  await until("the list is where it was", async () => Math.abs((await scrolledTo(page)) - before) < 50);

  const next = page.getByRole("link", { name: "Next" });
  await next.scrollIntoViewIfNeeded();
  const atEnd = await scrolledTo(page);
  await next.click();
  await page.getByText("26–50 of 60").waitFor();
  await until("the top of the list is in view", async () => {
    const { y = -1 } = (await table.boundingBox()) ?? {};
    return y >= 0 && y < 200;
  });
  await page.goBack();
  await page.getByText("1–25 of 60").waitFor();
  await until("the list is where it was", async () => Math.abs((await scrolledTo(page)) - atEnd) < 50);

  await page.goto(`${fleet.url}/customers/c1?page=9`);
  await page.getByRole("link", { name: "Previous" }).click();
  await page.getByText("51–60 of 60").waitFor();
  await page.goto(`${fleet.url}/?owner_id=c1&page=9`);
  await page.getByRole("link", { name: "Show the last page" }).click();
  await page.getByText("51–60 of 60").waitFor();
});
