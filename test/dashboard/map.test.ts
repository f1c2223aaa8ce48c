// The map, in a real browser.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Page } from "playwright-core";
import { jsonClient } from "../http/client.ts";
import { createUser } from "../support/browser.ts";
import { openBrowser } from "../support/chromium.ts";
import { customerRecord, putReadings, tankRecord } from "../support/records.ts";
import { startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { errorsOf, expectFits, expectGood, expectGoodInDark } from "./expect-good.ts";
import { DESKTOP, fingersOn, openDashboard, PHONE } from "./support.ts";

const HOSTILE = `<b onclick="x">مدينة 🛢️ ${"Q".repeat(480)}`;

const service = await startService({ after }, { environment: { RATE_LIMIT: "0" } });
const browser = await openBrowser();
after(() => browser?.close());

const STAFF = { viewer: "viewer@operator.example" };

function viewIn(url: string): { readonly latitude: number; readonly longitude: number; readonly scale: number } {
  const [latitude = 0, longitude = 0, scale = 0] = (new URL(url).searchParams.get("at") ?? "").split(",").map(Number);
  return { latitude, longitude, scale };
}

/** Thirty tanks around Freiburg, one far away with a name of any kind, one without a town, two in one place, one without coordinates. */
before(async () => {
  await createUser(service, "viewer", STAFF.viewer);
  await service.store.importCustomers([
    customerRecord("cus_own", { email: "own@customers.example" }),
    customerRecord("cus_other", {}),
    customerRecord("cus_alone", { email: "alone@customers.example" }),
    customerRecord("cus_nowhere", { email: "nowhere@customers.example" }),
  ]);
  const near = Array.from({ length: 30 }, (_, i) => {
    const location = { city: "Freiburg", latitude: 48 + Math.floor(i / 6) / 50, longitude: 7.8 + (i % 6) / 40 };
    return tankRecord(`near_${i}`, "cus_own", { name: `Near ${i}`, location });
  });
  const hostile = { city: HOSTILE, country: HOSTILE, latitude: 60.39, longitude: 5.32 };
  // In one place on the map, which rounds coordinates to 4 decimals.
  const same = { city: "Bern", latitude: 46.948043, longitude: 7.447438 };
  const sameRounded = { city: "Bern", latitude: 46.947962, longitude: 7.447361 };
  await service.store.importTanks([
    ...near,
    tankRecord("far", "cus_other", { name: HOSTILE, location: hostile }),
    tankRecord("alone", "cus_alone", { name: "Hunting lodge", location: { latitude: 51.3127, longitude: 9.4797 } }),
    tankRecord("same_1", "cus_own", { location: same }),
    tankRecord("same_2", "cus_own", { location: sameRounded }),
    tankRecord("nowhere", "cus_nowhere", {}),
  ]);
  const at = Date.now() - 60_000;
  for (const [id, fill] of [
    ["near_0", 5],
    ["near_1", 70],
    ["far", 60],
  ] as const)
    await putReadings(service.store, id, [[at, fill]]);
  const manage = jsonClient(service, await service.key({ role: "manage" }));
  const low = async () => (await manage("GET", "/insight/v1/fleet?state=low")).body["total_items"];
  await until("the order follows", async () => (await low()) === 1, 30_000);
});

describe("the map", () => {
  it("shows all tanks at first; zooms and moves by click, wheel, mouse and keys; its URL is that of the view, and its list has what is in it", async (t) => {
    const screen = await openDashboard(t, browser, service, STAFF.viewer, "/map", { viewport: PHONE });
    if (screen === undefined) return;
    const { page } = screen;
    for (const size of [PHONE, DESKTOP]) {
      await page.setViewportSize(size);
      await page.locator(".mark").first().waitFor();
      await page.locator(".country").first().waitFor();
      for (const town of ["Freiburg", "Bern"]) await page.locator(".town").getByText(town, { exact: true }).waitFor();
      const counts = await page.locator(".bubble-count").allTextContents();
      const singles = (await page.locator(".mark").count()) - counts.length;
      assert.equal(
        counts.reduce((sum, text) => sum + Number(text), singles),
        34,
      );
      await page.getByRole("link", { name: "1 tank without coordinates" }).waitFor();
      await page.getByRole("link", { name: "List 34 tanks" }).waitFor();
      assert.match(
        await page.locator(".map-legend").innerText(),
        /Low: 1\s+Leak suspected: 0\s+Runs low soon: 0\s+Silent: 0\s+No reading yet: 31\s+OK: 2/,
      );
      await expectGood(screen);
    }
    await expectGoodInDark(screen);

    // The mouse button is released outside of the map, which does not follow the mouse afterwards.
    const box = await page.locator(".map").boundingBox();
    assert.ok(box !== null);
    const y = box.y + 300;
    await page.mouse.move(box.x + 2, y);
    await page.mouse.down();
    await page.mouse.move(box.x - 20, y);
    await page.mouse.up();
    await page.mouse.move(box.x + 60, y, { steps: 3 });
    await page.mouse.move(box.x + 200, y + 40, { steps: 5 });
    await page.waitForTimeout(700);
    assert.equal(new URL(page.url()).search, "");

    const around = page.getByRole("button", { name: /^3\d tanks, the most urgent: Low/ });
    const someTanks = page.getByRole("link", { name: /^List (2|3)\d tanks$/ });
    await around.click();
    await page.waitForURL(/at=/);
    await someTanks.waitFor();
    const before = page.url();
    await page.mouse.move(500, 400);
    await page.mouse.wheel(0, -400);
    await page.waitForURL((url) => url.href !== before);
    const zoomed = page.url();
    await page.locator(".map").focus();
    await page.keyboard.press("-");
    await page.waitForURL((url) => url.href !== zoomed);
    const outer = page.url();
    await page.mouse.move(400, 400);
    await page.mouse.down();
    await page.mouse.move(460, 440, { steps: 3 });
    await page.mouse.up();
    await page.waitForURL((url) => url.href !== outer);
    await page.getByRole("button", { name: "All" }).click();
    await page.waitForURL((url) => !url.search.includes("at="));
    const list = page.getByRole("link", { name: /^List \d+ tanks?$/ });
    assert.match((await list.getAttribute("href")) ?? "", /^\/\?bbox=/);

    // A mark of several tanks is opened by a key, and the focus stays.
    await around.focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(/at=/);
    assert.equal(await page.evaluate("document.activeElement.className"), "map");
    await page.keyboard.press("-");
    await someTanks.waitFor();
    await page.getByRole("link", { name: "Map", exact: true }).click();
    await page.getByRole("link", { name: "List 34 tanks" }).waitFor();
    assert.equal(new URL(page.url()).search, "");
    await page.goBack();
    await page.waitForURL(/at=/);
    await someTanks.waitFor();
    assert.deepEqual(errorsOf(screen), []);
  });

  it("zooms by two fingers around the place between them, and moves by one", async (t) => {
    const touch = { viewport: PHONE, hasTouch: true, isMobile: true };
    const screen = await openDashboard(t, browser, service, STAFF.viewer, "/map?at=48.1,7.9,400", touch);
    if (screen === undefined) return;
    const { page } = screen;
    await page.locator(".mark").first().waitFor();
    const touchAt = await fingersOn(page, ".map");
    await touchAt("touchStart", [-40, -30], [40, 30]);
    for (const by of [1.25, 1.5, 1.75, 2]) await touchAt("touchMove", [-40 * by, -30 * by], [40 * by, 30 * by]);
    await touchAt("touchEnd");
    await page.waitForURL((url) => !url.search.includes("400"));
    const zoomed = viewIn(page.url());
    assert.ok(Math.abs(zoomed.scale - 800) < 1, page.url());
    assert.ok(Math.abs(zoomed.latitude - 48.1) < 0.01 && Math.abs(zoomed.longitude - 7.9) < 0.01, page.url());

    await touchAt("touchStart", [0, 0]);
    for (const dx of [20, 60, 100]) await touchAt("touchMove", [dx, 0]);
    await touchAt("touchEnd");
    await page.waitForURL((url) => viewIn(url.href).longitude < zoomed.longitude - 0.001);
    const moved = viewIn(page.url());
    assert.ok(Math.abs(moved.latitude - zoomed.latitude) < 0.001 && moved.scale === zoomed.scale, page.url());
    assert.equal(await page.evaluate("visualViewport.scale"), 1, "the page itself is not zoomed");
    assert.deepEqual(errorsOf(screen), []);
  });

  it("opens a tank by a click or a key on it, also after it was moved; a slow or failed request leads nowhere; tanks in one place are listed", async (t) => {
    const screen = await openDashboard(t, browser, service, STAFF.viewer, "/map?at=46.948,7.4474,4000");
    if (screen === undefined) return;
    const { page, errors } = screen;
    await page.locator(".map-legend", { hasText: /No reading yet: 2\s*OK: 0/ }).waitFor();
    await page.getByRole("button", { name: /^2 tanks/ }).click();
    await page.waitForURL(/\/\?bbox=/);
    await page.getByText("in the map’s view").waitFor();
    await page.getByText("2 tanks found").waitFor();
    const ids = await page.locator(".fleet-tank a").evaluateAll((links) => links.map((link) => link.getAttribute("href")));
    assert.deepEqual(ids.sort(), ["/tanks/same_1", "/tanks/same_2"]);

    await page.getByRole("link", { name: "Map", exact: true }).click();
    const mark = page.getByRole("button", { name: `${HOSTILE}: OK` });
    await mark.waitFor();
    const size2 = /\/insight\/v1\/fleet\?.*size=2(&|$)/;
    await page.route(size2, (route) => route.fulfill({ status: 403 }));
    const before = page.url();
    await page.mouse.move(400, 400);
    await page.mouse.down();
    await page.mouse.move(440, 420, { steps: 3 });
    await page.mouse.up();
    await page.waitForURL((url) => url.href !== before);
    await mark.focus();
    await page.keyboard.press("Enter");
    await page.locator(".notice").getByText("403").waitFor();
    errors.splice(0);

    await page.unroute(size2);
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    await page.route(size2, (route) => left.then(() => route.continue()).catch(() => {}));
    const requested = page.waitForRequest(size2);
    await mark.click();
    await requested;
    await page.getByRole("link", { name: "Alerts" }).click();
    await page.getByRole("heading", { name: "Alerts" }).waitFor();
    leave();
    await page.waitForTimeout(500);
    assert.equal(new URL(page.url()).pathname, "/alerts");

    await page.goBack();
    await mark.focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/tanks\/far$/);
    assert.deepEqual(errorsOf(screen), []);
  });

  it("loads the countries later if that fails at first", async (t) => {
    let attempts = 0;
    const prepare = (page: Page) =>
      page.route(/countries.*\.json/, (route) => (++attempts === 1 ? route.abort() : route.continue()));
    const screen = await openDashboard(t, browser, service, STAFF.viewer, "/map", { prepare });
    if (screen === undefined) return;
    await screen.page.locator(".country").first().waitFor();
    assert.ok(attempts > 1);
  });

  it("says what to do if no tank has coordinates", async (t) => {
    const screen = await openDashboard(t, browser, service, "nowhere@customers.example", "/map");
    if (screen === undefined) return;
    const { page } = screen;
    await page.getByRole("heading", { name: "No tank has coordinates" }).waitFor();
    await page.getByRole("link", { name: "Show 1 tank without coordinates" }).click();
    await page.getByText("1 tank found").waitFor();
  });

  it("shows customers their own tanks only: a single one in its country, by its name if it has no town", async (t) => {
    const screen = await openDashboard(t, browser, service, "alone@customers.example", "/map", { viewport: PHONE });
    if (screen === undefined) return;
    const { page } = screen;
    await page.locator(".mark").first().waitFor();
    assert.equal(await page.locator(".mark").count(), 1);
    await page.getByRole("link", { name: "List 1 tank", exact: true }).waitFor();
    await page.locator(".town").getByText("Hunting lodge").waitFor();
    await page.getByRole("button", { name: "Hunting lodge: No reading yet" }).waitFor();
    await expectFits(screen);
    await page.goto(`${service.url}/map?at=0,0,400`);
    await page.getByText("No tanks", { exact: true }).waitFor();
    assert.equal(await page.getByRole("link", { name: "No tanks" }).count(), 0);
  });
});
