// Screens of the dashboard in a real browser, signed in, and what must hold on each of them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, Page } from "playwright-core";
import type { UserRole } from "../../src/domain/user.ts";
import { createUser, startSession } from "../support/browser.ts";
import { NO_BROWSER, openBrowser, REPORT_VIOLATIONS } from "../support/chromium.ts";
import type { Lifetime, Service } from "../support/service.ts";

export const PHONE = { width: 390, height: 844 };
export const DESKTOP = { width: 1280, height: 900 };

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** `errors`: of scripts, of the policy, and failed requests. */
export type OpenScreen = { readonly page: Page; readonly errors: string[]; readonly hosts: Set<string> };

export type Screens = {
  /** Signed in as a user with this role, or as the customer with this address. */
  readonly open: (path: string, as: UserRole | { readonly email: string }, size?: typeof PHONE) => Promise<OpenScreen>;
};

/** Undefined where there is no browser. */
export async function openScreens(life: Lifetime, service: Service, clock = Date.now): Promise<Screens | undefined> {
  const browser = await openBrowser();
  if (browser === undefined) {
    assert.equal(process.env["CI"], undefined, NO_BROWSER);
    return undefined;
  }
  life.after(() => browser.close());
  const created = new Set<string>();
  const emailOf = async (as: UserRole | { readonly email: string }): Promise<string> => {
    if (typeof as === "object") return as.email;
    const email = `${as}@operator.example`;
    if (!created.has(email)) await createUser(service, as, email, clock);
    created.add(email);
    return email;
  };
  return {
    async open(path, as, size = DESKTOP) {
      const { secret } = await startSession(service.store, clock, await emailOf(as));
      return openPage(browser, service, path, secret, size);
    },
  };
}

async function openPage(
  browser: Browser,
  service: Service,
  path: string,
  secret: string,
  viewport: typeof PHONE,
): Promise<OpenScreen> {
  const context = await browser.newContext({ viewport, locale: "en-GB", timezoneId: "Europe/Berlin", reducedMotion: "reduce" });
  await context.addCookies([{ name: "tank_monitor_session", value: secret, url: service.url, httpOnly: true, sameSite: "Lax" }]);
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const errors: string[] = [];
  const hosts = new Set<string>();
  await page.addInitScript(REPORT_VIOLATIONS);
  page.on("request", (request) => hosts.add(new URL(request.url()).host));
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(`${error}`));
  await page.goto(service.url + path);
  return { page, errors, hosts };
}

/** Nothing serious for axe, nothing wider than the screen, no errors, and no request to another host. */
export async function expectGood({ page, errors, hosts }: OpenScreen): Promise<void> {
  const wide = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
  assert.equal(wide, 0, "the page can be scrolled sideways");
  // By the debugger: the policy of the page allows no scripts of others.
  const session = await page.context().newCDPSession(page);
  await session.send("Runtime.evaluate", { expression: AXE });
  const { result } = await session.send("Runtime.evaluate", {
    expression: "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => JSON.stringify(violations))",
    awaitPromise: true,
    returnByValue: true,
  });
  const violations = JSON.parse(String(result.value)) as { id: string; impact: string; nodes: { html: string }[] }[];
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  assert.deepEqual(
    serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(" ")}`),
    [],
  );
  assert.deepEqual(errors, []);
  assert.equal(hosts.size, 1, [...hosts].join());
}
