// Users, keys and sessions in a real browser.

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { expectStatus } from "../http/client.ts";
import { createUser, startSession } from "../support/browser.ts";
import { openBrowser } from "../support/chromium.ts";
import { until } from "../support/until.ts";
import { expectGood } from "./expect-good.ts";
import { openDashboard, startFleet } from "./support.ts";

const browser = await openBrowser();
after(() => browser?.close());
const fleet = await startFleet({ after });
const { email, manage } = fleet;

const rowOf = (page: Page, text: string) => page.getByRole("row").filter({ hasText: text });

test("an admin sees all sessions of a user and of a customer, without pages; those of a user are gone with the user", async (t) => {
  const COUNT = 30;
  for (let i = 0; i < COUNT; i++) {
    for (const address of [email.viewer, "office@brenner.example"]) await startSession(fleet.store, Date.now, address);
  }
  await createUser(fleet, "dispatcher", "leaving@operator.example");
  const { data } = expectStatus(await manage("GET", "/insight/v1/alerts?tank_id=t3"), 200);
  const [alert] = data as { readonly id: string }[];
  expectStatus(await manage("POST", `/manage/v1/alerts/${alert?.id}/acknowledge`, {}), 200);
  const opened = await openDashboard(t, browser, fleet, email.admin, "/users");
  if (opened === undefined) return;
  const { page } = opened;
  const row = rowOf(page, "leaving@operator.example");
  const button = row.getByRole("button", { name: /^Sessions/ });
  const sessions = page.getByRole("heading", { name: /is signed in$/ });
  await button.click();
  await sessions.waitFor();
  await button.click();
  await sessions.waitFor({ state: "detached" });
  await button.click();
  await sessions.waitFor();
  await row.getByRole("button", { name: /^Remove/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await row.waitFor({ state: "detached" });
  assert.equal(await sessions.count(), 0);

  const rows = page.getByRole("table", { name: "Sessions" }).locator("tbody tr");
  await page.getByRole("button", { name: "Sessions of The viewer" }).click();
  await rows.nth(COUNT - 1).waitFor();
  assert.equal(await page.getByRole("navigation", { name: "Pages" }).count(), 0);
  await page.getByRole("link", { name: "Customers", exact: true }).click();
  await page.getByRole("link", { name: "Brenner Gas GmbH" }).click();
  await rows.nth(COUNT - 1).waitFor();
  assert.equal(await page.locator(".section", { hasText: "signed in" }).getByRole("navigation", { name: "Pages" }).count(), 0);
  // A screen reader reads that an alert is acknowledged.
  await page.locator(".badge", { hasText: "Low, acknowledged" }).waitFor();
});

test("a customer sees their own settings and nothing of the operator, and ends another session", async (t) => {
  const address = "two@example.com";
  const { id } = await startSession(fleet.store, Date.now, address);
  const opened = await openDashboard(t, browser, fleet, address, "/account");
  if (opened === undefined) return;
  const { page } = opened;
  const links = await page.getByRole("navigation", { name: "Screens" }).getByRole("link").allInnerTexts();
  assert.doesNotMatch(links.join(), /Customers|Devices|Channels|Keys|Users|Audit/);
  await page.getByLabel(/Send me mail/).uncheck();
  await page.getByLabel("Language").selectOption("de");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Your settings are saved").waitFor();
  const { notifications } = expectStatus(await manage("GET", "/manage/v1/customers/c2"), 200);
  assert.match(JSON.stringify(notifications), /"language":"de","unsubscribed_at":"20/);
  await page.getByRole("link", { name: "Your tanks" }).click();
  await page.getByRole("heading", { name: "Your tanks" }).waitFor();
  const subscribed = { notifications: { unsubscribed_at: null } };
  expectStatus(await manage("PATCH", "/manage/v1/customers/c2", subscribed), 200);
  await page.goBack();
  await until("the setting is shown as it is now", () => page.getByLabel(/Send me mail/).isChecked());
  await page.getByRole("button", { name: /^End session/ }).click();
  await page.getByText("The session was ended").waitFor();
  await until("the session is gone", async () => {
    const { data } = expectStatus(await manage("GET", "/manage/v1/customers/c2/sessions"), 200);
    return !JSON.stringify(data).includes(id);
  });
  await page.goto(`${fleet.url}/users`);
  await page.getByRole("heading", { name: "Your role does not allow this" }).waitFor();
  await page.getByRole("main").getByText("This page is for your supplier. Go to your tanks").waitFor();
  await page.getByRole("link", { name: "Your account" }).click();
  const signOut = page.getByRole("button", { name: "Sign out", exact: true });
  await signOut.nth(1).waitFor();
  await page.context().setOffline(true);
  for (const [i, button] of [signOut.first(), signOut.nth(1)].entries()) {
    await button.click();
    await page.locator(".notice").nth(i).waitFor();
  }
  await page.context().setOffline(false);
  await signOut.nth(1).click();
  await page.waitForURL(/\/sign-in/);
});

test("behind a path prefix, the link of a user has the prefix", async (t) => {
  const prefixed = `${fleet.url}/tank-monitor`;
  const prepare = (page: Page) =>
    page.route(`${prefixed}/**`, async (route) => {
      const url = route.request().url().replace(prefixed, fleet.url);
      // The page may have been closed.
      await route
        .fetch({ url })
        .then((response) => route.fulfill({ response }))
        .catch(() => {});
    });
  const opened = await openDashboard(t, browser, fleet, email.admin, "/tank-monitor/users", { prepare });
  if (opened === undefined) return;
  const { page } = opened;
  await page.getByRole("button", { name: "Create sign-in link for The viewer" }).click();
  const link = await page.getByRole("dialog").getByLabel("Sign-in link for The viewer").inputValue();
  assert.ok(link.startsWith(`${prefixed}/sign-in#token=`), link);
});

test("an admin sets and changes the rate of a key; keys and channels of one customer show its name", async (t) => {
  const keys = [
    { name: "sends for all", role: "ingest" },
    { name: "sends for one", role: "ingest", customer_id: "c1" },
  ];
  for (const key of keys) expectStatus(await manage("POST", "/manage/v1/keys", key), 201);
  const channel = { type: "email", to: "one@operator.example", customer_id: "c1" };
  expectStatus(await manage("POST", "/manage/v1/channels", channel), 201);
  const name = String(expectStatus(await manage("GET", "/manage/v1/customers/c1"), 200)["name"]);
  const opened = await openDashboard(t, browser, fleet, email.admin, "/keys");
  if (opened === undefined) return;
  const { page } = opened;
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "Create key" }).click();
  await dialog.getByLabel("Name").fill("gateway");
  await dialog.getByLabel("Requests per second").fill("50");
  await dialog.getByRole("button", { name: "Create", exact: true }).click();
  await dialog.getByRole("button", { name: "Done" }).click();
  const row = rowOf(page, "gateway");
  await row.getByText("50 per second").waitFor();
  await row.getByRole("button", { name: "Edit gateway" }).click();
  await dialog.getByLabel("Requests per second").fill("");
  await dialog.getByLabel("Name").fill("gateway 2");
  await dialog.getByRole("button", { name: "Save" }).click();
  await rowOf(page, "gateway 2").getByText("none", { exact: true }).waitFor();

  await rowOf(page, "gateway 2").getByRole("button", { name: "Replace gateway 2" }).click();
  await dialog.getByRole("button", { name: "Replace" }).click();
  await dialog.getByRole("button", { name: "Done" }).click();
  await page.getByText("Replaced", { exact: true }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Replace gateway 2" }).count(), 1, "of the new key only");

  // Without a rate of its own, a key has the default rate only if it is of one customer.
  await rowOf(page, "sends for all").getByRole("cell", { name: "none", exact: true }).waitFor();
  const ofOne = rowOf(page, "sends for one");
  await ofOne.getByRole("cell", { name: "default", exact: true }).waitFor();
  await ofOne.getByRole("link", { name }).waitFor();
  await page.getByRole("link", { name: "Channels" }).click();
  await page.getByText(`only of customer ${name}`).waitFor();
  await page.getByRole("button", { name: "Edit one@operator.example" }).click();
  await dialog.getByText(name).waitFor();
});

test("a form changes only what was changed in it: not what somebody else has changed since it was opened", async (t) => {
  const create = async (path: string, body: object) => String(expectStatus(await manage("POST", path, body), 201)["id"]);
  const user = await create("/manage/v1/users", { email: "dana@operator.example", name: "Dana", role: "admin" });
  const kinds = ["silent", "leak", "runs_low_soon", "low"];
  const channel = await create("/manage/v1/channels", { type: "email", to: "dana@operator.example", kinds });
  const opened = await openDashboard(t, browser, fleet, email.admin, "/users");
  if (opened === undefined) return;
  const { page } = opened;
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "Edit Dana" }).click();
  expectStatus(await manage("PATCH", `/manage/v1/users/${user}`, { role: "viewer" }), 200);
  await dialog.getByLabel("Name").fill("Dana Fischer");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  const { name, role } = expectStatus(await manage("GET", `/manage/v1/users/${user}`), 200);
  assert.deepEqual([name, role], ["Dana Fischer", "viewer"]);

  await page.getByRole("link", { name: "Channels" }).click();
  await page.getByRole("button", { name: "Edit dana@operator.example" }).click();
  expectStatus(await manage("PATCH", `/manage/v1/channels/${channel}`, { customer_id: "c1", delay: "2h" }), 200);
  await dialog.getByLabel("Description").fill("Office");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  const stored = expectStatus(await manage("GET", `/manage/v1/channels/${channel}`), 200);
  // All kinds without refills.
  assert.deepEqual([...(stored["kinds"] as string[])].sort(), [...kinds].sort());
  const { description, customer_id, delay } = stored;
  assert.deepEqual([description, customer_id, delay], ["Office", "c1", "2h"]);
});

