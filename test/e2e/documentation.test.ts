// The documentation page in a real browser: it loads nothing from other hosts, and requests can be sent from it. npm has a
// browser for Linux on x64; elsewhere an installed one is used: CHROMIUM names it, or it is found in PATH.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, join } from "node:path";
import { after, type TestContext, test } from "node:test";
import npmChromium from "@sparticuz/chromium";
import { type Browser, chromium, type Locator, type Page } from "playwright-core";
import type { Lifetime } from "../support/service.ts";
import { cliOnService, customer, SMALL_FLEET, tank } from "./fixtures.ts";

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

/** In a profile of its own. */
async function openPage(life: Lifetime, browser: Browser): Promise<Watched> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
  life.after(() => page.close());
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

/** Each would run a script where a name is shown as HTML, or where a URL of the service is rendered as a page. */
const INJECTIONS = [
  "<img src=x onerror=window.injected=1>",
  "<svg onload=window.injected=1>",
  "</script><script>window.injected=1</script>",
  "<iframe srcdoc='<script>parent.injected=1</script>'>",
  "javascript:window.injected=1",
  '![x](x" onerror="window.injected=1)',
  "{{constructor.constructor('window.injected=1')()}}",
];

const HOSTILE_FLEET = INJECTIONS.flatMap((name, i) => [
  customer(`c${i}`, { name }),
  tank(`t${i}`, `c${i}`, { name, custom_id: name, assigned_device_id: name, location: { city: name } }),
]);

const browser = await openBrowser();
after(() => browser?.close());
const { service, key } = await cliOnService({ after }, [...SMALL_FLEET, ...HOSTILE_FLEET]);

/** The page with a key; undefined where there is no browser. */
async function openDocumentation(t: TestContext, path = "/docs", prefix = "") {
  if (browser === undefined) {
    assert.equal(process.env["CI"], undefined, NO_BROWSER);
    t.skip(NO_BROWSER);
    return undefined;
  }
  const watched = await openPage(t, browser);
  const url = prefix === "" ? service.url : await proxyWithPrefix(t, service.url, prefix);
  await watched.page.goto(url + path);
  await authorize(watched.page, key);
  return { ...watched, url };
}

/** Sends the request of an operation from the page, and returns where its response is shown. */
async function execute(page: Page, operation: string): Promise<Locator> {
  const block = page.locator(`#operations-${operation}`);
  await block.locator(".opblock-summary-control").click();
  await block.getByRole("button", { name: "Execute" }).click();
  const response = block.locator(".live-responses-table .response").first();
  await response.waitFor();
  return response;
}

test("a reader of the documentation page enters a key, sends a request, and sees the response; no request leaves the host", async (t) => {
  await tryItOut(await openDocumentation(t));
});

test("so does one behind a proxy that adds a prefix to all paths", async (t) => {
  await tryItOut(await openDocumentation(t, "/docs/", "/tanks"));
});

async function tryItOut(opened: Awaited<ReturnType<typeof openDocumentation>>): Promise<void> {
  if (opened === undefined) return;
  const { page, requests, errors, url } = opened;
  const response = await execute(page, "Tanks-listTanks");
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
  assert.match(await response.innerText(), /"id": "a2"[\s\S]*"total_items": 10/, "the tanks, without any parameter");
}

test("names that contain scripts are shown as text, in the documentation page and in responses opened as pages", async (t) => {
  const opened = await openDocumentation(t);
  if (opened === undefined) return;
  const { page, errors, url } = opened;
  const injected = () => page.evaluate("window.injected");
  for (const operation of ["Customers-listCustomers", "Tanks-listTanks"]) {
    const text = await (await execute(page, operation)).innerText();
    for (const name of INJECTIONS) assert.ok(text.includes(JSON.stringify(name)), `${operation} shows ${name}\n${text}`);
  }
  assert.deepEqual([await injected(), errors], [undefined, []]);

  await page.setExtraHTTPHeaders({ "x-api-key": key });
  const asParameters = INJECTIONS.slice(0, 3).map((name) => `/v1/tanks?${encodeURIComponent(name)}`);
  for (const path of ["/v1/tanks", `/${INJECTIONS[0]}`, ...asParameters]) {
    const response = await page.goto(url + path);
    assert.equal(response?.headers()["x-content-type-options"], "nosniff", path);
    assert.equal(await injected(), undefined, path);
  }
});
