// Dialogs while something else happens: the service is slow or fails, a colleague changes the same, or the screen changes.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Route } from "playwright-core";
import { expectStatus } from "../http/client.ts";
import { openBrowser } from "../support/chromium.ts";
import { until } from "../support/until.ts";
import { HOSTILE_NAMES, openDashboard, PHONE, seriousViolations, startFleet } from "./support.ts";

const browser = await openBrowser();
after(() => browser?.close());
const fleet = await startFleet({ after });
const { email, manage } = fleet;

test("after a tank is restored, no dialog about it from before opens again; a stored change has not failed if the screen cannot be loaded again", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.dispatcher, "/tanks/t20");
  if (opened === undefined) return;
  const { page } = opened;
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "Delete" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Restore" }).click();
  await dialog.getByRole("button", { name: "Restore" }).click();
  await page.getByRole("button", { name: "Edit" }).waitFor();
  await page.locator(".chart").waitFor();
  assert.equal(await dialog.count(), 0, "after deleting");

  await page.getByRole("button", { name: "Edit" }).click();
  await dialog.getByLabel("Name").waitFor();
  expectStatus(await manage("DELETE", "/manage/v1/tanks/t20"), 200);
  await page.getByText("This tank has been deleted").waitFor();
  expectStatus(await manage("POST", "/manage/v1/tanks/t20/restore", {}), 200);
  await page.getByRole("button", { name: "Edit" }).waitFor();
  await page.locator(".chart").waitFor();
  assert.equal(await dialog.count(), 0, "after a colleague deleted it");

  await page.getByRole("button", { name: "Edit" }).click();
  await dialog.getByLabel("Name").fill("Changed");
  await page.route(/\/insight\/v1\/tanks\/t20$/, (route) => route.abort());
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByText("The tank was changed").waitFor();
  await dialog.waitFor({ state: "detached" });
  await page.getByText("has been unreachable").waitFor();
});

test("on a phone, a name of 512 letters takes a few lines; the buttons of a long form stay in view, and after the session has ended the link to sign in", async (t) => {
  const id = `t${61 + HOSTILE_NAMES.findIndex((name) => name.length === 512)}`;
  const opened = await openDashboard(t, browser, fleet, email.dispatcher, `/tanks/${id}`, { viewport: PHONE });
  if (opened === undefined) return;
  const { page } = opened;
  const dialog = page.getByRole("dialog");
  await page.locator(".chart").waitFor();
  const figures = await page.locator(".figures").boundingBox();
  assert.ok((figures?.y ?? 999) < 500, `the figures begin at ${figures?.y} px`);
  await page.getByRole("button", { name: "Delete" }).click();
  const tooWide = await dialog.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
  const height = (await dialog.boundingBox())?.height ?? 999;
  assert.ok(tooWide === 0 && height < 500, `${tooWide} px too wide, ${height} px high`);
  await dialog.getByRole("button", { name: "Cancel" }).click();

  await page.getByRole("button", { name: "Edit" }).click();
  await dialog.getByLabel("Name").fill("Shorter");
  const isInView = async (role: "button" | "link", name: string) => {
    const box = await dialog.getByRole(role, { name }).boundingBox();
    return box !== null && box.y >= 0 && box.y + box.height <= PHONE.height;
  };
  assert.ok(await isInView("button", "Save"), "before");
  await page.context().clearCookies();
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByRole("link", { name: "Sign in in another tab" }).waitFor();
  await dialog.getByText("Please wait…").waitFor({ state: "detached" });
  assert.ok((await isInView("link", "Sign in in another tab")) && (await isInView("button", "Save")));
});

