// The alerts screen in a real browser: what each role sees, and what can be done about an alert.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { Page } from "playwright-core";
import { expectStatus } from "../http/client.ts";
import { openBrowser, type Watched } from "../support/chromium.ts";
import { until } from "../support/until.ts";
import { expectFits, expectGood, expectGoodInDark } from "./expect-good.ts";
import { DESKTOP, HOSTILE_NAMES, openDashboard, PHONE, startFleet } from "./support.ts";

const browser = await openBrowser();
after(() => browser?.close());
const fleet = await startFleet({ after });
const { email, manage } = fleet;

const alertOf = async (tankId: string) =>
  ((await manage("GET", `/insight/v1/alerts?tank_id=${tankId}`)).body["data"] as Record<string, unknown>[])[0];

const rowIn = ({ page }: Watched, name: string) => page.getByRole("row").filter({ hasText: name });

test("at any width: open alerts with tank, owner and reason; a viewer changes nothing", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.viewer, "/alerts");
  if (opened === undefined) return;
  const { page } = opened;
  for (const viewport of [DESKTOP, PHONE]) {
    await page.setViewportSize(viewport);
    await page.getByText("3 alerts").waitFor();
    const row = page.getByRole("row").filter({ hasText: "Tank 1" });
    await row.getByText("Brenner Gas GmbH").waitFor();
    assert.match(await row.innerText(), /Low.*Bonn.*\+49 30 5550.*5\.0\s%, at or below 20\s%/s);
    assert.equal(await page.locator("table button").count(), 0);
    await expectFits(opened);
  }
  await page.getByRole("combobox", { name: "Kind" }).selectOption("silent");
  await page.getByText("No open alerts of the kind “Silent”").waitFor();
  assert.equal(new URL(page.url()).search, "?kind=silent");
});

test("ages grow without new data; a tank that could not be loaded is loaded later, the others at once", async (t) => {
  let isFailing = true;
  const prepare = async (page: Page) => {
    await page.route(/\/tanks\/t1$/, (route) => (isFailing ? route.fulfill({ status: 403 }) : route.continue()));
    await page.clock.install();
  };
  const opened = await openDashboard(t, browser, fleet, email.viewer, "/alerts", { prepare });
  if (opened === undefined) return;
  const { page } = opened;
  await page.getByRole("row").filter({ hasText: "Tank 2" }).getByText("Brenner Gas GmbH").waitFor();
  const row = page.getByRole("row").filter({ hasText: "5.0 %, at or below" });
  assert.doesNotMatch(await row.innerText(), /Tank 1/);
  isFailing = false;
  await row.getByText("Tank 1").waitFor();
  await page.clock.fastForward(3 * 3_600_000);
  await row.locator("time").getByText("3 h ago").waitFor();
});

/** What is done about a note, what it was, and what it becomes. */
const NOTES = [
  ["Change note", "<b>Truck on Tuesday</b>", "Truck on Friday"],
  ["Change note", "Truck on Friday", ""],
  ["Add note", "", "Truck on Monday"],
] as const;

