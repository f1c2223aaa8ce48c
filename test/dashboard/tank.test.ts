// The screen of a tank, in a real browser.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { Page } from "playwright-core";
import { expectStatus } from "../http/client.ts";
import { until } from "../support/until.ts";
import { expectFits, expectGood, expectGoodInDark } from "./expect-good.ts";
import { countPixels } from "./pixels.ts";
import { DESKTOP, openDashboard, PHONE, wholeResponse } from "./support.ts";
import { BERLIN, HOSTILE, STAFF, startTanks } from "./tank-service.ts";

const { service, manage, browser } = await startTanks({ after });

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
