// The documentation page in a real browser: it loads nothing from other hosts, and requests can be sent from it.

import assert from "node:assert/strict";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { after, type TestContext, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { NO_BROWSER, openBrowser, openPage } from "../support/chromium.ts";
import type { Lifetime } from "../support/service.ts";
import { cliOnService, customer, SMALL_FLEET, tank } from "./fixtures.ts";

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

/** The page with a key, behind a proxy that adds a prefix to all paths; undefined where there is no browser. */
async function openDocumentation(t: TestContext) {
  if (browser === undefined) {
    assert.equal(process.env["CI"], undefined, NO_BROWSER);
    t.skip(NO_BROWSER);
    return undefined;
  }
  const watched = await openPage(t, browser);
  const url = await proxyWithPrefix(t, service.url, "/tanks");
  await watched.page.goto(`${url}/docs/`);
  await authorize(watched.page, key);
  return { ...watched, url };
}

/** Sends the request of an operation from the page, and returns where its response is shown. */
async function execute(page: Page, operation: string): Promise<Locator> {
  const block = page.locator(`#operations-${operation}`);
  await block.locator(".opblock-summary-control").click();
  await block.getByRole("button", { name: "Execute" }).click();
  const response = responseOf(page, operation);
  await response.waitFor();
  return response;
}

const responseOf = (page: Page, operation: string): Locator =>
  page.locator(`#operations-${operation} .live-responses-table .response`).first();

test("a reader of the documentation page enters a key, sends requests, and sees the responses; no request leaves the host", async (t) => {
  const opened = await openDocumentation(t);
  if (opened === undefined) return;
  await tryItOut(opened);

  await t.test("names that contain scripts are shown as text, also in responses opened as pages", () => expectText(opened));
});

type Opened = NonNullable<Awaited<ReturnType<typeof openDocumentation>>>;

async function tryItOut({ page, requests, errors, url }: Opened): Promise<void> {
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

/** After `tryItOut`, which has sent the request for tanks. */
async function expectText({ page, errors, url }: Opened): Promise<void> {
  const injected = () => page.evaluate("window.injected");
  const customers = await execute(page, "Customers-listCustomers");
  for (const shown of [customers, responseOf(page, "Tanks-listTanks")]) {
    const text = await shown.innerText();
    for (const name of INJECTIONS) assert.ok(text.includes(JSON.stringify(name)), `${name} in ${text}`);
  }
  assert.deepEqual([await injected(), errors], [undefined, []]);

  await page.setExtraHTTPHeaders({ "x-api-key": key });
  const asParameters = INJECTIONS.slice(0, 3).map((name) => `/v1/tanks?${encodeURIComponent(name)}`);
  for (const path of ["/v1/tanks", `/${INJECTIONS[0]}`, ...asParameters]) {
    const response = await page.goto(url + path);
    assert.equal(response?.headers()["x-content-type-options"], "nosniff", path);
    assert.equal(await injected(), undefined, path);
  }
}
