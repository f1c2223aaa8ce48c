// The fleet screen in a real browser, at the widths of a phone and of a desk.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { expectStatus } from "../http/client.ts";
import { createUser } from "../support/browser.ts";
import { openBrowser } from "../support/chromium.ts";
import { customerRecord, tankRecord } from "../support/records.ts";
import { startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import {
  COLOURS,
  DESKTOP,
  HOSTILE_NAMES,
  openDashboard,
  overflow,
  PHONE,
  seriousViolations,
  startFleet,
  wholeResponse,
} from "./support.ts";

const browser = await openBrowser();
after(() => browser?.close());
const fleet = await startFleet({ after });
const { email, manage } = fleet;

const ROWS = ".fleet tbody tr";

test("the most urgent tanks are first; at any width, names do not break the layout, and axe reports no serious violations, light and dark", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.dispatcher, "/");
  if (opened === undefined) return;
  const { page, requests, errors } = opened;
  for (const viewport of [DESKTOP, PHONE]) {
    await page.setViewportSize(viewport);
    await page.locator(ROWS).first().waitFor();
    assert.deepEqual(
      await page
        .locator(`${ROWS} .fleet-tank a`)
        .allInnerTexts()
        .then((names) => names.slice(0, 3)),
      ["Tank 1", "Tank 2", "Tank 3"],
    );
    assert.equal(await page.locator(ROWS).count(), 25);
    const place = page.locator(ROWS).first().getByText(/Bonn$/).filter({ visible: true });
    assert.match(await place.innerText(), /^Bonn/);
    const row = await page.locator(ROWS).first().boundingBox();
    assert.ok(viewport === PHONE || (row?.height ?? 99) < 60, `a row of ${row?.height} px has two lines`);
    assert.match(await page.locator(".pager").innerText(), /1–25 of 65/);
    assert.equal(await overflow(page), 0);
    await page.emulateMedia({ colorScheme: "light" });
    assert.deepEqual(await seriousViolations(page), []);
    await page.emulateMedia({ colorScheme: "dark" });
    assert.deepEqual(await seriousViolations(page, COLOURS), [], "dark");
  }

  await page.goto(`${fleet.url}/?owner_id=c2`);
  for (const viewport of [PHONE, DESKTOP]) {
    await page.setViewportSize(viewport);
    await page
      .locator(".chip")
      .getByText(HOSTILE_NAMES[0] ?? "")
      .waitFor();
    await page.locator(ROWS).nth(4).waitFor();
    const names = await page.locator(`${ROWS} .fleet-tank a`).allTextContents();
    assert.deepEqual(names.sort(), [...HOSTILE_NAMES].sort());
    assert.equal(await overflow(page), 0);
    const heights: number[] = await page
      .locator(ROWS)
      .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height));
    assert.ok(Math.max(...heights) < 160, `rows of ${heights} px`);
  }
  assert.equal(await page.evaluate("window.injected"), undefined);
  assert.deepEqual([errors, requests.filter((url) => !url.startsWith(`${fleet.url}/`))], [[], []]);
});