test("at any width, a dispatcher acknowledges with a note, pauses the tank, and closes; another person sees it by itself", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.dispatcher, "/alerts");
  const other = await openDashboard(t, browser, fleet, email.viewer, "/alerts?state=acknowledged");
  if (opened === undefined || other === undefined) return;
  const { page } = opened;
  for (const [viewport, id, name, remaining] of [
    [DESKTOP, "t2", "Tank 2", "2 alerts"],
    [PHONE, "t3", "Tank 3", "1 alert"],
  ] as const) {
    await page.setViewportSize(viewport);
    await page.getByRole("link", { name: "Open", exact: true }).click();
    const row = rowIn(opened, name);
    await row.waitFor();
    await expectGood(opened);
    await row.getByRole("button", { name: "Acknowledge" }).click();
    const dialog = page.getByRole("dialog");
    assert.match(await dialog.innerText(), new RegExp(`Low: ${name}\\s+Brenner Gas GmbH, (Bonn|Köln)`));
    await expectGood(opened);
    await dialog.getByLabel("Note").fill("<b>Truck on Tuesday</b>");
    await page.keyboard.press("Enter");
    await page.getByText(remaining).waitFor();
    await rowIn(other, name).getByText("“<b>Truck on Tuesday</b>”").waitFor();
    const acknowledged = await alertOf(id);
    assert.deepEqual([acknowledged?.["state"], acknowledged?.["note"]], ["acknowledged", "<b>Truck on Tuesday</b>"]);

    await page.getByRole("link", { name: "Acknowledged" }).click();
    for (const [label, before, note] of viewport === PHONE ? [] : NOTES) {
      await row.getByRole("button", { name: label }).click();
      assert.equal(await dialog.getByLabel("Note").inputValue(), before);
      await dialog.getByLabel("Note").fill(note);
      await page.keyboard.press("Enter");
      await dialog.waitFor({ state: "detached" });
      assert.equal((await alertOf(id))?.["note"], note || null);
    }
    if (viewport !== PHONE) await rowIn(other, name).getByText("“Truck on Monday”").waitFor();
    await row.getByRole("button", { name: "Pause" }).click();
    await dialog.getByText(name, { exact: true }).waitFor();
    await dialog.getByLabel("Until and including").fill("2126-03-01");
    await dialog.getByRole("button", { name: "Pause" }).click();
    await page
      .getByText(/No alert of this tank opens until .*2126/)
      .last()
      .waitFor();
    await dialog.waitFor({ state: "detached" });
    const { alerts } = (await manage("GET", `/manage/v1/tanks/${id}`)).body as { alerts: { paused_until: string } };
    assert.match(alerts.paused_until, /^2126-03-0[12]/);

    await row.getByRole("button", { name: "Close" }).click();
    await dialog.waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await row.getByRole("button", { name: "Close" }).click();
    await dialog.getByLabel("Note").fill("");
    await dialog.getByRole("button", { name: "Close alert" }).click();
    await page.getByText("No acknowledged alerts").waitFor();
    const closed = await alertOf(id);
    assert.deepEqual([closed?.["state"], closed?.["note"]], ["closed", null]);
  }
});

test("a dialog stays open if it is opened while the one before closes; an admin sees who was notified of an alert", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.admin, "/alerts");
  if (opened === undefined) return;
  const { page } = opened;
  const row = page.getByRole("row").filter({ hasText: "Tank 1" });
  await row.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("dialog").waitFor();
  const button = page.locator("tr", { hasText: "Tank 1" }).locator("button", { hasText: "Close" });
  await button.evaluate((element) => {
    element.ownerDocument.querySelector("dialog")?.close();
    element.dispatchEvent(new Event("click", { bubbles: true }));
  });
  await page.getByRole("dialog", { name: "Close this alert" }).getByRole("button", { name: "Cancel" }).click();

  await row.getByRole("button", { name: "Notifications" }).click();
  await page.getByText("No notification lists this alert so far").waitFor();
  await page
    .getByRole("dialog")
    .getByText(/: Tank 1$/)
    .waitFor();
  await expectGood(opened);
});

test("at any width, a customer reads the alerts of their own tanks, and opens their account", async (t) => {
  const opened = await openDashboard(t, browser, fleet, "office@brenner.example", "/alerts");
  if (opened === undefined) return;
  const { page } = opened;
  for (const viewport of [DESKTOP, PHONE]) {
    await page.setViewportSize(viewport);
    await page.getByRole("row").filter({ hasText: "Tank 1" }).getByText("5.0 %, at or below 20 %").waitFor();
    assert.equal(await page.locator("table button").count(), 0);
    assert.equal(await page.getByRole("table").getByText("Brenner Gas GmbH").count(), 0, "they know who they are");
    await expectFits(opened);
    if (viewport === PHONE) await page.getByRole("button", { name: "Menu" }).click();
    await page.getByRole("link", { name: "Your account" }).click();
    await page.getByRole("heading", { level: 1, name: "Account" }).waitFor();
    await page.getByText("This browser").waitFor();
    await expectGood(opened);
    await expectGoodInDark(opened);
    await page.goBack();
  }
});