test("Cancel ends the change of several thresholds, and an error after it is shown", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.dispatcher, "/");
  if (opened === undefined) return;
  const { page } = opened;
  const changes: Route[] = [];
  await page.route(/\/manage\/v1\/tanks\/t\d+$/, async (route) => void changes.push(route));
  const start = async () => {
    changes.length = 0;
    await page.getByRole("button", { name: /^Threshold of/ }).click();
    await page.getByRole("button", { name: "Change", exact: true }).click();
    await until("a tank is changed", () => changes.length === 1);
    await page.getByRole("button", { name: "Cancel" }).click();
  };
  await page.getByRole("checkbox", { name: "Select all" }).check();
  await start();
  await changes[0]?.continue();
  await page.getByText("Cancelled: 1 of 25 tanks are changed").waitFor();
  assert.equal(changes.length, 1);

  await start();
  await changes[0]?.fulfill({ status: 403 });
  await page
    .getByRole("status")
    .getByText(/^Tank \d+: .* 0 of 25 tanks are changed/)
    .waitFor();
});

test("a note stays while it is typed, also if a colleague acknowledges the alert, in the list and on the screen of the tank", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.dispatcher, "/alerts");
  if (opened === undefined) return;
  const { page } = opened;
  const dialog = page.getByRole("dialog");
  for (const id of ["t1", "t2"]) {
    if (id === "t2") await page.getByRole("link", { name: "Tank 2" }).click();
    const row = id === "t1" ? page.locator("tr", { hasText: "Tank 1" }) : page.locator(".rows li");
    const button = row.locator("button", { hasText: "Acknowledge" });
    await button.click();
    const note = dialog.getByLabel("Note");
    await note.fill("Truck on");
    const { data } = expectStatus(await manage("GET", `/insight/v1/alerts?tank_id=${id}`), 200);
    const [alert] = data as { readonly id: string }[];
    expectStatus(await manage("POST", `/manage/v1/alerts/${alert?.id}/acknowledge`, {}), 200);
    await button.waitFor({ state: "detached" });
    await page.keyboard.type(" Tuesday");
    assert.equal(await note.inputValue(), "Truck on Tuesday");
    await dialog.getByRole("button", { name: "Cancel" }).click();
  }
});

test("Escape and Back discard what was typed only if pressed twice; notices are in front of an open dialog, and can be dismissed there", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.dispatcher, "/customers");
  if (opened === undefined) return;
  const { page } = opened;
  await page.getByRole("link", { name: "Brenner Gas GmbH" }).click();
  const dialog = page.getByRole("dialog");
  const warning = dialog.getByRole("alert").getByText("What you typed is not saved.");
  const edit = async (name?: string) => {
    await page.getByRole("button", { name: "Edit" }).click();
    await dialog.waitFor();
    if (name !== undefined) await dialog.getByLabel("Name").fill(name);
  };
  await edit();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await edit("Brenner Oil");
  await page.keyboard.press("Escape");
  await warning.waitFor();
  assert.equal(await dialog.getByLabel("Name").inputValue(), "Brenner Oil");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await edit("Brenner Oil");
  await page.evaluate("history.back()");
  await warning.waitFor();
  assert.equal(await dialog.getByLabel("Name").inputValue(), "Brenner Oil");
  assert.match(page.url(), /customers\/c1$/);
  await page.evaluate("history.back()");
  await page.waitForURL("**/customers");
  await dialog.waitFor({ state: "detached" });

  await page.getByRole("link", { name: "Brenner Gas GmbH" }).click();
  await page.getByRole("button", { name: "Add tank" }).click();
  await dialog.getByLabel("Name").waitFor();
  expectStatus(await manage("POST", "/ingest/v1/readings", { tank_id: "t40", fill_percentage: 3 }), 200);
  const notice = page.locator(".notice", { hasText: "Low: Tank 40" });
  assert.equal(await notice.getByRole("link").getAttribute("target"), "_blank", "the form is not lost");
  await notice.getByRole("button", { name: "Dismiss" }).click();
  await notice.waitFor({ state: "detached" });
  expectStatus(await manage("POST", "/ingest/v1/readings", { tank_id: "t41", fill_percentage: 3 }), 200);
  const other = page.locator(".notice", { hasText: "Low: Tank 41" });
  await other.waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "detached" });
  // It stays when the dialog is closed.
  await other.waitFor();
});

