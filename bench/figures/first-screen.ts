// How soon the dashboard is there on a slow phone, in a real browser: a slow mobile network, and a processor four times slower.

import type { Page } from "playwright-core";
import { openBrowser } from "../../test/support/chromium.ts";
import { type Bench, ENGINE_NAMES, type Engine, log } from "../bench.ts";
import { createSignInToken, startTankMonitor } from "../contestants/tank-monitor.ts";
import { databaseOf, temporaryDatabase } from "../dataset/databases.ts";
import { scaleFleet } from "../dataset/plans.ts";
import type { Figure, Measured, Missing } from "../figure.ts";
import { median } from "../measure/sampling.ts";

const ENGINE: Engine = "sqlite";
/** As browsers call it, "slow 4G": latency in milliseconds, bytes a second. */
const NETWORK = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 };
const SLOWER = 4;

const ROWS = [
  { name: "first-screen-content", label: "dashboard on a slow phone: first content", unit: "ms", aim: { atMost: 1000 } },
  { name: "first-screen-usable", label: "… the first tanks are there", unit: "ms", aim: { atMost: 2000 } },
  { name: "first-screen-shift", label: "… layout shift", unit: "", aim: { atMost: 0 } },
] as const;

export const firstScreen: Figure = {
  name: "first-screen",
  about: "time until the dashboard shows tanks on a slow phone",
  rows: ROWS,
  async run(bench) {
    const browser = await openBrowser();
    if (browser === undefined) return { rows: ROWS.map(({ name }): Missing => ({ row: name, missing: "no browser" })) };
    try {
      return { rows: await measured(bench, () => browser.newPage({ viewport: { width: 390, height: 844 } })) };
    } finally {
      await browser.close();
    }
  },
};

type Times = { readonly content: number; readonly usable: number; readonly shift: number };

async function measured(bench: Bench, newPage: () => Promise<Page>): Promise<Measured[]> {
  const original = await databaseOf(bench, ENGINE, scaleFleet(bench.scale));
  await using database = await temporaryDatabase(bench, ENGINE, "first-screen", original);
  await using service = await startTankMonitor(ENGINE, database.url);
  const signedIn = await newPage();
  await signedIn.goto(`${service.url}/sign-in#token=${createSignInToken(database.url)}`);
  await signedIn.getByRole("button", { name: "Sign in" }).click();
  await signedIn.locator(".fleet tbody tr").first().waitFor();
  const cookies = await signedIn.context().cookies();
  log(`first-screen: ${ENGINE_NAMES[ENGINE]}, ${bench.scale.rounds} times`);
  const times: Times[] = [];
  for (let round = 0; round < bench.scale.rounds; round++) {
    // A page of its own has an empty cache.
    const page = await newPage();
    await page.context().addCookies(cookies);
    times.push(await timeOf(page, service.url));
    await page.close();
  }
  const row = (name: string, unit: string, values: number[]): Measured => ({
    ...{ row: name, value: median(values), spread: [Math.min(...values), Math.max(...values)] },
    raw: [{ label: "each time", unit, values }],
  });
  return [
    row(
      "first-screen-content",
      "ms",
      times.map(({ content }) => content),
    ),
    row(
      "first-screen-usable",
      "ms",
      times.map(({ usable }) => usable),
    ),
    row(
      "first-screen-shift",
      "",
      times.map(({ shift }) => shift),
    ),
  ];
}

/** In the page, because querying it from outside costs the slow processor time. */
const WATCH = `window.shift = 0; new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
}).observe({ type: "layout-shift", buffered: true });
window.usable = new Promise((resolve) => {
  const isPainted = () => document.querySelector(".fleet tbody tr") ? setTimeout(() => resolve(performance.now())) : requestAnimationFrame(isPainted);
  requestAnimationFrame(isPainted);
});`;
const CONTENT = `performance.getEntriesByName("first-contentful-paint")[0].startTime`;

async function timeOf(page: Page, url: string): Promise<Times> {
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", NETWORK);
  await session.send("Emulation.setCPUThrottlingRate", { rate: SLOWER });
  await page.addInitScript(WATCH);
  await page.goto(url, { waitUntil: "commit" });
  const usable = await page.evaluate<number>("window.usable");
  return { content: await page.evaluate<number>(CONTENT), usable, shift: await page.evaluate<number>("window.shift") };
}
