// Forms whose response is lost: submitted again, they create nothing twice, and one's own change is not called that of somebody else.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { expectStatus } from "../http/client.ts";
import { openBrowser } from "../support/chromium.ts";
import { openDashboard, startFleet } from "./support.ts";

const browser = await openBrowser();
after(() => browser?.close());
const fleet = await startFleet({ after });
const { email, manage } = fleet;

/** The service executes the next `count` requests, but the page gets no response. `all`: once that has happened. */
async function loseResponses(page: Page, method: string, path: RegExp, count: number): Promise<{ readonly all: Promise<void> }> {
  const { promise: all, resolve } = Promise.withResolvers<void>();
  let lost = 0;
  await page.route(path, async (route) => {
    if (route.request().method() !== method || lost === count) return route.fallback();
    lost += 1;
    await route.fetch();
    await route.abort("connectionreset");
    if (lost === count) resolve();
  });
  return { all };
}

const totalOf = async (path: string) => expectStatus(await manage("GET", path), 200)["total_items"];

test("customers, tanks, keys, channels and users are created once, also if the form is submitted again after a lost connection", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.admin, "/customers");
  if (opened === undefined) return;
  const { page } = opened;
  const dialog = page.getByRole("dialog");
  const field = (name: string) => dialog.getByLabel(name, { exact: true });
  const submitTwice = async (path: string, action: string) => {
    // The client sends it once more by itself.
    const { all } = await loseResponses(page, "POST", new RegExp(`${path}$`), 2);
    await dialog.getByRole("button", { name: action, exact: true }).click();
    await all;
    await dialog.getByText("the connection was lost").waitFor();
    await dialog.getByRole("button", { name: action, exact: true }).click();
  };
  await page.getByRole("button", { name: "Add customer" }).click();
  await field("Name").fill("Once GmbH");
  await field("E-mail address").fill("once@example.com");
  await dialog.getByLabel("Gets mail about alerts").uncheck();
  await submitTwice("/manage/v1/customers", "Add");
  await page.getByRole("heading", { level: 1, name: "Once GmbH" }).waitFor();
  assert.equal(await totalOf("/manage/v1/customers?search=once@example.com"), 1);

  await page.getByRole("button", { name: "Add tank" }).click();
  await field("Name").fill("Once");
  await field("Device").fill("once-1");
  await field("Capacity").fill("2700");
  await submitTwice("/manage/v1/tanks", "Add");
  await page.getByText("Once was added").waitFor();
  assert.equal(await totalOf("/insight/v1/fleet?search=once-1"), 1);

  await page.getByRole("link", { name: "Keys" }).click();
  await page.getByRole("button", { name: "Create key" }).click();
  await field("Name").fill("mistyped");
  await loseResponses(page, "POST", /\/manage\/v1\/keys$/, 2);
  await dialog.getByRole("button", { name: "Create", exact: true }).click();
  await dialog.getByText("the connection was lost").waitFor();
  await field("Name").fill("once");
  await submitTwice("/manage/v1/keys", "Create");
  await dialog.getByText(/secret was lost/).waitFor();
  await dialog.getByRole("button", { name: "Done" }).click();
  await page.getByRole("button", { name: "Revoke once" }).waitFor();
  assert.equal(await page.getByRole("button", { name: /^Revoke (once|mistyped)/ }).count(), 2, "other fields are another key");

  await page.getByRole("link", { name: "Channels" }).click();
  for (const type of ["email", "webhook"]) {
    await page.getByRole("button", { name: "Add channel" }).click();
    await dialog.getByLabel("Type").selectOption(type);
    if (type === "email") await field("Address").fill("once@operator.example");
    else await field("URL").fill("https://once.invalid/hook");
    await submitTwice("/manage/v1/channels", "Add");
    if (type === "webhook") await dialog.getByRole("button", { name: "Done" }).click();
    await dialog.waitFor({ state: "detached" });
  }
  assert.equal(await totalOf("/manage/v1/channels"), 2);

  await page.getByRole("link", { name: "Users" }).click();
  const before = Number(await totalOf("/manage/v1/users"));
  await page.getByRole("button", { name: "Add user" }).click();
  await field("Name").fill("Una Once");
  await field("E-mail address").fill("once@operator.example");
  await submitTwice("/manage/v1/users", "Add");
  await page.getByText("Una Once was added").waitFor();
  assert.equal(await totalOf("/manage/v1/users"), before + 1);
});