test("after Enter in a dialog, the keyboard goes on beside the button that is gone", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.dispatcher, "/tanks/t3");
  if (opened === undefined) return;
  const { page } = opened;
  await page.getByRole("button", { name: "Acknowledge" }).press("Enter");
  await page.getByRole("dialog").getByLabel("Note").fill("Truck on Monday");
  await page.keyboard.press("Enter");
  await page.locator("button:focus", { hasText: "Change note" }).waitFor();
  await page.getByRole("link", { name: "Fleet" }).click();
  await page.getByRole("checkbox", { name: "Select Tank 3", exact: true }).check();
  await page.getByRole("button", { name: "Threshold of 1 tank" }).press("Enter");
  await page.getByRole("dialog").getByLabel("Alert threshold in %").fill("21");
  await page.keyboard.press("Enter");
  await page.locator("h1:focus").waitFor();
});

test("errors of checkboxes are shown below them; what is chosen of a search stays where it is", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.admin, "/channels");
  if (opened === undefined) return;
  const { page } = opened;
  await page.getByRole("button", { name: "Add channel" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Address").fill("office@operator.example");
  for (const name of ["Events", "Kinds of alerts"]) {
    for (const box of await dialog.getByRole("group", { name }).getByRole("checkbox").all()) await box.uncheck();
  }
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  for (const name of ["Events", "Kinds of alerts"]) await dialog.getByRole("group", { name }).locator(".error").waitFor();
  assert.equal(await page.evaluate("document.activeElement.name"), "events", "the first one has the focus");
  assert.deepEqual(await seriousViolations(page), []);
  await dialog.getByRole("button", { name: "Cancel" }).click();

  await page.getByRole("link", { name: "Keys" }).click();
  await page.getByRole("button", { name: "Create key" }).click();
  const options = dialog.getByRole("radio");
  const values = () => options.evaluateAll((all) => all.map((one) => one.getAttribute("value")));
  await options.nth(2).waitFor();
  const before = await values();
  await options.nth(2).check();
  assert.deepEqual(await values(), before);
  await page.keyboard.press("ArrowUp");
  assert.ok(await options.nth(1).isChecked());
  await dialog.getByRole("searchbox").fill("nothing like it");
  await until("what is chosen stays", async () => (await options.count()) === 2 && (await options.nth(1).isChecked()));
});

test("without https, a secret is copied, or selected; one that was lost with its response is not shown as empty", async (t) => {
  const opened = await openDashboard(t, browser, fleet, email.admin, "/keys");
  if (opened === undefined) return;
  const { page } = opened;
  const dialog = page.getByRole("dialog");
  const create = async (name: string) => {
    await page.getByRole("button", { name: "Create key" }).click();
    await dialog.getByLabel("Name").fill(name);
    await dialog.getByRole("button", { name: "Create", exact: true }).click();
  };
  // Browsers have no clipboard on such a page.
  await page.evaluate(`Object.defineProperty(navigator, "clipboard", { value: undefined });
    document.addEventListener("copy", ({ target }) => { window.copied = target.value });`);
  await create("copied");
  const secret = await dialog.getByLabel("Key copied").inputValue();
  await dialog.getByRole("button", { name: "Copy" }).click();
  await dialog.getByRole("button", { name: "Copied" }).waitFor();
  assert.equal(await page.evaluate("window.copied"), secret);
  await dialog.getByRole("button", { name: "Done" }).click();

  await page.evaluate("document.execCommand = () => false");
  await create("selected");
  await dialog.getByRole("button", { name: "Copy" }).click();
  await dialog.getByText("Selected: press Ctrl+C").waitFor();
  await dialog.getByRole("button", { name: "Done" }).click();

  let isLost = false;
  await page.route("**/manage/v1/keys", async (route) => {
    if (isLost) return route.continue();
    isLost = true;
    await route.fetch();
    return route.abort("connectionreset");
  });
  await create("lost");
  await dialog.getByText(/secret was lost.*Replace the key/).waitFor();
  assert.equal(await dialog.getByRole("textbox").count(), 0);
});

