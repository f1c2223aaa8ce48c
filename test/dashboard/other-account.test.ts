// Another account signs in in another tab of the same browser: the tabs share the cookie of the session.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { createUser, linkFor } from "../support/browser.ts";
import { openBrowser } from "../support/chromium.ts";
import { openDashboard, startFleet } from "./support.ts";

const browser = await openBrowser();
after(() => browser?.close());
const fleet = await startFleet({ after });
const { email, manage, url } = fleet;
const otherId = await createUser(fleet, "dispatcher", "other@operator.example");

/** Signs in as somebody else in a new tab. */
async function signInElsewhere(page: Page, userId: string): Promise<void> {
  const popup = page.waitForEvent("popup");
  await page.evaluate(`void window.open("${url}/sign-in#token=${await linkFor(fleet, userId)}")`);
  const tab = await popup;
  await tab.getByRole("button", { name: /^Sign in as/ }).click();
  await tab.getByRole("heading", { name: "Fleet" }).waitFor();
  await tab.close();
}

/** Until the result is called, the page does not find out by its regular requests who is signed in. */
async function holdPolling(page: Page): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route("**/{insight,manage}/v1/**", async (route) => {
    const request = route.request();
    // Not the request for the account that has signed in.
    if (request.method() === "GET" && request.headers()["x-account"] !== undefined) await promise;
    // The page may have been loaded again.
    await route.continue().catch(() => {});
  });
  return resolve;
}

const phoneOfCustomer = async () => (await manage("GET", "/manage/v1/customers/c1")).body["phone"];

test("a page without a form is loaded again for the account that has signed in", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.admin, "/customers");
  if (opened === undefined) return;
  const { page } = opened;
  await page.getByRole("link", { name: "Keys" }).waitFor();
  await signInElsewhere(page, otherId);
  await page.getByRole("link", { name: /other@operator.example/ }).waitFor();
  await page.getByRole("link", { name: "Brenner Gas GmbH" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "Keys" }).count(), 0);
});

test("a button does nothing as another account, also before the page has found out by itself", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.admin, "/customers");
  if (opened === undefined) return;
  const { page } = opened;
  await page.getByRole("link", { name: "Keys" }).waitFor();
  const release = await holdPolling(page);
  await signInElsewhere(page, otherId);
  await page.getByRole("button", { name: "Sign out" }).click();
  release();
  await page.getByRole("link", { name: /other@operator.example/ }).waitFor();
});

test("an open form is not sent as another account, and says so; it can be sent after signing in as before", async (t) => {
  const formerId = await createUser(fleet, "dispatcher", "former@operator.example");
  const opened = await openDashboard(t, browser, fleet, "former@operator.example", "/customers/c1");
  if (opened === undefined) return;
  const { page } = opened;
  await page.getByRole("button", { name: "Edit" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Phone").fill("+49 30 5551");
  const before = await phoneOfCustomer();
  const release = await holdPolling(page);
  await signInElsewhere(page, otherId);
  const save = dialog.getByRole("button", { name: "Save" });
  await save.click();
  await dialog.getByText("Another account has signed in in this browser.").waitFor();
  await dialog.getByText("This browser is now signed in as The dispatcher (Dispatcher).").waitFor();
  assert.deepEqual([await save.isDisabled(), await phoneOfCustomer()], [true, before]);

  release();
  await signInElsewhere(page, formerId);
  await dialog.getByText("This browser is now signed in as").waitFor({ state: "detached" });
  await save.click();
  await page.getByRole("link", { name: "+49 30 5551" }).waitFor();

  await page.getByRole("button", { name: "Edit" }).click();
  await dialog.getByLabel("Phone").fill("+49 30 5552");
  await signInElsewhere(page, otherId);
  page.on("dialog", (question) => question.accept());
  await dialog.getByRole("button", { name: "Load the page again" }).click();
  await page.getByRole("link", { name: /other@operator.example/ }).waitFor();
  assert.equal(await phoneOfCustomer(), "+49 30 5551");
});