test("nothing of a row is cut off, nor of a card on narrow phones, which says in words what a table has in columns", async (t) => {
  const days = [0.3, 1, 12].map((p50) => ({ p10: p50, p50, p90: p50 * 1.4 }));
  const prepare = (page: Page) =>
    page.route(/\/insight\/v1\/fleet\?/, async (route) => {
      const response = await wholeResponse(route);
      const list = await response.json();
      const alerts = ["runs_low_soon", "leak"].map((kind) => ({ id: kind, kind, state: "open" }));
      for (const [index, days_left] of days.entries()) Object.assign(list.data[index], { state: "ok", alerts, days_left });
      const [p10, p50, p90] = [8.9, 10.1, 12.2].map((inDays) => new Date(Date.now() + inDays * 86_400_000).toISOString());
      const next_reading_at = new Date(Date.now() - 86_400_000).toISOString();
      Object.assign(list.data[3], { state: "low", next_reading_at, room: { volume: 86_999_999, unit: "liters" } });
      list.data[3].forecast.runs_empty_at = { p10, p50, p90 };
      list.data[4].state = "low";
      list.data[3].customer.name = "Handelsgesellschaft Weinberg";
      list.data[3].forecast.use_per_day = { percentage: 2.34, volume: 63, unit: "liters" };
      await route.fulfill({ response, json: list });
    });
  const page = (await openDashboard(t, browser, fleet, email.dispatcher, "/", { prepare }))?.page;
  if (page === undefined) return;
  const row = page.locator(ROWS).nth(3);
  for (const width of [1920, 1440, 1344, 1343, 1280, 1210, 1000, 900, 768, 640, 320, 340, 360, 390]) {
    await page.setViewportSize({ width, height: 640 });
    await page.locator(ROWS).nth(24).waitFor();
    const cut: (string | null)[] = await page
      .locator(`${ROWS} :is(.fleet-state, .fleet-age, .fleet-level, .fleet-days, .fleet-use, .fleet-room) *`)
      .evaluateAll((parts) =>
        parts
          .filter((part) => part.getBoundingClientRect().right > (part.closest(".table-box")?.getBoundingClientRect().right ?? 0))
          .map((part) => part.textContent),
      );
    assert.deepEqual([cut, await overflow(page)], [[], 0], `${width} px`);
    const customer = row.locator(".fleet-customer .cut");
    const isCut = () =>
      customer.evaluate((name) => name.scrollWidth > name.clientWidth || name.scrollHeight > name.clientHeight + 1);
    assert.ok(width < 1210 || !(await isCut()), `the name of a customer is cut at ${width} px`);
    const bar = await page.locator(".level-bar").first().boundingBox();
    const isWide = width >= 1440 || width <= 390;
    assert.ok(!isWide || (bar?.width ?? 0) > 80, `a level of ${bar?.width} px at ${width} px`);
    // In a narrow table the range is below the word, if there is one.
    const ends: number[] = await page
      .locator(`${ROWS} .low-now`)
      .evaluateAll((texts) => texts.map((text) => Math.round(text.getBoundingClientRect().right)));
    assert.ok(width >= 1344 || width <= 896 || new Set(ends).size === 1, `"low now" ends at ${ends} at ${width} px`);
    const table = await page.locator(".fleet").boundingBox();
    assert.ok(table !== null && table.x + table.width > width - 40, `the list has the whole width of ${width} px`);
    const days = (await page.locator(`${ROWS} .fleet-days`).allInnerTexts()).slice(0, 4);
    assert.deepEqual(
      days.map((text) => text.replaceAll(/\s+/g, " ").trim()),
      [...(width > 896 ? ["<1", "1", "12 12–17"] : ["less than a day", "1 day", "12 12–17 days"]), "empty in 10 days 9–12"],
    );
    const textOf = async (name: string) => {
      const texts = await row.locator(`.fleet-${name}`).filter({ visible: true }).allInnerTexts();
      return texts.join().replaceAll(/\s+/g, " ").trim();
    };
    const expected = width <= 896 ? ["2.3 % per day", "room 87M l"] : ["2.3 %", width > 1200 ? "87M l" : ""];
    assert.deepEqual([await textOf("use"), await textOf("room")], expected, `${width} px`);
    const place = row.getByText(/^(Bonn|Köln)$/).filter({ visible: true });
    assert.equal(await place.count(), 1, `its place at ${width} px`);
    const overlaps = await row.locator("td > :visible").evaluateAll((parts) => {
      const boxes = parts.map((part) => part.getBoundingClientRect());
      return boxes.filter((one, index) =>
        boxes
          .slice(0, index)
          .some((other) => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom),
      ).length;
    });
    assert.equal(overlaps, 0, `nothing is over something else at ${width} px`);
  }
  assert.match(await row.locator(".fleet-age").innerText(), /overdue/);
});

test("without a mouse: j, k and the arrow keys move through the list, Enter opens a tank, Tab reaches the content first; tanks are selected on several pages", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.dispatcher);
  if (opened === undefined) return;
  const { page } = opened;
  await page.locator(ROWS).first().waitFor();
  const focused = () => page.evaluate<string>("document.activeElement.textContent");
  await page.keyboard.press("Tab");
  assert.equal(await focused(), "Skip to the content");
  const seen: string[] = [];
  for (const key of ["j", "j", "ArrowDown", "k", "ArrowUp"]) {
    await page.keyboard.press(key);
    seen.push(await focused());
  }
  assert.deepEqual(seen, ["Tank 1", "Tank 2", "Tank 3", "Tank 2", "Tank 1"]);
  await page.keyboard.press("x");
  await page.getByRole("button", { name: "Threshold of 1 tank" }).waitFor();
  await page.keyboard.press("Tab");
  assert.equal(await focused(), "Brenner Gas GmbH");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/customers/c1");
  await page.locator("h1:focus").waitFor();
  await page.getByRole("link", { name: "Skip to the content" }).focus();
  await page.keyboard.press("Enter");
  assert.deepEqual([await page.evaluate("document.activeElement.id"), page.url()], ["main", `${fleet.url}/customers/c1`]);

  await page.goBack();
  await page.getByRole("checkbox", { name: "Select Tank 1", exact: true }).check();
  await page.getByRole("link", { name: "Next" }).click();
  await page.getByText("26–50 of 65").waitFor();
  await page.getByRole("checkbox", { name: "Select all tanks" }).check();
  await page.getByRole("button", { name: "Threshold of 26 tanks" }).click();
  await page.getByText("You selected 26 tanks. 1 of them is not on this page.").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Select all 65" }).click();
  await page.getByRole("button", { name: "Threshold of 65 tanks" }).waitFor();
  assert.equal(await focused(), "Threshold of 65 tanks");
  assert.equal(await page.getByRole("button", { name: "Select all" }).count(), 0);
});