test("after a colleague has changed a customer, the form shows it and keeps what was typed, and the next attempt succeeds", async (t) => {
  expectStatus(await manage("POST", "/manage/v1/customers", { id: "c3", name: "Three", email: "three@example.com" }), 201);
  const opened = await openDashboard(t, browser, fleet, email.dispatcher, "/customers/c3");
  if (opened === undefined) return;
  const { page } = opened;
  const dialog = page.getByRole("dialog");
  const submit = (name: string) => dialog.getByRole("button", { name, exact: true }).click();
  const changeByColleague = async (phone: string) =>
    expectStatus(await manage("PATCH", "/manage/v1/customers/c3", { phone }), 200);
  const conflict = dialog.getByRole("alert").getByText(/^Somebody else changed this customer/);
  await page.getByRole("button", { name: "Edit" }).click();
  await dialog.getByLabel("Name").fill("Mine");
  await changeByColleague("+49 1");
  await submit("Save");
  await conflict.waitFor();
  assert.deepEqual(
    [await dialog.getByLabel("Name").inputValue(), await dialog.getByLabel("Phone").inputValue()],
    ["Mine", "+49 1"],
  );
  await submit("Save");
  await page.getByRole("heading", { level: 1, name: "Mine" }).waitFor();

  for (const name of ["Delete", "Restore"]) {
    await page.getByRole("button", { name, exact: true }).click();
    await dialog.waitFor();
    // What is deleted is restored to be changed.
    if (name === "Restore") expectStatus(await manage("POST", "/manage/v1/customers/c3/restore"), 200);
    await changeByColleague(`of ${name}`);
    if (name === "Restore") expectStatus(await manage("DELETE", "/manage/v1/customers/c3"), 200);
    await submit(name);
    await conflict.waitFor();
    await submit(name);
    await dialog.waitFor({ state: "detached" });
  }
  await page.getByText("Mine was restored").waitFor();
});

test("a dispatcher says that an address is verified, and stops and resumes mail about alerts; a new address is not verified and gets mail", async (t) => {
  const path = "/manage/v1/customers/c4";
  expectStatus(await manage("POST", "/manage/v1/customers", { id: "c4", name: "Four", email: "four@example.com" }), 201);
  const opened = await openDashboard(t, browser, fleet, email.dispatcher, "/customers/c4");
  if (opened === undefined) return;
  const { page } = opened;
  const dialog = page.getByRole("dialog");
  const verified = dialog.getByLabel("Address is verified");
  const mail = dialog.getByLabel("Gets mail about alerts");
  const boxes = async () => [await verified.isChecked(), await mail.isChecked()];
  const edit = () => page.getByRole("button", { name: "Edit" }).click();
  const save = async () => {
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    const { body } = await manage("GET", path);
    const { unsubscribed_at } = body["notifications"] as { readonly unsubscribed_at: string | null };
    return { verifiedAt: body["verified_at"], unsubscribedAt: unsubscribed_at };
  };
  await edit();
  await verified.check();
  await mail.uncheck();
  const stopped = await save();
  assert.ok(stopped.verifiedAt !== null && stopped.unsubscribedAt !== null);
  await page.getByText("not wanted, since").waitFor();

  await edit();
  assert.deepEqual(await boxes(), [true, false]);
  await dialog.getByLabel("Phone").fill("+49 4");
  assert.deepEqual(await save(), stopped, "another change keeps both times");

  await edit();
  await dialog.getByLabel("E-mail address").fill("new@example.com");
  assert.deepEqual(await boxes(), [false, true], "another address");
  await dialog.getByLabel("E-mail address").fill("four@example.com");
  assert.deepEqual(await boxes(), [true, false], "the address as it was");
  await mail.check();
  await verified.uncheck();
  assert.deepEqual(await save(), { verifiedAt: null, unsubscribedAt: null });

  await edit();
  await dialog.getByLabel("E-mail address").fill("new@example.com");
  await verified.check();
  await mail.uncheck();
  const { verifiedAt, unsubscribedAt } = await save();
  assert.ok(verifiedAt !== null && unsubscribedAt !== null, "a new address, as the form says");
});
