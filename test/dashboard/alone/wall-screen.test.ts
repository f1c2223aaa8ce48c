// A screen that is left open: it goes on updating, does not grow, and recovers after an outage. Timers of the page run 120 times as
// fast, and alerts open and close all the time, so that less than a minute has more events than an hour of a large fleet.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { expectStatus } from "../../http/client.ts";
import { openBrowser } from "../../support/chromium.ts";
import { until } from "../../support/until.ts";
import { openDashboard, startFleet } from "../support.ts";

const SPEED = 120;
const REQUESTS = 1200;
const MIN_EVENTS = 200;
/** What a browser keeps anyway differs by some hundred kilobytes. */
const MAX_GROWTH_BYTES = 2_000_000;

const browser = await openBrowser();
after(() => browser?.close());
const fleet = await startFleet({ after });
const { email, manage } = fleet;

const send = async (fill: number) =>
  expectStatus(await manage("POST", "/ingest/v1/readings", { tank_id: "t10", fill_percentage: fill }), 200);

test("after hundreds of alerts the fleet is current, and the page has not grown; an outage is said, and over once it is over", async (t) => {
  const prepare = (page: Page) =>
    page.addInitScript(`const later = setTimeout;
      window.setTimeout = (work, ms = 0, ...rest) => later(work, ms / ${SPEED}, ...rest);`);
  const opened = await openDashboard(t, browser, fleet, email.viewer, "/?search=device-10", { prepare });
  if (opened === undefined) return;
  const { page, requests } = opened;
  await page.locator(".fleet tbody tr").first().waitFor();
  // A first alert, so that all that is loaded on demand has been.
  await send(3);
  await page.getByText("3.0 %").first().waitFor();
  const before = await sizeOf(page);
  const first = requests.length;
  let events = 0;
  while (events < MIN_EVENTS || requests.length - first < REQUESTS) {
    await send(events++ % 2 === 0 ? 60 : 3);
    // The page has time for its requests: readings sent without a pause would only slow it down.
    const seen = requests.length;
    await until("the page sends requests", () => requests.length >= seen + REQUESTS / MIN_EVENTS || undefined, 30_000);
  }

  await send(77.7);
  await page.getByText("77.7 %").first().waitFor();
  await page.waitForTimeout(500);
  const size = await sizeOf(page);
  assert.ok(size.bytes - before.bytes < MAX_GROWTH_BYTES, `from ${before.bytes} to ${size.bytes} bytes`);
  assert.ok(size.elements - before.elements < 100, `from ${before.elements} to ${size.elements} elements`);

  await page.context().setOffline(true);
  await page.locator(".banner").waitFor();
  await send(66.6);
  await page.context().setOffline(false);
  await page.locator(".banner").waitFor({ state: "detached" });
  await page.getByText("66.6 %").first().waitFor();
});

async function sizeOf(page: Page): Promise<{ readonly bytes: number; readonly elements: number }> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await session.detach();
  return { bytes: usedSize, elements: await page.evaluate("document.querySelectorAll('*').length") };
}
