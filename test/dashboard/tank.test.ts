// The screen of a tank, in a real browser.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Page } from "playwright-core";
import { expectStatus, jsonClient } from "../http/client.ts";
import { createUser } from "../support/browser.ts";
import { openBrowser } from "../support/chromium.ts";
import { customerRecord, putReadings, tankRecord } from "../support/records.ts";
import { startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { expectFits, expectGood, expectGoodInDark } from "./expect-good.ts";
import { countPixels } from "./pixels.ts";
import { DESKTOP, fingersOn, openDashboard, PHONE, wholeResponse } from "./support.ts";
import { withManyRefills, withOneRefill } from "./tank-levels.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const HOSTILE = `<img src=x onerror="document.title='broken'"> 🛢️ شركة الغاز ${"W".repeat(440)}`;

const service = await startService({ after }, { environment: { RATE_LIMIT: "0" } });
const manage = jsonClient(service, await service.key({ role: "manage" }));
const browser = await openBrowser();
after(() => browser?.close());
const STAFF = { viewer: "viewer@operator.example", dispatcher: "dispatcher@operator.example", admin: "admin@operator.example" };
const BERLIN = { locale: "en-GB", timezoneId: "Europe/Berlin" };
const now = Date.now();

before(async () => {
  for (const role of ["viewer", "dispatcher", "admin"] as const) await createUser(service, role, STAFF[role]);
  await service.store.importCustomers([
    customerRecord("cus_own", { name: HOSTILE, email: "own@customers.example" }),
    customerRecord("cus_other", { email: "other@customers.example" }),
  ]);
  await service.store.importTanks([
    tankRecord("tank_used", "cus_own", { name: "Boiler house", min_fill_alert_percentage: 20 }),
    tankRecord("tank_hostile", "cus_own", { name: HOSTILE, custom_id: HOSTILE, location: { city: HOSTILE, country: HOSTILE } }),
    tankRecord("tank_other", "cus_other"),
    tankRecord("tank_busy", "cus_other"),
    tankRecord("tank_refilled", "cus_other", { min_fill_alert_percentage: 25 }),
    tankRecord("tank_late", "cus_other", { min_fill_alert_percentage: 23 }),
    tankRecord("tank_silent", "cus_other", { min_fill_alert_percentage: 20 }),
  ]);
  await putReadings(service.store, "tank_used", withOneRefill(now));
  await putReadings(service.store, "tank_refilled", withOneRefill(now));
  await putReadings(service.store, "tank_late", withOneRefill(now - 2 * DAY));
  await putReadings(service.store, "tank_busy", withManyRefills(now));
  await putReadings(service.store, "tank_hostile", [[now - 60_000, 10]]);
  await putReadings(service.store, "tank_silent", [[now - 10 * DAY, 50]]);
  await until(
    "forecasts are computed",
    async () => (await manage("GET", "/insight/v1/tanks/tank_used/forecast")).body["state"] === "ok",
    30_000,
  );
});

/** Those who may not pause a tank see by themselves that it is paused, and when it no longer is. */
async function expectPauseShown(page: Page): Promise<void> {
  const pause = async (paused_until: string | null) =>
    expectStatus(await manage("PATCH", "/manage/v1/tanks/tank_used", { alerts: { paused_until } }), 200);
  await pause("2099-03-04T23:00:00.000Z");
  await page.getByText("Paused until the end of 4 Mar 2099: no alert of this tank opens.").waitFor();
  assert.equal(await page.getByRole("button", { name: /Pause|Resume/ }).count(), 0);
  await pause(null);
  await page.getByText("Paused until").first().waitFor({ state: "detached" });
}

/** The texts of a chart, and how far below the top of its plot each is. */
const REMEMBER_TEXTS = `const fillText = CanvasRenderingContext2D.prototype.fillText;
  window.texts = new Map();
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    fillText.call(this, text, x, y);
    const [canvas, plot] = [".chart canvas", ".u-over"].map((part) => document.querySelector(part)?.getBoundingClientRect());
    const { actualBoundingBoxAscent } = this.measureText(text);
    if (plot !== undefined) window.texts.set(text, { top: y - actualBoundingBoxAscent - (plot.top - canvas.top) * devicePixelRatio });
  };`;

const FOCUSED = "document.activeElement.textContent";

describe("the screen of a tank", () => {
  it("shows the level, the forecast, the history as a chart and in words, and new readings by themselves", async (t) => {
    const screen = await openDashboard(t, browser, service, STAFF.admin, "/tanks/tank_used", BERLIN);
    if (screen === undefined) return;
    const { page } = screen;
    await page.getByRole("heading", { name: "Boiler house" }).waitFor();
    await page.locator(".chart canvas").waitFor();
    const words = (await page.getByRole("img", { name: /Chart of the level/ }).getAttribute("aria-label")) ?? "";
    assert.match(words, /highest 90\.0\s%, latest 30\.\d\s%\. Threshold 20\s%\. 1 refill\. Expected to run low on/);
    const figures = await page.locator(".figures").innerText();
    for (const label of ["Use per day", "Days left", "Room for a delivery", "Suggested delivery"])
      assert.ok(figures.includes(label));
    assert.match(figures, /Days left\s+\d+\s+probably \d+ to \d+ \(80\s%\)/);
    const weeks = page.getByRole("radiogroup", { name: "Use per week" }).getByRole("radio");
    await weeks.nth(10).waitFor();
    const card = page.locator("section", { has: page.getByRole("heading", { name: "Use per week" }) });
    await weeks.nth(3).check();
    await page.keyboard.press("ArrowRight");
    await card.getByText((await weeks.nth(4).getAttribute("aria-label")) ?? "-").waitFor();
    await expectGood(screen);
    await expectGoodInDark(screen);
    for (const [width, inRow] of [
      [390, 2],
      [600, 3],
      [1000, 3],
      [1280, 6],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      const tops = await page.locator(".figures > div").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top));
      assert.equal(tops.length / new Set(tops).size, inRow, `figures in a row at ${width} px`);
    }
    expectStatus(await manage("POST", "/ingest/v1/readings", { tank_id: "tank_used", fill_percentage: 29.4 }), 200);
    await page.locator(".figures", { hasText: "29.4 %" }).waitFor();
  });

  it("draws levels, threshold, refills and the forecast with its range, and estimates the level after a day without a reading", async (t) => {
    const forecast = "/insight/v1/tanks/tank_late/forecast";
    await until("its forecast is computed", async () => (await manage("GET", forecast)).body["state"] === "ok", 30_000);
    const days = (...around: readonly [number, number]) => around.map((day) => now + day * DAY);
    const [from = 0, to = 0] = days(-80, 40);
    const path = `/tanks/tank_late?from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}`;
    const screen = await openDashboard(t, browser, service, STAFF.viewer, path, BERLIN);
    if (screen === undefined) return;
    const { page } = screen;
    await page.locator(".figures", { hasText: /measured 2 days ago; estimated now: 2[78]\.\d\s%/ }).waitFor();
    await page.getByRole("img", { name: /\. 1 refill\. Expected to run low on/ }).waitFor();
    await page.locator(".chart canvas").waitFor();
    for (const [what, colour, part] of [
      ["levels", "fill", { times: days(-40, -10), levels: [40, 70] }],
      ["the lowest and the highest of each step", "fill", { times: days(-60, -5), levels: [35, 90], opacity: 0.28 }],
      ["the forecast", "fill", { times: days(1, 20), levels: [5, 30] }],
      ["its range", "fill", { times: days(5, 20), levels: [0, 30], opacity: 0.14 }],
      ["the threshold", "low", { times: days(-30, -10), levels: [22, 24] }],
      ["the refill", "ok", { times: days(-65, -58), levels: [25, 90] }],
      ["now", "dim", { times: days(-1, 1), levels: [50, 100] }],
    ] as const)
      await until(`${what}: drawn`, async () => (await countPixels(page, colour, part)) > 10);
  });

  it("names the threshold where it hides no levels, also at 100 %", async (t) => {
    let threshold = 5;
    const prepare = async (page: Page) => {
      await page.route(/\/insight\/v1\/tanks\/tank_late$/, async (route) => {
        const response = await wholeResponse(route);
        const entry = await response.json();
        entry.tank.min_fill_alert_percentage = threshold;
        await route.fulfill({ response, json: entry });
      });
      await page.addInitScript(REMEMBER_TEXTS);
    };
    const [from = 0, crossed = 0, to = 0] = [-80, -75, 40].map((day) => now + day * DAY);
    const path = `/tanks/tank_late?from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}`;
    const screen = await openDashboard(t, browser, service, STAFF.viewer, path, { ...BERLIN, prepare });
    if (screen === undefined) return;
    const { page } = screen;
    const countLevels = () => countPixels(page, "fill", { times: [from, crossed], levels: [30, 40] });
    const named = (text: string) =>
      until(text, () => page.evaluate<{ readonly top: number } | undefined>(`window.texts?.get("${text}")`));
    await named("Threshold 5\u00a0%");
    const levels = await countLevels();
    assert.ok(levels > 20, `levels of ${levels} pixels`);
    threshold = 33;
    await named("Threshold 33\u00a0%");
    // Its line crosses them.
    assert.ok((await countLevels()) > levels * 0.8, `${await countLevels()} of ${levels} pixels`);
    threshold = 100;
    const { top } = await named("Threshold 100\u00a0%");
    assert.ok(top > 0, `${-top} px above the plot`);
  });

  it("shows levels, use, the range and the open screen where the colours are forced", async (t) => {
    const forced = { ...BERLIN, forcedColors: "active" } as const;
    const screen = await openDashboard(t, browser, service, STAFF.viewer, "/tanks/tank_used", forced);
    if (screen === undefined) return;
    const { page } = screen;
    await page.locator(".chart canvas").waitFor();
    const backgrounds = (await page.evaluate(`[".level-bar", ".bars label"].map((of) =>
      getComputedStyle(document.querySelector(of), "::before").backgroundColor)`)) as string[];
    const canvas = await page.evaluate("getComputedStyle(document.body).backgroundColor");
    for (const background of backgrounds) assert.notEqual(background, canvas);
    for (const name of ["Fleet", "3 months"]) {
      const link = page.getByRole("link", { name, exact: true });
      assert.equal(
        await link.evaluate((element) => element.ownerDocument.defaultView?.getComputedStyle(element).outlineStyle),
        "solid",
        name,
      );
    }
    const drawn = () =>
      page.evaluate<number>(`(() => {
        const canvas = document.querySelector(".chart canvas");
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        const colours = new Set();
        for (let at = 0; at < data.length; at += 4)
          if (data[at + 3] > 200) colours.add(data.slice(at, at + 3).map((part) => part >> 4).join());
        return colours.size;
      })()`);
    await until("the chart has several colours", async () => (await drawn()) > 3);
  });

  it("has no days left, delivery or forecast after a refill that is not confirmed yet, here and in alerts", async (t) => {
    const isLowSoon = "/insight/v1/alerts?tank_id=tank_refilled&kind=runs_low_soon&state=open";
    await until("it is low soon", async () => (await manage("GET", isLowSoon)).body["total_items"] === 1, 30_000);
    expectStatus(await manage("POST", "/ingest/v1/readings", { tank_id: "tank_refilled", fill_percentage: 95 }), 200);
    const tank = "/insight/v1/tanks/tank_refilled";
    await until("the rise is known", async () => (await manage("GET", tank)).body["days_left"] === null, 30_000);
    const screen = await openDashboard(t, browser, service, STAFF.viewer, "/tanks/tank_refilled", BERLIN);
    if (screen === undefined) return;
    const { page } = screen;
    await page.locator(".chart canvas").waitFor();
    const figures = await page.locator(".figures").innerText();
    assert.match(figures, /Days left\s+–\s+after a refill: new forecast in a day or two\s/);
    assert.match(figures, /Suggested delivery\s+–$/);
    const words = (await page.getByRole("img", { name: /Chart of the level/ }).getAttribute("aria-label")) ?? "";
    assert.doesNotMatch(words, /Expected/);
    await page.getByRole("link", { name: /^Alerts/ }).click();
    await page.getByText("Low soon before a refill; new forecast in a day or two").waitFor();
  });

  it("is low, and to be delivered now, also without an alert and before a new forecast", async (t) => {
    const prepare = (page: Page) =>
      page.route(/\/insight\/v1\/tanks\/tank_used$/, async (route) => {
        const response = await wholeResponse(route);
        await route.fulfill({ response, json: { ...(await response.json()), state: "low", alerts: [] } });
      });
    const path = "/tanks/tank_used";
    const page = (await openDashboard(t, browser, service, STAFF.viewer, path, { ...BERLIN, prepare }))?.page;
    await page?.locator(".figures", { hasText: /Suggested delivery\s*now\s*[\d,]+\sl, up to its usual full level/ }).waitFor();
    await page?.locator(".badge").getByText("Low", { exact: true }).waitFor();
  });

  it("says when the forecast comes back after a sudden fall", async (t) => {
    const prepare = (page: Page) =>
      page.route(/\/insight\/v1\/tanks\/tank_used$/, async (route) => {
        const response = await wholeResponse(route);
        const { forecast, ...entry } = await response.json();
        const unknown = { p10: null, p50: null, p90: null };
        const fallen = { ...forecast, state: "ok", runs_low_at: unknown, runs_empty_at: unknown, suggested_delivery: null };
        await route.fulfill({ response, json: { ...entry, days_left: null, forecast: fallen } });
      });
    const path = "/tanks/tank_used";
    const page = (await openDashboard(t, browser, service, STAFF.viewer, path, { ...BERLIN, prepare }))?.page;
    await page?.locator(".figures", { hasText: /Days left\s*–\s*after a sudden change: new forecast in a day or two/ }).waitFor();
  });

  it("does not take readings of the former device for those of its device", async (t) => {
    const device = async (tank: string, assigned_device_id: string) =>
      expectStatus(await manage("PATCH", `/manage/v1/tanks/${tank}`, { assigned_device_id }), 200);
    await device("tank_other", "used-before");
    await device("tank_other", "other-device");
    const page = (await openDashboard(t, browser, service, STAFF.viewer, "/tanks/tank_refilled", BERLIN))?.page;
    if (page === undefined) return;
    const card = page.locator("section", { has: page.getByRole("heading", { name: "Device" }) });
    await card.getByText("fill percentages").waitFor();
    await card.getByText("Sending").waitFor();
    for (const [id, sends] of [
      ["never-used", []],
      ["used-before", ["Nothing received from this device yet"]],
    ] as const) {
      await device("tank_refilled", id);
      await card.getByText(id).waitFor();
      await until(`${id}: no claim`, async () => {
        const shown = await card.getByText(/Sending|fill percentages|Nothing received/).allInnerTexts();
        return JSON.stringify(shown) === JSON.stringify(sends);
      });
    }
  });

  it("has its chart where the language of the browser is not valid", async (t) => {
    const prepare = (page: Page) =>
      page.addInitScript(`Object.defineProperty(navigator, "language", { value: "en-US@posix", configurable: true })`);
    const page = (await openDashboard(t, browser, service, STAFF.viewer, "/tanks/tank_used", { prepare }))?.page;
    await page?.locator(".chart canvas").waitFor();
  });

  it("has ranges and a zoom by dragging in its URL, and a table of the same", async (t) => {
    const screen = await openDashboard(t, browser, service, STAFF.viewer, "/tanks/tank_used?range=year", BERLIN);
    if (screen === undefined) return;
    const { page } = screen;
    await page.locator(".chart canvas").waitFor();
    const box = await page.locator(".u-over").boundingBox();
    assert.ok(box !== null);
    await page.mouse.move(box.x + box.width * 0.6, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.75, box.y + 60, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL(/from=.*to=/);
    await page.locator(".u-legend").waitFor({ state: "hidden" });
    await page.mouse.move(box.x + box.width * 0.5, box.y + 40);
    await page.locator(".u-legend", { hasText: /Level.*\d\s%/ }).waitFor();
    const shown = await page.locator(".u-legend th:visible").allInnerTexts();
    assert.deepEqual(shown, ["Time", "Highest", "Lowest", "Level"], "no forecast for the past");
    await page.getByText("As a table").click();
    await page.getByRole("columnheader", { name: "Lowest" }).waitFor();
    await page.getByRole("link", { name: "Whole range" }).click();
    await page.waitForURL((url) => url.search === "?range=year");
    await page.getByRole("link", { name: "All", exact: true }).click();
    await page.locator(".chart canvas").waitFor();
    assert.equal(await page.getByRole("button", { name: "Edit" }).isDisabled(), true);
    await page.getByText("Dispatchers and administrators can change tanks.").waitFor();
    await expectGood(screen);
    await expectPauseShown(page);
  });

  it("zooms to an hour at least by dragging", async (t) => {
    const path = `/tanks/tank_used?from=${new Date(now - 9 * HOUR).toISOString()}&to=${new Date(now).toISOString()}`;
    const page = (await openDashboard(t, browser, service, STAFF.viewer, path, BERLIN))?.page;
    if (page === undefined) return;
    const box = await page.locator(".u-over").boundingBox();
    assert.ok(box !== null);
    const before = page.url();
    await page.mouse.move(box.x + box.width * 0.6, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.62, box.y + 40, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL((url) => url.href !== before);
    const { searchParams } = new URL(page.url());
    const [from = 0, to = 0] = ["from", "to"].map((name) => Date.parse(searchParams.get(name) ?? ""));
    assert.ok(Math.abs(to - from - HOUR) < 1000, `${(to - from) / HOUR} hours`);
    assert.ok(Math.abs((from + to) / 2 - (now - 9 * HOUR * 0.39)) < 0.1 * HOUR, "around what was marked");
  });

  it("zooms and moves its chart by keys, also where there are no readings, and goes back to the whole range", async (t) => {
    const screen = await openDashboard(t, browser, service, STAFF.viewer, "/tanks/tank_used?range=month", BERLIN);
    if (screen === undefined) return;
    const { page } = screen;
    await page.locator(".chart canvas").waitFor();
    await page.getByRole("application", { name: /plus and minus zoom/ }).waitFor();
    await page.getByRole("link", { name: "All", exact: true }).focus();
    await page.keyboard.press("Tab");
    const focused = page.locator('[role="application"]:focus');
    await focused.waitFor();
    assert.equal(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle"), "solid");
    const spanAfter = async (key: string) => {
      const before = page.url();
      await page.keyboard.press(key);
      await page.waitForURL((url) => url.href !== before);
      const { searchParams } = new URL(page.url());
      return ["from", "to"].map((name) => Date.parse(searchParams.get(name) ?? "") / DAY) as [number, number];
    };
    const [from, to] = await spanAfter("+");
    assert.ok(to - from < 30, "less is shown");
    const [earlier, until] = await spanAfter("ArrowLeft");
    assert.ok(earlier < from && Math.abs(until - earlier - (to - from)) < 0.001, "as long, but earlier");
    const [start, end] = await spanAfter("-");
    assert.ok(start < earlier && end > until, "around the middle");
    for (let presses = 0; presses < 25; presses++) await page.keyboard.press("ArrowLeft");
    await page.getByText("No readings in this time").waitFor();
    for (let presses = 0; presses < 40; presses++) await page.keyboard.press("ArrowRight");
    await page.locator(".chart canvas").waitFor();
    const latest = Date.parse(new URL(page.url()).searchParams.get("to") ?? "");
    assert.ok(latest < Date.now() + 30 * DAY, "most of the chart is left to the readings");
    await expectFits(screen);
    for (const key of ["0", "Escape"]) {
      await spanAfter("+");
      await page.keyboard.press(key);
      await page.waitForURL((url) => url.search === "?range=month");
    }
    assert.equal(await focused.count(), 1, "it still has the focus");
  });

  it("zooms its chart by two fingers, moves it by one, shows all again by a double tap, and lets the page scroll", async (t) => {
    const touch = { ...BERLIN, viewport: PHONE, hasTouch: true, isMobile: true };
    const screen = await openDashboard(t, browser, service, STAFF.viewer, "/tanks/tank_used?range=month", touch);
    if (screen === undefined) return;
    const { page } = screen;
    await page.locator(".chart canvas").waitFor();
    await page.locator(".chart").scrollIntoViewIfNeeded();
    const touchAt = await fingersOn(page, ".u-over");
    const width = Number(await page.evaluate("document.querySelector('.u-over').clientWidth"));
    const drag = async (dx: number, dy: number) => {
      await touchAt("touchStart", [0, 0]);
      for (const part of [0.25, 0.5, 0.75, 1]) await touchAt("touchMove", [dx * part, dy * part]);
      await touchAt("touchEnd");
    };
    const span = () => {
      const { searchParams } = new URL(page.url());
      return ["from", "to"].map((name) => Date.parse(searchParams.get(name) ?? "") / DAY) as [number, number];
    };
    const urls: string[] = [];
    page.on("framenavigated", () => urls.push(page.url()));

    await touchAt("touchStart", [-30, 0]);
    await touchAt("touchEnd");
    await page
      .locator(".u-legend")
      .getByText(/^\d+\.\d\s%$/)
      .first()
      .waitFor();

    await drag(-80, 0);
    // Asymmetric, as fingers are: the place between them moves to the right.
    await touchAt("touchStart", [-40, 0], [40, 0]);
    for (const by of [10, 20, 30, 40, 50, 60]) await touchAt("touchMove", [-40 - by / 3, by / 6], [40 + by, by / 3]);
    await touchAt("touchEnd");
    await page.waitForURL(/from=/);
    assert.equal(urls.length, 1, "one finger moves nothing that is not zoomed, and what is zoomed to is in the URL once");
    const [from, to] = span();
    assert.ok(to - from < 30, `${to - from} days`);

    await drag(80, 0);
    await page.waitForURL((url) => url.href !== urls[0]);
    const [earlier, end] = span();
    const expected = (80 / width) * (to - from);
    assert.ok(Math.abs(from - earlier - expected) < 0.1 * expected, `moved by ${from - earlier} days, not ${expected}`);
    assert.ok(Math.abs(end - earlier - (to - from)) < 0.001, "as long, but earlier");

    const wide = page.url();
    await touchAt("touchStart", [-40, 0], [40, 0]);
    for (const by of [1.25, 1.5, 1.75, 2]) await touchAt("touchMove", [-40 * by, 0], [40 * by, 0]);
    await touchAt("touchEnd");
    await page.waitForURL((url) => url.href !== wide);
    const [start, stop] = span();
    assert.ok(Math.abs((stop - start) * 2 - (end - earlier)) < 0.1, "half as long");
    assert.ok(Math.abs(start + stop - earlier - end) < 0.1, "around the place between the fingers");

    const present = page.url();
    const scrolled = () => page.evaluate("scrollY") as Promise<number>;
    const before = await scrolled();
    await drag(4, -120);
    await until("the page has scrolled", async () => (await scrolled()) > before + 50);
    assert.equal(page.url(), present, "the chart has not moved");

    await until("the whole range is shown", async () => {
      await page.evaluate(`scrollTo(0, ${before})`);
      for (const _ of [1, 2]) {
        await touchAt("touchStart", [30, 0]);
        await touchAt("touchEnd");
      }
      return new URL(page.url()).search === "?range=month";
    });
    assert.equal(await page.evaluate("visualViewport.scale"), 1, "the page itself is not zoomed");
    await expectFits(screen);
  });

  it("has all refills of a tank that is filled every few days, and counts those of the time shown", async (t) => {
    const refills = "/insight/v1/tanks/tank_busy/refills?size=1";
    await until("refills are found", async () => Number((await manage("GET", refills)).body["total_items"]) > 200, 30_000);
    const total = (await manage("GET", refills)).body["total_items"];
    const [from, to] = [180, 120].map((days) => new Date(now - days * DAY).toISOString());
    const screen = await openDashboard(t, browser, service, STAFF.viewer, `/tanks/tank_busy?from=${from}&to=${to}`, BERLIN);
    if (screen === undefined) return;
    const { page } = screen;
    await page.getByRole("img", { name: /\. (19|20|21) refills\./ }).waitFor();
    await page.getByRole("link", { name: "10 years" }).click();
    await page.getByRole("img", { name: new RegExp(`${total} refills in the last two years\\.`) }).waitFor();
    await expectFits(screen);
  });

  it("does not break with names of any kind; its alert is acknowledged", async (t) => {
    const paused = { alerts: { paused_until: "2099-03-04T23:00:00.000Z" } };
    expectStatus(await manage("PATCH", "/manage/v1/tanks/tank_hostile", paused), 200);
    const screen = await openDashboard(t, browser, service, STAFF.admin, "/tanks/tank_hostile", { ...BERLIN, viewport: PHONE });
    if (screen === undefined) return;
    const { page } = screen;
    await page.locator(".chart canvas").waitFor();
    await page.getByText("No forecast yet").waitFor();
    await page.locator(".badge", { hasText: "Paused until" }).waitFor();
    await until("its only reading is drawn", async () => (await countPixels(page, "fill")) > 0);
    await expectGood(screen);
    assert.ok((await page.title()).includes("<img"));
    await page.setViewportSize(DESKTOP);
    await expectFits(screen);
    await page.getByRole("button", { name: "Acknowledge" }).click();
    await page.getByLabel("Note").fill(`Truck on Monday${HOSTILE}`);
    await page.getByRole("dialog").getByRole("button", { name: "Acknowledge" }).click();
    await page.getByText("Acknowledged, opened").waitFor();
    await page.getByText("“Truck on Monday<img").waitFor();
    await expectFits(screen);
    await page.setViewportSize(PHONE);
    await expectFits(screen);
    await until("the focus stays in the row", async () => "Change note" === (await page.evaluate(FOCUSED)));
  });

  it("has the alerts that are not closed first, also before ten newer ones", async (t) => {
    const silent = "/insight/v1/alerts?tank_id=tank_silent&kind=silent&state=open";
    await until("the tank is silent", async () => (await manage("GET", silent)).body["total_items"] === 1, 60_000);
    for (let opened = 0; opened < 10; opened++) {
      for (const threshold of [60, 20])
        expectStatus(await manage("PATCH", "/manage/v1/tanks/tank_silent", { min_fill_alert_percentage: threshold }), 200);
    }
    const screen = await openDashboard(t, browser, service, STAFF.dispatcher, "/tanks/tank_silent", BERLIN);
    if (screen === undefined) return;
    const alerts = screen.page.locator("section", { has: screen.page.getByRole("heading", { name: "Alerts" }) });
    await alerts.getByText("the latest 10 of 11").waitFor();
    assert.equal(await alerts.getByRole("listitem").count(), 10);
    assert.match(await alerts.getByRole("listitem").first().innerText(), /Silent\s+Opened /);
    await alerts.getByRole("button", { name: "Acknowledge" }).waitFor();
  });

  it("shows customers their own tanks only, without what is for staff, and that one is paused", async (t) => {
    // A range that does not exist is the default one.
    const own = await openDashboard(t, browser, service, "own@customers.example", "/tanks/tank_used?range=constructor", {
      ...BERLIN,
      viewport: PHONE,
    });
    if (own === undefined) return;
    await own.page.locator(".chart canvas").waitFor();
    assert.equal(await own.page.getByRole("button", { name: "Edit" }).count(), 0);
    assert.equal(await own.page.getByRole("heading", { name: "Changes" }).count(), 0);
    await expectGood(own);
    await expectPauseShown(own.page);
    await own.page.goto(`${service.url}/tanks/tank_other`);
    await own.page.getByRole("heading", { name: "There is no such tank" }).waitFor();
  });
});