test("who is the second to acknowledge an alert sees who was the first, and keeps their note; the keyboard goes on at the next alert", async (t) => {
  const readings = ["t4", "t5"].map((id) => ({ tank_id: id, fill_percentage: 4 }));
  expectStatus(await manage("POST", "/ingest/v1/readings", readings), 200);
  const first = await openDashboard(t, browser, fleet, email.dispatcher, "/alerts");
  const second = await openDashboard(t, browser, fleet, email.admin, "/alerts", { viewport: PHONE });
  const viewer = await openDashboard(t, browser, fleet, email.viewer, "/alerts?state=acknowledged");
  if (first === undefined || second === undefined || viewer === undefined) return;
  await rowIn(second, "Tank 4").getByRole("button", { name: "Acknowledge" }).click();
  const dialog = second.page.getByRole("dialog");
  await dialog.getByText("The customer sees it, too.").waitFor();
  await dialog.getByLabel("Note").fill("Truck on Friday");

  const order = await first.page.locator("tbody tr td.title a").allInnerTexts();
  await rowIn(first, "Tank 4").getByRole("button", { name: "Acknowledge" }).click();
  await first.page.getByRole("dialog").getByRole("button", { name: "Acknowledge" }).click();
  await rowIn(first, "Tank 4").waitFor({ state: "detached" });
  const next = order[order.indexOf("Tank 4") + 1] ?? order.at(-2);
  await until("the next alert has the focus", async () => next === (await first.page.evaluate(FOCUSED)));

  await dialog.getByRole("button", { name: "Acknowledge" }).click();
  await dialog.getByText("The dispatcher has already acknowledged this alert. Your note was not stored.").waitFor();
  assert.equal(await dialog.getByLabel("Note").inputValue(), "Truck on Friday");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  assert.equal((await alertOf("t4"))?.["note"], null);

  for (const [screen, words] of [
    [first, /^Acknowledged .* by you$/],
    [second, /^Acknowledged .* by The dispatcher$/],
    [viewer, /^Acknowledged (just now|\d+ min ago)$/],
  ] as const) {
    if (screen !== viewer) await screen.page.getByRole("link", { name: "Acknowledged" }).click();
    await rowIn(screen, "Tank 4").getByText(words).waitFor();
    if (screen !== viewer) await expectGood(screen);
  }

  await first.page.getByRole("link", { name: "Open", exact: true }).click();
  for (const name of order.filter((one) => one !== "Tank 4")) {
    await rowIn(first, name).getByRole("button", { name: "Acknowledge" }).click();
    await first.page.getByRole("dialog").getByRole("button", { name: "Acknowledge" }).click();
    await rowIn(first, name).waitFor({ state: "detached" });
  }
  await until("the heading has the focus", async () => "Alerts" === (await first.page.evaluate(FOCUSED)));
});

/** The name of the tank whose row has the focus, or the text of what has it. */
const FOCUSED = `(document.activeElement.closest("tr")?.querySelector("td.title a") ?? document.activeElement).textContent`;

test("closing an alert overwrites no note of somebody else, and does not drop one for an alert that has closed meanwhile", async (t) => {
  expectStatus(await manage("POST", "/ingest/v1/readings", { tank_id: "t6", fill_percentage: 4 }), 200);
  const { id } = (await until("an alert is open", () => alertOf("t6"))) as { id: string };
  expectStatus(await manage("POST", `/manage/v1/alerts/${id}/acknowledge`, { note: "Monday" }), 200);
  const opened = await openDashboard(t, browser, fleet, email.dispatcher, "/alerts?state=acknowledged");
  if (opened === undefined) return;
  const dialog = opened.page.getByRole("dialog");
  await rowIn(opened, "Tank 6").getByRole("button", { name: "Close" }).click();
  assert.equal(await dialog.getByLabel("Note").inputValue(), "Monday");
  expectStatus(await manage("PATCH", `/manage/v1/alerts/${id}`, { note: "Tuesday" }), 200);
  await dialog.getByRole("button", { name: "Close alert" }).click();
  await dialog.getByText("Somebody else changed the note meanwhile.").waitFor();
  assert.equal(await dialog.getByLabel("Note").inputValue(), "Tuesday");
  assert.equal((await alertOf("t6"))?.["state"], "acknowledged");

  expectStatus(await manage("POST", `/manage/v1/alerts/${id}/close`), 200);
  await dialog.getByLabel("Note").fill("Wednesday");
  await dialog.getByRole("button", { name: "Close alert" }).click();
  await dialog.getByText("This alert has closed meanwhile. Your note was not stored.").waitFor();
  assert.equal((await alertOf("t6"))?.["note"], "Tuesday");
});

