// Tables in windows that are narrow, but wider than a phone, in a real browser.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { expectStatus } from "../http/client.ts";
import { openBrowser } from "../support/chromium.ts";
import { openDashboard, startFleet } from "./support.ts";

const browser = await openBrowser();
after(() => browser?.close());
const fleet = await startFleet({ after });
const { email, manage } = fleet;

const AT = "2026-09-28T22:48:00Z";
const NOTIFICATION = {
  ...{ id: "ntf_1", object: "notification", event: "alert.opened", alert_ids: [], tank_id: "t1", created_at: AT },
  ...{ channel_id: null, customer_id: "c1", state: "failed", next_attempt_at: null },
  attempts: [{ at: AT, status: 500, error: "HTTP 500 from the server of the receiver", duration_ms: 20 }],
};
const NOTIFICATIONS = { object: "list", data: [NOTIFICATION], page: 1, size: 25, total_pages: 1, total_items: 1 };

/** How many pixels of the table are cut off, and the texts of buttons that have more than one line. */
const MEASURE = `(() => {
  const box = document.querySelector(".table-box");
  const linesOf = ({ firstChild }) => {
    const range = document.createRange();
    range.selectNodeContents(firstChild);
    return new Set(Array.from(range.getClientRects(), ({ top }) => top)).size;
  };
  const broken = [...box.querySelectorAll(".button")].filter((button) => linesOf(button) > 1);
  return { cutOff: box.scrollWidth - box.clientWidth, broken: broken.map(({ innerText }) => innerText) };
})()`;

test("nothing of a row is cut off, and no button breaks within a word", async (t) => {
  const key = { name: "Gateway of the tank farm in the north", rate: 12.5, expires_at: "2127-09-28T00:00:00Z" };
  for (const scope of [{ role: "manage" }, { role: "ingest", customer_id: "c1" }])
    expectStatus(await manage("POST", "/manage/v1/keys", { ...key, ...scope }), 201);
  const channel = { type: "webhook", url: "https://receiver.invalid/alerts", customer_id: "c1" };
  expectStatus(await manage("POST", "/manage/v1/channels", channel), 201);
  expectStatus(await manage("POST", "/ingest/v1/readings", { device_id: "new-sensor", fill_percentage: 61.5 }), 200);
  const opened = await openDashboard(t, browser, fleet, email.admin, "/keys");
  if (opened === undefined) return;
  const { page } = opened;
  await page.route(/\/v1\/notifications\?/, (route) => route.fulfill({ json: NOTIFICATIONS }));
  for (const path of ["keys", "channels", "channels?view=notifications", "users", "devices", "customers", "alerts"]) {
    await page.goto(`${fleet.url}/${path}`);
    await page.locator(".table-box td").first().waitFor();
    for (const width of [900, 930, 960, 1000, 1100, 1210, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      assert.deepEqual(await page.evaluate(MEASURE), { cutOff: 0, broken: [] }, `${path} at ${width} px`);
    }
  }
});