test("all tanks of a filter can be selected while others are selected", async (t) => {
  const page = (await openDashboard(t, browser, fleet, email.dispatcher))?.page;
  if (page === undefined) return;
  await page.getByRole("checkbox", { name: "Select all tanks" }).check();
  await page.getByRole("searchbox").fill("030 5550 köln");
  await page.getByText("30 tanks found").waitFor();
  await page.getByRole("checkbox", { name: "Select all tanks" }).check();
  await page.getByRole("button", { name: "Select all 30" }).click();
  await page.getByRole("button", { name: "Select all 30" }).waitFor({ state: "detached" });
});

test("at any width, a dispatcher changes the threshold of several tanks, and exports what a filter finds", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.dispatcher, "/?search=device-5&sort=margin");
  if (opened === undefined) return;
  const { page, errors } = opened;
  await page.getByText("11 tanks found").waitFor();
  for (const [viewport, threshold] of [
    [DESKTOP, 33],
    [PHONE, 34],
  ] as const) {
    await page.setViewportSize(viewport);
    await page.getByRole("checkbox", { name: "Select Tank 51" }).check();
    await page.getByRole("checkbox", { name: "Select Tank 52" }).check();
    await page.getByRole("button", { name: "Threshold of 2 tanks" }).click();
    await page.getByLabel("Alert threshold in %").fill("101");
    await page.getByRole("button", { name: "Change", exact: true }).click();
    await page.getByLabel("Alert threshold in %").fill(String(threshold));
    await page.getByRole("button", { name: "Change", exact: true }).click();
    await page.getByText(`The threshold of 2 tanks is ${threshold} %`).waitFor();
    for (const id of ["t51", "t52"]) {
      const tank = expectStatus(await manage("GET", `/manage/v1/tanks/${id}`), 200);
      assert.equal(tank["min_fill_alert_percentage"], threshold, id);
    }
  }
  await page.getByRole("button", { name: "Export" }).click();
  await page.getByLabel(/Semicolon/).check();
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save CSV file" }).click();
  const text = readFileSync(await (await saved).path(), "utf8");
  assert.match(text, /^\ufefftank_id;name;custom_id;device;/);
  assert.equal(text.split("\r\n").length, 12);
  assert.match(text, /\r\nt51;Tank 51;;device-51;c1;Brenner Gas GmbH;\+49 30 5550;/);
  assert.match(text, /;\d{4}-\d\d-\d\d \d\d:\d\d;/, "local times, as a spreadsheet reads them");
  assert.deepEqual(errors, []);
});

test("on a phone, the bar of the selection stays in view", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.dispatcher, "/", { viewport: PHONE });
  if (opened === undefined) return;
  const { page } = opened;
  await page.getByRole("checkbox", { name: "Select Tank 2", exact: true }).check();
  await page.locator(ROWS).nth(20).scrollIntoViewIfNeeded();
  const bar = await page.locator(".selection-bar").boundingBox();
  assert.ok(bar !== null && bar.y > PHONE.height / 2 && bar.y + bar.height <= PHONE.height, JSON.stringify(bar));
  assert.equal(await overflow(page), 0);
  assert.deepEqual(await seriousViolations(page), []);
});

