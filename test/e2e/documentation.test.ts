// The documentation page, in a real browser: everything it needs comes from the service, and calls can be tried from it.

import assert from "node:assert/strict";
import { before, suite, test } from "node:test";
import type { Page } from "playwright-core";
import { NO_BROWSER, openBrowser } from "./browser.ts";
import { createKey, importLines, SMALL_FLEET } from "./fixtures.ts";
import { type Lifetime, type Service, suiteLifetime, type Workspace, workspace } from "./program.ts";
import { get } from "./requests.ts";

/** What a page asked for, and what went wrong on it. */
type Watched = { readonly page: Page; readonly requests: string[]; readonly troubles: string[] };

const REPORT_VIOLATIONS = `document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
  console.error("violation of " + violatedDirective + " by " + blockedURI));`;

async function openPage(life: Lifetime): Promise<Watched | undefined> {
  const browser = await openBrowser();
  if (browser === undefined) return undefined;
  life.after(() => browser.close());
  const page = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
  const requests: string[] = [];
  const troubles: string[] = [];
  await page.addInitScript(REPORT_VIOLATIONS);
  page.on("request", (request) => requests.push(request.url()));
  page.on("requestfailed", (request) => troubles.push(`${request.url()} failed`));
  page.on("response", (response) => response.status() >= 400 && troubles.push(`${response.url()}: ${response.status()}`));
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && troubles.push(message.text()));
  page.on("pageerror", (error) => troubles.push(`${error}`));
  return { page, requests, troubles };
}

/** Types a key into the page's own dialogue, as a reader does. */
async function authorize(page: Page, key: string): Promise<void> {
  await page.getByRole("button", { name: "Authorize" }).first().click();
  const dialogue = page.locator(".modal-ux");
  const scheme = dialogue.locator(".auth-container", { hasText: "X-API-Key" });
  await scheme.locator("input").fill(key);
  await scheme.getByRole("button", { name: "Apply credentials" }).click();
  await dialogue.getByRole("button", { name: "Close" }).last().click();
}

suite("the documentation page", () => {
  const life = suiteLifetime();
  let here: Workspace;
  let service: Service;
  let key: string;

  before(async () => {
    here = workspace(life);
    await importLines(here, SMALL_FLEET);
    key = await createKey(here);
    service = await here.start();
  });

  test("a reader authorizes with a key, tries a call, and sees its answer; no request leaves the host", async (t) => {
    const watched = await openPage(t);
    if (watched === undefined) {
      assert.equal(process.env["CI"], undefined, NO_BROWSER);
      return t.skip(NO_BROWSER);
    }
    const { page, requests, troubles } = watched;
    await page.goto(`${service.url}/docs`);
    await authorize(page, key);

    const operation = page.locator("#operations-Tanks-listTanks");
    await operation.locator(".opblock-summary-control").click();
    await operation.getByRole("button", { name: "Execute" }).click();
    const answer = operation.locator(".live-responses-table .response").first();
    await answer.waitFor();
    assert.match(await answer.locator(".response-col_status").innerText(), /^200/);

    assert.deepEqual(
      requests.filter((url) => !url.startsWith(`${service.url}/`) && !url.startsWith("data:")),
      [],
      "requests that left the host",
    );
    assert.ok(
      requests.some((url) => url.startsWith(`${service.url}/v1/tanks`)),
      "the call was made",
    );
    assert.deepEqual(troubles, []);
    assert.match(
      await answer.innerText(),
      /"id": "a2"[\s\S]*"total_items": 3/,
      "the tanks, with nothing filled in by the reader",
    );
  });

  test("whatever the page names comes from this host, and its policy lets nothing else in", async () => {
    const page = await get(service, "/docs");
    assert.equal(page.status, 200);
    const policy = page.headers.get("content-security-policy") ?? "";
    assert.match(policy, /default-src 'self'/);
    assert.doesNotMatch(policy, /https?:|\*|unsafe-eval|script-src[^;]*unsafe-inline/);
    const named = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(
      ([, place = ""]) => new URL(place, `${service.url}/docs`),
    );
    assert.ok(named.length > 3, page.text);
    for (const { href, origin, pathname } of named) {
      assert.equal(origin, service.url, href);
      assert.equal((await get(service, pathname)).status, 200, href);
    }
  });
});