test("a change whose response was lost is saved, and not called one of somebody else", async (t) => {
  expectStatus(await manage("POST", "/manage/v1/customers", { id: "lost", name: "Lost", email: "lost@example.com" }), 201);
  const opened = await openDashboard(t, browser, fleet, email.dispatcher, "/customers/lost");
  if (opened === undefined) return;
  const { page } = opened;
  const dialog = page.getByRole("dialog");
  const submit = (name: string) => dialog.getByRole("button", { name, exact: true }).click();
  const lose = async (method: string, path: RegExp, action: string) => {
    await loseResponses(page, method, path, 1);
    await submit(action);
    await dialog.getByText("the connection was lost").waitFor();
  };
  const path = /\/manage\/v1\/customers\/lost(\?.*)?$/;
  const edit = async (name: string) => {
    await page.getByRole("button", { name: "Edit" }).click();
    await dialog.getByLabel("Name").fill(name);
  };
  await edit("Mine");
  await dialog.getByLabel("Gets mail about alerts").uncheck();
  await lose("PATCH", path, "Save");
  await submit("Save");
  await page.getByText("The customer was changed").waitFor();
  await page.getByRole("heading", { level: 1, name: "Mine" }).waitFor();

  await edit("Mine 2");
  await lose("PATCH", path, "Save");
  await dialog.getByLabel("Phone").fill("+49 2");
  await submit("Save");
  await dialog.getByText(/^This customer has changed since you opened the form: the connection was lost before/).waitFor();
  assert.equal(await dialog.getByLabel("Phone").inputValue(), "+49 2");
  // Read again: what changes from now on is a change of somebody else.
  expectStatus(await manage("PATCH", "/manage/v1/customers/lost", { name: "Theirs" }), 200);
  await submit("Save");
  await dialog.getByText(/^Somebody else changed this customer/).waitFor();
  await submit("Save");
  await dialog.waitFor({ state: "detached" });

  await page.getByRole("button", { name: "Delete" }).click();
  await lose("DELETE", path, "Delete");
  await submit("Delete");
  await page.getByText("Theirs was deleted").waitFor();
  await page.getByRole("button", { name: "Restore" }).click();
  await lose("POST", /\/customers\/lost\/restore(\?.*)?$/, "Restore");
  await submit("Restore");
  await page.getByText("Theirs was restored").waitFor();
});

test("the set-up of a device keeps a replacement by somebody else, and says that it has changed meanwhile", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.dispatcher, "/devices?id=device-30");
  if (opened === undefined) return;
  const { page } = opened;
  const dialog = page.getByRole("dialog");
  const deviceOf = async (id: string) => (await manage("GET", `/manage/v1/tanks/${id}`)).body["assigned_device_id"];
  const setUp = async (profile: string) => {
    await page.getByRole("button", { name: "Set up device-30" }).click();
    await dialog.getByLabel("Profile").selectOption(profile);
  };
  const save = () => dialog.getByRole("button", { name: "Save" }).click();
  await setUp("elsys");
  expectStatus(await manage("PATCH", "/manage/v1/tanks/t30", { assigned_device_id: "replacement" }), 200);
  await save();
  await dialog.getByText(/^Somebody else changed this device/).waitFor();
  await dialog.getByRole("radio", { name: "No tank yet" }).waitFor();
  await save();
  await dialog.waitFor({ state: "detached" });
  assert.equal(await deviceOf("t30"), "replacement");
  const { tank_id, profile } = (await manage("GET", "/manage/v1/devices/device-30")).body;
  assert.deepEqual([tank_id, profile], [null, "elsys"]);

  await setUp("mopeka");
  await dialog.getByRole("searchbox").fill("Tank 31");
  await dialog.getByRole("radio", { name: /^Tank 31/ }).check();
  await dialog.getByLabel("Shape of the tank").selectOption("upright");
  await dialog.getByLabel("Height", { exact: true }).fill("2");
  await dialog.getByLabel("Unit").selectOption("m");
  await loseResponses(page, "PATCH", /\/manage\/v1\/devices\/device-30$/, 1);
  await save();
  await dialog.getByText("the connection was lost").waitFor();
  await save();
  await page.getByText("The device was changed").waitFor();
  assert.equal(await deviceOf("t31"), "device-30");

  await page.getByRole("button", { name: "Set up device-30" }).click();
  await save();
  await dialog.getByText("Change the tank, the profile or the shape first.").waitFor();
});
