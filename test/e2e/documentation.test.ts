// The documentation page in a real browser: it loads nothing from other hosts, and requests can be sent from it. npm has a
// browser for Linux on x64; elsewhere an installed one is used: CHROMIUM names it, or it is found in PATH.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import npmChromium from "@sparticuz/chromium";
import { type Browser, chromium, type Page } from "playwright-core";
import type { Lifetime } from "../support/service.ts";
import { cliOnService, SMALL_FLEET } from "./fixtures.ts";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
/** These would switch off what is tested. */
const UNSAFE_FLAGS = ["--disable-web-security", "--allow-running-insecure-content"];

const NO_BROWSER = `npm has no browser for ${process.platform} ${process.arch}: install Chromium, or name one in CHROMIUM`;

async function openBrowser(): Promise<Browser | undefined> {
  const installed = installedBrowser();
  if (installed !== undefined) return chromium.launch({ executablePath: installed, args: ["--no-sandbox"] });
  if (process.platform !== "linux" || process.arch !== "x64") return undefined;
  const args = npmChromium.args.filter((word) => !UNSAFE_FLAGS.includes(word));
  return chromium.launch({ executablePath: await npmChromium.executablePath(), args });
}

function installedBrowser(): string | undefined {
  const named = process.env["CHROMIUM"];
  if (named !== undefined && named !== "") return named;
  if (process.platform === "linux" && process.arch === "x64") return undefined;
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find((file) => existsSync(file));
}

/** A page, its requests and its errors. */
type Watched = { readonly page: Page; readonly requests: string[]; readonly errors: string[] };

const REPORT_VIOLATIONS = `document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
  console.error("violation of " + violatedDirective + " by " + blockedURI));`;

async function openPage(browser: Browser): Promise<Watched> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
  const requests: string[] = [];
  const errors: string[] = [];
  await page.addInitScript(REPORT_VIOLATIONS);
  page.on("request", (request) => requests.push(request.url()));
  page.on("requestfailed", (request) => errors.push(`${request.url()} failed`));
  page.on("response", (response) => response.status() >= 400 && errors.push(`${response.url()}: ${response.status()}`));
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(`${error}`));
  return { page, requests, errors };
}

/** Enters a key in the page's dialogue. */
async function authorize(page: Page, key: string): Promise<void> {
  await page.getByRole("button", { name: "Authorize" }).first().click();
  const dialogue = page.locator(".modal-ux");
  const scheme = dialogue.locator(".auth-container", { hasText: "X-API-Key" });
  await scheme.locator("input").fill(key);
  await scheme.getByRole("button", { name: "Apply credentials" }).click();
  await dialogue.getByRole("button", { name: "Close" }).last().click();
}

/** Serves the service under a prefix, as reverse proxies do, and nothing elsewhere. */
async function proxyWithPrefix(life: Lifetime, url: string, prefix: string): Promise<string> {
  const server = createServer((incoming, response) => {
    if (incoming.url?.startsWith(`${prefix}/`) !== true) {
      response.writeHead(404).end();
      return;
    }
    const path = incoming.url.slice(prefix.length);
    const forwarded = request(`${url}${path}`, { method: incoming.method, headers: incoming.headers }, (received) => {
      response.writeHead(received.statusCode ?? 0, received.headers);
      received.pipe(response);
    });
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  life.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`;
}

test("a reader of the documentation page enters a key, sends a request, and sees the response; no request leaves the host", async (t) => {
  const browser = await openBrowser();
  if (browser === undefined) {
    assert.equal(process.env["CI"], undefined, NO_BROWSER);
    return t.skip(NO_BROWSER);
  }
  t.after(() => browser.close());
  const { service, key } = await cliOnService(t, SMALL_FLEET);
  await tryItOut(browser, service.url, "/docs", key);
  await tryItOut(browser, await proxyWithPrefix(t, service.url, "/tanks"), "/docs/", key);
});

async function tryItOut(browser: Browser, url: string, path: string, key: string): Promise<void> {
  const { page, requests, errors } = await openPage(browser);
  await page.goto(`${url}${path}`);
  await authorize(page, key);

  const operation = page.locator("#operations-Tanks-listTanks");
  await operation.locator(".opblock-summary-control").click();
  await operation.getByRole("button", { name: "Execute" }).click();
  const response = operation.locator(".live-responses-table .response").first();
  await response.waitFor();
  assert.match(await response.locator(".response-col_status").innerText(), /^200/);

  assert.deepEqual(
    requests.filter((sent) => !sent.startsWith(`${url}/`) && !sent.startsWith("data:")),
    [],
    "requests that left the host",
  );
  assert.ok(
    requests.some((sent) => sent.startsWith(`${url}/v1/tanks`)),
    "the request was sent",
  );
  assert.deepEqual(errors, []);
  assert.match(await response.innerText(), /"id": "a2"[\s\S]*"total_items": 3/, "the tanks, without any parameter");
}