test("a tank that was deleted does not keep others from a new threshold, and the selection can be cleared", async (t) => {
  await fleet.store.importCustomers([customerRecord("c4")]);
  await fleet.store.importTanks(["d1", "d2", "d3"].map((id) => tankRecord(id, "c4", { name: id })));
  const opened = await openDashboard(t, browser, fleet, email.dispatcher, "/?owner_id=c4", { viewport: PHONE });
  if (opened === undefined) return;
  const { page } = opened;
  const placeOfFirst = async () => (await page.locator(ROWS).first().boundingBox())?.y;
  const before = await placeOfFirst();
  for (const id of ["d1", "d2", "d3"]) await page.getByRole("checkbox", { name: `Select ${id}` }).check();
  assert.equal(await placeOfFirst(), before, "the list stays under the finger");
  expectStatus(await manage("DELETE", "/manage/v1/tanks/d2"), 200);
  await page.getByRole("button", { name: "Threshold of 3 tanks" }).click();
  await page.getByLabel("Alert threshold in %").fill("41");
  await page.getByRole("button", { name: "Change", exact: true }).click();
  await page.getByText("The threshold of 2 tanks is 41 %. Deleted meanwhile: d2").waitFor();
  await page.locator("h1:focus").waitFor();
  for (const id of ["d1", "d3"])
    assert.equal((await manage("GET", `/manage/v1/tanks/${id}`)).body["min_fill_alert_percentage"], 41, id);

  await page.getByRole("checkbox", { name: "Select d1" }).check();
  assert.equal(await overflow(page), 0);
  await page.getByRole("button", { name: "Clear selection" }).click();
  await page.getByRole("button", { name: "Threshold of" }).waitFor({ state: "detached" });
  await page.locator("h1:focus").waitFor();
  assert.equal(await page.getByRole("checkbox", { name: "Select d1" }).isChecked(), false);
  for (const id of ["d1", "d3"]) expectStatus(await manage("DELETE", `/manage/v1/tanks/${id}`), 200);
});

test("a viewer: counters, search and pages are in the URL, a reload shows the same, and new readings and alerts appear by themselves", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.viewer);
  if (opened === undefined) return;
  const { page, errors } = opened;
  const counter = page.getByRole("link", { name: /Low/ }).first();
  await counter.getByText("3 open").waitFor();
  await counter.click();
  await page.waitForURL("**/?alert=low");
  await page.getByText("3 tanks found").waitFor();
  await page.reload();
  await page.getByText("3 tanks found").waitFor();
  await counter.click();
  await page.getByText("65 tanks", { exact: true }).waitFor();

  await page.keyboard.press("/");
  await page.keyboard.type("030 5550 köln");
  await page.waitForURL(/search=030\+5550\+k/);
  await page.getByText("30 tanks found").waitFor();
  await page.getByRole("searchbox").fill("device-7");
  await page.getByText("1 tank found").waitFor();
  await page.getByRole("searchbox").fill("nothing like it");
  await page.getByRole("link", { name: "Show all tanks" }).click();
  await page.getByRole("link", { name: "Next" }).click();
  await page.waitForURL("**/?page=2");
  await page.getByText("26–50 of 65").waitFor();
  await page.goBack();
  await page.getByText("1–25 of 65").waitFor();
  assert.equal(await page.locator("input[type=checkbox]").count(), 0, "a viewer changes nothing");

  const hasTitle = (title: string) => until(title, async () => (await page.title()) === title, 20_000);
  await hasTitle("(3) Fleet · Tank Monitor");
  const row = page.locator(ROWS).filter({ has: page.getByText("Tank 2", { exact: true }) });
  const readings = [
    { tank_id: "t2", fill_percentage: 1.5 },
    { tank_id: "t9", fill_percentage: 3 },
  ];
  expectStatus(await manage("POST", "/ingest/v1/readings", readings), 200);
  await row.locator(".fleet-level").getByText("1.5 %, threshold 20 %").waitFor();
  const paused_until = new Date(Date.now() + 86_400_000).toISOString();
  expectStatus(await manage("PATCH", "/manage/v1/tanks/t2", { alerts: { paused_until } }), 200);
  await row.getByText("Paused").waitFor();
  await hasTitle("(4) Fleet · Tank Monitor");
  await page.getByRole("link", { name: "Low: Tank 9, Bonn" }).waitFor();
  assert.deepEqual(errors, []);
});

test("a customer sees their own tanks only", async (t) => {
  const opened = await openDashboard(t, browser, fleet, "two@example.com", "/", { viewport: PHONE });
  if (opened === undefined) return;
  const { page } = opened;
  await page.getByText("5 tanks").waitFor();
  await page.getByRole("heading", { level: 1, name: "Your tanks" }).waitFor();
  assert.equal(await page.locator(".fleet-customer").count(), 0, "they know their own name");
  assert.equal(await page.locator(".fleet-place:visible").count(), 5);
  await page.getByRole("button", { name: "Menu" }).click();
  const links = await page.getByRole("navigation", { name: "Screens" }).getByRole("link").allInnerTexts();
  assert.deepEqual(
    links.filter((name) => /Customers|Keys|Users|Audit/.test(name)),
    [],
  );
  await page.goto(`${fleet.url}/tanks/t61`);
  await page.locator(".figures").waitFor();
  assert.equal(await page.locator(".tank-place").innerText(), "Bonn", "they know their own name there, too");
  await page.goto(`${fleet.url}/?owner_id=c1`);
  await page.getByText("No tank matches").waitFor();
  await page.goto(`${fleet.url}/nothing`);
  await page.getByRole("link", { name: "Go to your tanks" }).click();
  await page.getByText("5 tanks").waitFor();
});

