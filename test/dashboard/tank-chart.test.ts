// The chart on the screen of a tank, in a real browser.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { Page } from "playwright-core";
import { until } from "../support/until.ts";
import { expectFits } from "./expect-good.ts";
import { countPixels } from "./pixels.ts";
import { fingersOn, openDashboard, PHONE, wholeResponse } from "./support.ts";
import { BERLIN, DAY, HOUR, STAFF, startTanks } from "./tank-service.ts";

const { service, manage, browser, now } = await startTanks({ after });

/** The texts of a chart, and how far below the top of its plot each is. */
const REMEMBER_TEXTS = `const fillText = CanvasRenderingContext2D.prototype.fillText;
  window.texts = new Map();
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    fillText.call(this, text, x, y);
    const [canvas, plot] = [".chart canvas", ".u-over"].map((part) => document.querySelector(part)?.getBoundingClientRect());
    const { actualBoundingBoxAscent } = this.measureText(text);
    if (plot !== undefined) window.texts.set(text, { top: y - actualBoundingBoxAscent - (plot.top - canvas.top) * devicePixelRatio });
  };`;

describe("the chart of a tank", () => {
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

  it("has its chart where the language of the browser is not valid", async (t) => {
    const prepare = (page: Page) =>
      page.addInitScript(`Object.defineProperty(navigator, "language", { value: "en-US@posix", configurable: true })`);
    const page = (await openDashboard(t, browser, service, STAFF.viewer, "/tanks/tank_used", { prepare }))?.page;
    await page?.locator(".chart canvas").waitFor();
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
});
