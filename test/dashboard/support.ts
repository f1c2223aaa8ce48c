// The dashboard of a service with a few tanks, in a real browser.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { APIResponse, Browser, BrowserContextOptions, Page, Route } from "playwright-core";
import type { UserRole } from "../../src/domain/user.ts";
import { expectStatus, jsonClient } from "../http/client.ts";
import { createUser, startSession } from "../support/browser.ts";
import { NO_BROWSER, openPage, type Watched } from "../support/chromium.ts";
import { type Lifetime, type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";

export const PHONE = { width: 390, height: 844 };
export const DESKTOP = { width: 1280, height: 900 };

/** Each would break a layout, or run a script where it is shown as HTML. */
export const HOSTILE_NAMES = [
  "<img src=x onerror=window.injected=1>",
  "</script><script>window.injected=1</script>",
  "W".repeat(512),
  "خزان الوقود الرئيسي 12",
  "🛢️👩‍👩‍👧‍👦🛢️",
];

export type Fleet = Service & {
  readonly manage: ReturnType<typeof jsonClient>;
  readonly email: Readonly<Record<UserRole, string>>;
};

/** 60 tanks of two customers, three of them low, and one for each hostile name; and a user of each role. */
export async function startFleet(life: Lifetime, environment: Record<string, string> = {}): Promise<Fleet> {
  const service = await startService(life, { environment: { RATE_LIMIT: "0", ...environment } });
  const manage = jsonClient(service, await service.key({ role: "manage" }));
  const email = { viewer: "", dispatcher: "", admin: "" };
  for (const role of ["viewer", "dispatcher", "admin"] as const) {
    email[role] = `${role}@operator.example`;
    await createUser(service, role, email[role]);
  }
  const customers = [
    { id: "c1", name: "Brenner Gas GmbH", email: "office@brenner.example", phone: "+49 30 5550" },
    { id: "c2", name: HOSTILE_NAMES[0], email: "two@example.com" },
  ];
  const names = [...Array.from({ length: 60 }, (_, i) => `Tank ${i + 1}`), ...HOSTILE_NAMES];
  const tanks = names.map((name, i) => ({
    ...{ id: `t${i + 1}`, name, owner_id: i < 60 ? "c1" : "c2", assigned_device_id: `device-${i + 1}`, capacity: 2700 },
    ...{ capacity_unit: "liters", min_fill_alert_percentage: 20, location: { city: i % 2 === 0 ? "Bonn" : "Köln" } },
  }));
  expectStatus(await manage("POST", "/manage/v1/provision", { customers, tanks }), 200);
  const readings = tanks.map(({ id }, i) => ({ tank_id: id, fill_percentage: i < 3 ? 5 + i : 40 + (i % 50) }));
  expectStatus(await manage("POST", "/ingest/v1/readings", readings), 200);
  const low = async () => (await manage("GET", "/insight/v1/fleet?state=low")).body["total_items"] === 3;
  await until("the order follows the readings", low, 60_000);
  return { ...service, manage, email };
}

/** The page requests its data every 3 s. Timers of 2 to 7 s run three times as fast, so that tests wait less; typing and notices do not. */
const FASTER_POLLING = `const later = setTimeout;
  window.setTimeout = (work, ms = 0, ...rest) => later(work, ms >= 2000 && ms <= 7000 ? ms / 3 : ms, ...rest);`;

type PageOptions = BrowserContextOptions & {
  /** Called before the page is loaded: with routes and scripts of the test, it has to be loaded only once. */
  readonly prepare?: (page: Page) => Promise<unknown>;
};

/** A page with the session of a user or customer. Undefined where there is no browser. */
export async function openDashboard(
  t: TestContext,
  browser: Browser | undefined,
  { url, store }: Service,
  email: string | undefined,
  path = "/",
  { prepare, ...options }: PageOptions = {},
): Promise<Watched | undefined> {
  if (browser === undefined) {
    assert.equal(process.env["CI"], undefined, NO_BROWSER);
    t.skip(NO_BROWSER);
    return undefined;
  }
  const watched = await openPage(t, browser, { viewport: DESKTOP, ...options });
  await watched.page.addInitScript(FASTER_POLLING);
  if (email !== undefined) {
    const { secret } = await startSession(store, Date.now, email);
    await watched.page.context().addCookies([{ name: "tank_monitor_session", value: secret, url }]);
  }
  await prepare?.(watched.page);
  await watched.page.goto(url + path);
  return watched;
}

const AXE = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
type Violation = { readonly id: string; readonly impact: string; readonly nodes: readonly { readonly html: string }[] };

/** The whole response of the service: for an ETag that the page knows it would be 304. */
export const wholeResponse = (route: Route): Promise<APIResponse> =>
  route.fetch({ headers: { ...route.request().headers(), "if-none-match": "" } });

/** The rules of axe whose results depend on colours. */
export const COLOURS = { runOnly: ["color-contrast", "link-in-text-block"] };

/** What is seriously wrong for people who use a screen reader or a keyboard, or see colours badly. */
export async function seriousViolations(page: Page, rules: { readonly runOnly?: readonly string[] } = {}): Promise<string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(AXE);
  const options = JSON.stringify({ resultTypes: ["violations"], ...rules });
  // Rows of a table are alike: without those after the tenth, a long one takes half as long.
  const context = JSON.stringify({ exclude: [["tbody tr:nth-child(n + 11)"]] });
  const { violations } = (await page.evaluate(`axe.run(${context}, ${options})`)) as { violations: Violation[] };
  return violations
    .filter(({ impact }) => ["serious", "critical"].includes(impact))
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join("\n")}`);
}

/** How much wider than the window the page is, once a chart is drawn for this width. */
export const overflow = (page: Page): Promise<number> =>
  page.evaluate(`new Promise((resolve) => {
    const measure = () => resolve(document.documentElement.scrollWidth - document.documentElement.clientWidth);
    requestAnimationFrame(() => requestAnimationFrame(measure));
  })`);

type Finger = readonly [dx: number, dy: number];

/** Real fingers: places are pixels from the middle of an element. */
export async function fingersOn(page: Page, selector: string) {
  const box = await page.locator(selector).boundingBox();
  assert.ok(box !== null);
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const session = await page.context().newCDPSession(page);
  return (type: "touchStart" | "touchMove" | "touchEnd", ...places: readonly Finger[]) => {
    const touchPoints = places.map(([dx, dy], id) => ({ x: x + dx, y: y + dy, id }));
    return session.send("Input.dispatchTouchEvent", { type, touchPoints });
  };
}