test("an export has every tank once, also one that becomes the most urgent while the pages are read", async (t) => {
  const ids = Array.from({ length: 120 }, (_, i) => `m${i}`);
  await fleet.store.importCustomers([customerRecord("c3")]);
  await fleet.store.importTanks(ids.map((id) => tankRecord(id, "c3")));
  const readings = ids.map((id, i) => ({ tank_id: id, fill_percentage: 30 + i / 2 }));
  expectStatus(await manage("POST", "/ingest/v1/readings", readings), 200);
  const opened = await openDashboard(t, browser, fleet, email.viewer, "/?owner_id=c3");
  if (opened === undefined) return;
  const { page, errors } = opened;
  await page.getByText("120 tanks found").waitFor();
  let isMoved = false;
  await page.route(/\/insight\/v1\/fleet\?.*page=2/, async (route) => {
    if (!isMoved) {
      isMoved = true;
      expectStatus(await manage("POST", "/ingest/v1/readings", [{ tank_id: "m119", fill_percentage: 1 }]), 200);
      const low = async () => (await manage("GET", "/insight/v1/fleet?owner_id=c3&state=low")).body["total_items"] === 1;
      await until("the tank is the first", low, 60_000);
    }
    await route.continue();
  });
  await page.getByRole("button", { name: "Export" }).click();
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save CSV file" }).click();
  const [, ...lines] = readFileSync(await (await saved).path(), "utf8").split("\r\n");
  assert.deepEqual(lines.map((line) => line.split(",")[0]).sort(), ids.sort());
  assert.deepEqual([isMoved, errors], [true, []]);
});

test("an empty fleet says how to add tanks to those who may, and has nothing to export", async (t) => {
  const empty = await startService(t, { environment: { RATE_LIMIT: "0" } });
  await createUser(empty, "dispatcher", email.dispatcher);
  await createUser(empty, "viewer", email.viewer);
  const opened = await openDashboard(t, browser, empty, email.viewer);
  if (opened === undefined) return;
  const main = opened.page.getByRole("main");
  await main.getByText("Dispatchers and administrators can add").waitFor();
  assert.deepEqual([await main.getByRole("link").count(), await main.getByRole("button").count()], [0, 0]);

  const own = await openDashboard(t, browser, empty, email.dispatcher);
  await own?.page.getByRole("link", { name: "Add customers" }).click();
  await own?.page.getByRole("button", { name: "Add customer" }).waitFor();
});

test("printed on paper, the fleet is a table with room and use, and without counters and selection", async (t) => {
  const a4 = { width: 718, height: 1047 };
  const location = { street: "Lange Straße", street_number: "1" };
  expectStatus(await manage("PATCH", "/manage/v1/tanks/t1", { location }), 200);
  const opened = await openDashboard(t, browser, fleet, email.dispatcher, "/", { viewport: a4 });
  if (opened === undefined) return;
  const { page } = opened;
  await page.locator(ROWS).first().waitFor();
  await page.emulateMedia({ media: "print" });
  const shown = async (selector: string) => [selector, await page.locator(selector).first().isVisible()];
  for (const selector of [".counters", ".fleet-select input", ".toolbar", ".side", ".pager-buttons"]) {
    assert.deepEqual(await shown(selector), [selector, false]);
  }
  const headings = (await page.locator(".fleet th:visible").allInnerTexts()).map((text) => text.trim());
  assert.deepEqual(headings.slice(0, 7), ["Tank", "Customer", "Place", "Level", "Days left", "Use per day", "Room"]);
  const row = page.locator(ROWS).first();
  const places = await row.locator("td:visible").evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().x));
  assert.equal(places.length, headings.length);
  assert.match(await page.locator(".head").innerText(), /Printed .*\d:\d\d/);
  assert.doesNotMatch(await row.locator(".fleet-age").innerText(), /now|ago|next/);
  const withStreet = page.locator(ROWS, { hasText: "Lange Straße 1" });
  assert.match(await withStreet.locator(".fleet-customer").innerText(), /\+49 30 5550/);
  assert.match(await withStreet.locator(".fleet-place").innerText(), /Lange Straße 1\s+Bonn/);
  const customer = row.locator(".fleet-customer .cut");
  assert.ok(await customer.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth), "names are not cut");
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
    "one beside the other",
  );
  assert.equal(await overflow(page), 0);
});