test("rows are shown together with the names in them, which would move them, in alerts and the audit log", async (t) => {
  expectStatus(await manage("POST", "/ingest/v1/readings", { tank_id: "t62", fill_percentage: 4 }), 200);
  await until("an alert is open", async () => (await alertOf("t62"))?.["state"] === "open");
  for (const [path, list] of [
    ["/alerts", "/insight/v1/alerts?"],
    ["/audit?type=tank&id=t62", "/manage/v1/audit?"],
  ] as const) {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const prepare = (page: Page) =>
      page.route(/v1\/tanks\/t62$/, (route) => released.then(() => route.continue()).catch(() => {}));
    const opened = await openDashboard(t, browser, fleet, email.admin, path, { prepare });
    if (opened === undefined) return;
    const { page } = opened;
    // It is requested every second: the second response comes long after the first was shown.
    for (let i = 0; i < 2; i++) await page.waitForResponse((response) => response.url().includes(list));
    assert.equal(await page.getByRole("row").count(), 0);
    release();
    await page
      .getByRole("row")
      .getByRole("link", { name: HOSTILE_NAMES[1] ?? "" })
      .waitFor();
  }
});

test("where clocks change at midnight, a pause ends with the day that was chosen", async (t) => {
  expectStatus(await manage("POST", "/ingest/v1/readings", { tank_id: "t7", fill_percentage: 4 }), 200);
  const opened = await openDashboard(t, browser, fleet, email.dispatcher, "/alerts", { timezoneId: "America/Santiago" });
  if (opened === undefined) return;
  const dialog = opened.page.getByRole("dialog");
  // On 5 September 2027, there is no time before 01:00.
  for (const [day, words, end] of [
    ["2027-09-04", "the end of Sep 4, 2027", "2027-09-05T04:00:00.000Z"],
    ["2027-09-05", "the end of Sep 5, 2027", "2027-09-06T03:00:00.000Z"],
  ] as const) {
    await rowIn(opened, "Tank 7").getByRole("button", { name: "Pause" }).click();
    await dialog.getByLabel("Until and including").fill(day);
    await dialog.getByRole("button", { name: "Pause" }).click();
    await dialog.waitFor({ state: "detached" });
    await opened.page.getByText(`No alert of this tank opens until ${words}`).last().waitFor();
    const { alerts } = (await manage("GET", "/manage/v1/tanks/t7")).body as { alerts: { paused_until: string } };
    assert.equal(alerts.paused_until, end);
  }
});

test("with more alerts than a page, the keyboard goes on at the next alert, also if the tank that moves up is loaded late", async (t) => {
  const readings = Array.from({ length: 30 }, (_, i) => ({ tank_id: `t${i + 20}`, fill_percentage: 4 }));
  expectStatus(await manage("POST", "/ingest/v1/readings", readings), 200);
  const openAlerts = async () => Number((await manage("GET", "/insight/v1/alerts?state=open")).body["total_items"]);
  await until("all alerts are open", async () => (await openAlerts()) >= 30);
  const prepare = (page: Page) =>
    page.route(/\/insight\/v1\/tanks\/t\d+$/, (route) =>
      pause(300)
        .then(() => route.continue())
        .catch(() => {}),
    );
  const opened = await openDashboard(t, browser, fleet, email.dispatcher, "/alerts", { prepare });
  if (opened === undefined) return;
  const { page } = opened;
  const names = page.locator("tbody tr td.title a");
  await until("the page is full", async () => (await names.count()) === 25);
  const [first = "", second] = await names.allInnerTexts();
  await page.locator("tbody tr").first().getByRole("button", { name: "Acknowledge" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  assert.equal(await page.evaluate(FOCUSED), second);
  assert.equal((await names.allInnerTexts()).includes(first), false);
  // It is requested every second.
  await pause(1_500);
  assert.equal(await page.evaluate(FOCUSED), second);
});