test("the secret of a webhook is replaced only after a question, which says how long the old one is used, too", async (t) => {
  const { id } = expectStatus(
    await manage("POST", "/manage/v1/channels", { type: "webhook", url: "https://hooks.example/a" }),
    201,
  );
  const opened = await openDashboard(t, browser, fleet, email.admin, "/channels");
  if (opened === undefined) return;
  const dialog = opened.page.getByRole("dialog");
  const isRotated = async () => (await manage("GET", `/manage/v1/audit?id=${id}`)).body["total_items"] !== 1;
  await rowOf(opened.page, "hooks.example/a").getByRole("button", { name: "New secret" }).click();
  await dialog.getByLabel("Also sign with the old secret").selectOption("168h");
  assert.equal(await isRotated(), false);
  await expectGood(opened);
  await dialog.getByRole("button", { name: "Create" }).click();
  assert.match(await dialog.getByLabel("Secret of the webhook").inputValue(), /^whsec_/);
  assert.equal(await isRotated(), true);
});

test("the audit log names what exists and removed users, and requests no channel that was deleted", async (t) => {
  const create = async (path: string, body: object) => String(expectStatus(await manage("POST", path, body), 201)["id"]);
  const kept = await create("/manage/v1/channels", { type: "email", to: "kept@operator.example" });
  const deleted = await create("/manage/v1/channels", { type: "email", to: "deleted@operator.example" });
  expectStatus(await manage("DELETE", `/manage/v1/channels/${deleted}`), 200);
  await create("/manage/v1/channels", { type: "webhook", url: "https://hooks.example/secret-path" });
  const removed = await create("/manage/v1/users", { email: "removed@operator.example", name: "Removed", role: "viewer" });
  expectStatus(await manage("DELETE", `/manage/v1/users/${removed}`), 200);
  const opened = await openDashboard(t, browser, fleet, email.admin, "/audit");
  if (opened === undefined) return;
  const { page, requests, errors } = opened;
  await page.locator(`a[title="${kept}"]`, { hasText: "kept@operator.example" }).waitFor();
  for (const name of [deleted, "Removed (removed)", "https://hooks.example"])
    await page.getByRole("link", { name, exact: true }).first().waitFor();
  assert.doesNotMatch(await page.content(), /secret-path/, "the URL of a webhook may contain a secret");
  assert.equal(await page.getByRole("link", { name: "Low: Tank 3" }).first().getAttribute("href"), "/tanks/t3");
  const polls = () => requests.filter((url) => url.includes("/manage/v1/audit")).length;
  await until("it has been requested again", () => polls() > 2);
  assert.deepEqual(errors, []);
});

