// The service under an open page: it is killed and started again, and it is updated, so that files of the page are gone.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { cliOnDatabase, createKey, customer, tank } from "../e2e/fixtures.ts";
import { expectStatus, jsonClient } from "../http/client.ts";
import { NO_BROWSER, openBrowser, openPage } from "../support/chromium.ts";
import { freePort } from "../support/free-port.ts";

const browser = await openBrowser();
after(() => browser?.close());
const PORT = String(await freePort());
const fleet = [customer("c1"), tank("t1", "c1", { name: "Boiler house" })];
const { workspace: here, output } = await cliOnDatabase({ after }, fleet, { PORT, RATE_LIMIT: "0" });
await output("user", "create", "--email", "dana@operator.example", "--name", "Dana", "--role", "viewer");
const key = await createKey(here, "--role", "manage");
const service = await here.start();
const manage = jsonClient(service, key);

/** Timers of the page run faster by this factor, so that it does not wait long before it tries again. */
const SPEED = 5;

const send = async (fill: number) =>
  expectStatus(await manage("POST", "/ingest/v1/readings", { tank_id: "t1", fill_percentage: fill }), 200);

test("a page says that the service is gone, goes on by itself when it is back, and loads itself again after an update", async (t) => {
  if (browser === undefined) {
    assert.equal(process.env["CI"], undefined, NO_BROWSER);
    t.skip(NO_BROWSER);
    return;
  }
  const { page } = await openPage(t, browser);
  await page.addInitScript(`const later = setTimeout;
    window.setTimeout = (work, ms = 0, ...rest) => later(work, ms / ${SPEED}, ...rest);`);
  await send(81);
  await page.goto((await output("user", "link", "dana@operator.example")).trim());
  await page.getByRole("button", { name: "Sign in as Dana" }).click();
  await page.getByText("81.0 %").waitFor();
  let loads = 0;
  page.on("load", () => {
    loads += 1;
  });

  service.kill("SIGKILL");
  await service.exited;
  const banner = page.getByText(/has been unreachable since/);
  await banner.waitFor();
  assert.ok(await page.getByText("81.0 %").isVisible(), "what was known stays");
  assert.equal(await page.getByText("Something went wrong").count(), 0, "it is announced once");
  await here.start();
  await send(72);
  await page.getByText("72.0 %").waitFor();
  await banner.waitFor({ state: "detached" });
  assert.equal(loads, 0, "without loading the page again, and without signing in");

  const charts = /\/assets\/chart-.*\.js$/;
  await page.route(charts, (route) => route.fulfill({ status: 404 }), { times: 1 });
  const loadedAgain = page.waitForEvent("load");
  await page.getByRole("link", { name: "Boiler house" }).click();
  await loadedAgain;
  await page.locator(".chart canvas").waitFor();
  assert.equal(loads, 1, "once");

  await page.route(/\/assets\/map-.*\.js$/, (route) => route.fulfill({ status: 404 }), { times: 1 });
  await page.getByRole("link", { name: "Map" }).click();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { name: "Map" }).waitFor();
});
