// Changes of a tank in a real browser: by its form, and a pause of its alerts.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Locator } from "playwright-core";
import { expectStatus, jsonClient } from "../http/client.ts";
import { createUser } from "../support/browser.ts";
import { openBrowser } from "../support/chromium.ts";
import { customerRecord, tankRecord } from "../support/records.ts";
import { startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { expectFits, expectGood } from "./expect-good.ts";
import { openDashboard, PHONE, seriousViolations } from "./support.ts";

const service = await startService({ after }, { environment: { RATE_LIMIT: "0" } });
const manage = jsonClient(service, await service.key({ role: "manage" }));
const browser = await openBrowser();
after(() => browser?.close());
const STAFF = { dispatcher: "dispatcher@operator.example", admin: "admin@operator.example" };
const BERLIN = { locale: "en-GB", timezoneId: "Europe/Berlin" };
/** Whether all of an element is within its dialog. */
const isInView = (element: Locator): Promise<boolean> =>
  element.evaluate((node) => {
    const [inner, outer] = [node.getBoundingClientRect(), node.closest("dialog")?.getBoundingClientRect()];
    return outer !== undefined && inner.top >= outer.top && inner.bottom <= outer.bottom;
  });

before(async () => {
  for (const role of ["dispatcher", "admin"] as const) await createUser(service, role, STAFF[role]);
  await service.store.importCustomers([
    customerRecord("cus_own", { name: "<img src=x> Gas", email: "own@customers.example" }),
    customerRecord("cus_other", { email: "other@customers.example" }),
  ]);
  await service.store.importTanks([
    tankRecord("tank_used", "cus_own", { name: "Boiler house", min_fill_alert_percentage: 20 }),
    tankRecord("tank_hostile", "cus_own"),
    tankRecord("tank_other", "cus_other"),
  ]);
});

describe("changes of a tank", () => {
  it("opens at once, loads its tank again after an error, and assigns the device of another tank by a swap that is confirmed", async (t) => {
    const screen = await openDashboard(t, browser, service, STAFF.dispatcher, "/tanks/tank_used", BERLIN);
    if (screen === undefined) return;
    const { page } = screen;
    const dialog = page.getByRole("dialog", { name: "Edit tank" });
    await page.getByRole("button", { name: "Edit" }).waitFor();
    const customer = /\/manage\/v1\/customers\/cus_own$/;
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route(customer, (route) => released.then(() => route.fulfill({ status: 403 })));
    await page.getByRole("button", { name: "Edit" }).click();
    await dialog.getByText("Loading…").waitFor();
    release();
    await dialog.getByText("Something went wrong").waitFor();
    await page.unroute(customer);
    await dialog.getByRole("button", { name: "Try again" }).click();
    await dialog.getByLabel("Name").waitFor();
    await until("the first field has the focus", () => page.evaluate("document.activeElement?.name === 'name'"));
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    assert.equal(await page.evaluate("document.activeElement.textContent"), "Edit");

    const deviceOf = async (id: string) => (await manage("GET", `/v1/tanks/${id}`)).body["assigned_device_id"];
    const [own, others] = [await deviceOf("tank_used"), await deviceOf("tank_other")];
    await page.getByRole("button", { name: "Edit" }).click();
    await dialog.getByLabel("Device").fill(String(others));
    await dialog.getByRole("button", { name: "Save" }).click();
    const { name } = (await manage("GET", "/v1/tanks/tank_other")).body;
    const message = dialog.getByText(`Device ${others} is assigned to the tank “${name}”. Assign another device`);
    await message.waitFor();
    await until("the message is in view", () => isInView(message));
    assert.equal(await isInView(dialog.getByLabel("Swap the devices")), true);
    assert.deepEqual(await seriousViolations(page), []);
    assert.deepEqual([await deviceOf("tank_used"), await deviceOf("tank_other")], [own, others], "nothing is changed yet");
    await dialog.getByLabel("Swap the devices").check();
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("The tank was changed").waitFor();
    assert.deepEqual([await deviceOf("tank_used"), await deviceOf("tank_other")], [others, own]);
    await page.locator("section", { hasText: "Device" }).getByText(String(others)).first().waitFor();
  });

  it("changes a tank: errors are at the fields, and a change by somebody else is not overwritten", async (t) => {
    const screen = await openDashboard(t, browser, service, STAFF.dispatcher, "/tanks/tank_used", { ...BERLIN, viewport: PHONE });
    if (screen === undefined) return;
    const { page } = screen;
    await page.getByRole("button", { name: "Edit" }).click();
    const threshold = page.getByLabel("Alert threshold in %");
    await threshold.fill("500");
    await page.getByLabel("Latitude").fill("north");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("must be a number").waitFor();
    await page.getByLabel("Latitude").fill("91");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("must be from -90 to 90").waitFor();
    assert.equal(await threshold.getAttribute("aria-invalid"), "true");
    screen.errors.splice(0);
    await expectFits(screen);
    expectStatus(await manage("PATCH", "/manage/v1/tanks/tank_used", { name: "Boiler house 2" }), 200);
    await threshold.fill("25");
    await page.getByLabel("Latitude").fill("48.1");
    await page.getByRole("button", { name: "Save" }).click();
    const message = page.getByText("Somebody else changed this tank");
    await message.waitFor();
    await until("the message is in view", () => isInView(message));
    assert.equal(await page.getByLabel("Name").inputValue(), "Boiler house 2");
    assert.equal(await threshold.inputValue(), "25", "what nobody else has changed is kept");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The tank was changed").waitFor();
    const { name, min_fill_alert_percentage } = (await manage("GET", "/v1/tanks/tank_used")).body;
    assert.deepEqual([name, min_fill_alert_percentage], ["Boiler house 2", 25]);
  });

  it("has all fields of a tank: capacity, use, customer and district, and which alerts open", async (t) => {
    const screen = await openDashboard(t, browser, service, STAFF.dispatcher, "/tanks/tank_other", {
      ...BERLIN,
      viewport: PHONE,
    });
    if (screen === undefined) return;
    const { page } = screen;
    const dialog = page.getByRole("dialog");
    const save = () => dialog.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Edit" }).click();
    await dialog.getByLabel("District").fill("Wiehre");
    await dialog.getByLabel("Alert when it is expected to run low soon").uncheck();
    await dialog.getByLabel("Silent after").fill("3 days");
    await save();
    await dialog.getByText("Some fields are not valid").waitFor();
    assert.equal(await dialog.getByLabel("Silent after").getAttribute("aria-invalid"), "true");
    await dialog.getByLabel("Silent after").fill("3d");
    assert.equal(await dialog.getByLabel("Capacity").isVisible(), false, "what is rarely changed is not shown at first");
    await dialog.getByText("More").click();
    await dialog.getByLabel("Capacity").fill("");
    await dialog.getByText("More").click();
    await save();
    await dialog.getByText("must be a number").waitFor();
    await until("the field with the error has the focus", () => page.evaluate("document.activeElement?.name === 'capacity'"));
    screen.errors.splice(0);
    await expectGood(screen);
    await dialog.getByLabel("Capacity").fill("1.250");
    await dialog.getByText("More").click();
    await save();
    await dialog.getByLabel("Capacity").waitFor();
    assert.match(
      await dialog
        .getByLabel("Capacity")
        .evaluate((input) => (input as unknown as { validationMessage: string }).validationMessage),
      /without thousands separators/,
    );
    await dialog.getByLabel("Capacity").fill("1250,5");
    await dialog.getByLabel("Unit").selectOption("Gallons");
    await dialog.getByLabel("Use case", { exact: true }).selectOption("Industrial");
    await dialog.getByLabel("Custom id").fill("HALL-3");
    await dialog.getByLabel("Search: Customer").fill("<img");
    await dialog.getByText("own@customers.example").click();
    await save();
    await page.getByText("The tank was changed").waitFor();
    const { body } = await manage("GET", "/manage/v1/tanks/tank_other");
    const { capacity, capacity_unit, use_case, custom_id, owner_id, alerts, location } = body;
    assert.deepEqual(
      { capacity, capacity_unit, use_case, custom_id, owner_id },
      { capacity: 1250.5, capacity_unit: "gallons", use_case: "industrial", custom_id: "HALL-3", owner_id: "cus_own" },
    );
    assert.deepEqual(alerts, { silent_after: "72h", paused_until: null, runs_low_soon: false, leak: true });
    assert.equal((location as Record<string, unknown>)["district"], "Wiehre");
    await page.getByText("No alerts of the kind “Runs low soon”.").waitFor();
    await page.getByText("Silent after 72h without a reading.").waitFor();
    expectStatus(await manage("PATCH", "/manage/v1/tanks/tank_other", { owner_id: "cus_other" }), 200);
  });

  it("shows the current values, and keeps what was typed, after somebody else has changed only its alerts", async (t) => {
    const screen = await openDashboard(t, browser, service, STAFF.dispatcher, "/tanks/tank_hostile", BERLIN);
    if (screen === undefined) return;
    const { page } = screen;
    await page.getByRole("button", { name: "Edit" }).click();
    const leak = page.getByLabel("Alert when a leak is suspected");
    assert.equal(await leak.isChecked(), true);
    expectStatus(await manage("PATCH", "/manage/v1/tanks/tank_hostile", { alerts: { leak: false } }), 200);
    await page.getByLabel("Silent after").fill("36h");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Somebody else changed this tank").waitFor();
    assert.equal(await leak.isChecked(), false);
    await leak.check();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The tank was changed").waitFor();
    const { alerts } = (await manage("GET", "/manage/v1/tanks/tank_hostile")).body;
    assert.deepEqual(alerts, { silent_after: "36h", paused_until: null, runs_low_soon: true, leak: true });
  });

  it("is paused and resumed by a dispatcher, and an admin sees who did it", async (t) => {
    const path = "/tanks/tank_used";
    const screen = await openDashboard(t, browser, service, STAFF.dispatcher, path, { ...BERLIN, viewport: PHONE });
    if (screen === undefined) return;
    const { page } = screen;
    const pausedUntil = async () => {
      const { alerts } = (await manage("GET", "/manage/v1/tanks/tank_used")).body;
      return (alerts as Record<string, unknown>)["paused_until"];
    };
    const alerts = page.locator("section", { has: page.getByRole("heading", { name: "Alerts" }) });
    await alerts.getByRole("button", { name: "Pause" }).click();
    await page.getByLabel("Until and including").fill("2099-03-04");
    await page.getByRole("dialog").getByRole("button", { name: "Pause" }).click();
    await alerts.getByText("Paused until the end of 4 Mar 2099").waitFor();
    await page.locator(".badge").getByText("Paused until the end of 4 Mar 2099").waitFor();
    assert.equal(await pausedUntil(), "2099-03-04T23:00:00.000Z");
    await expectFits(screen);
    await alerts.getByRole("button", { name: "Resume" }).click();
    await alerts.getByRole("button", { name: "Pause" }).waitFor();
    assert.equal(await pausedUntil(), null);
    const admin = await openDashboard(t, browser, service, STAFF.admin, path, BERLIN);
    const changes = admin?.page.locator("section", { has: admin.page.getByRole("heading", { name: "Changes" }) });
    await changes?.getByText("changed by The dispatcher").first().waitFor();
    await changes?.getByTitle(/^usr_/).first().waitFor();
  });
});