test("a notification says which tank it is about; the test of a channel says why nothing arrives", async (t) => {
  expectStatus(await manage("POST", "/manage/v1/channels", { type: "email", to: "office@operator.example" }), 201);
  expectStatus(await manage("POST", "/ingest/v1/readings", { tank_id: "t9", fill_percentage: 4 }), 200);
  const opened = await openDashboard(t, browser, fleet, email.admin, "/channels?view=notifications&state=pending");
  if (opened === undefined) return;
  const { page } = opened;
  const about = rowOf(page, "office@operator.example").filter({ hasText: "Tank 9" });
  assert.match(await about.innerText(), /Alert opened\s+Tank 9\s+Brenner Gas GmbH/);
  await page.goto(`${fleet.url}/channels?view=notifications&state=pending&customer_id=c2`);
  await page.getByText("No pending notifications").waitFor();
  await page.getByRole("link", { name: /^Customer: <img/ }).click();
  await about.waitFor();
  await page.getByRole("link", { name: "Channels", exact: true }).first().click();
  await page.getByRole("button", { name: "Test office@operator.example" }).click();
  await page.getByRole("dialog").getByText("SMTP_URL").waitFor();
});

test("mail that was not sent in time is sent again, that to one customer or to all", async (t) => {
  const [first, second, ...others] = ["a", "b", "c", "d"].map((name) => `msg_expired_${name}`);
  const db = new DatabaseSync(fleet.databaseFile, { timeout: 5000 });
  for (const [i, id] of [first, second, ...others].entries()) {
    const at = Date.now() - 3_600_000;
    const customer = i < 2 ? "c1" : "c2";
    db.exec(`INSERT INTO notification (id, customer_id, destination, event, alert_ids, state, created_at, pending_since, ended_at,
      payload, attempts) VALUES ('${id}', '${customer}', 'mail', 'alert.opened', '[]', 'expired', ${at}, ${at}, ${at}, '{}', '[]')`);
  }
  db.close();
  const expired = async () => {
    const { data } = expectStatus(await manage("GET", "/manage/v1/notifications?state=expired"), 200);
    return (data as { readonly id: string }[]).map(({ id }) => id).filter((id) => id.startsWith("msg_expired"));
  };
  const opened = await openDashboard(t, browser, fleet, email.admin, "/channels?view=notifications&state=expired&customer_id=c1");
  if (opened === undefined) return;
  const { page } = opened;
  const sendAll = async (title: RegExp) => {
    await page.getByRole("button", { name: "Send all again" }).click();
    await page.getByRole("dialog").getByRole("heading", { name: title }).waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Send again" }).click();
    await page.getByText("2 notifications will be sent again").first().waitFor();
  };
  await sendAll(/^Send all mail to .+ again$/);
  assert.deepEqual((await expired()).toSorted(), others);
  await page.goto(`${fleet.url}/channels?view=notifications&state=expired`);
  await sendAll(/^Send all mail to customers again$/);
  assert.deepEqual(await expired(), []);
});
