// The tanks whose screen is tested, in a service with users of all roles, and a browser.

import { jsonClient } from "../http/client.ts";
import { createUser } from "../support/browser.ts";
import { openBrowser } from "../support/chromium.ts";
import { customerRecord, putReadings, tankRecord } from "../support/records.ts";
import { type Lifetime, startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { withManyRefills, withOneRefill } from "./tank-levels.ts";

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
export const HOSTILE = `<img src=x onerror="document.title='broken'"> 🛢️ شركة الغاز ${"W".repeat(440)}`;

export const STAFF = {
  viewer: "viewer@operator.example",
  dispatcher: "dispatcher@operator.example",
  admin: "admin@operator.example",
};
export const BERLIN = { locale: "en-GB", timezoneId: "Europe/Berlin" };

/** Ready when the forecasts are computed. `now` is that of the readings. */
export async function startTanks(life: Lifetime) {
  const service = await startService(life, { environment: { RATE_LIMIT: "0" } });
  const manage = jsonClient(service, await service.key({ role: "manage" }));
  const browser = await openBrowser();
  life.after(() => browser?.close());
  const now = Date.now();
  for (const role of ["viewer", "dispatcher", "admin"] as const) await createUser(service, role, STAFF[role]);
  await service.store.importCustomers([
    customerRecord("cus_own", { name: HOSTILE, email: "own@customers.example" }),
    customerRecord("cus_other", { email: "other@customers.example" }),
  ]);
  await service.store.importTanks([
    tankRecord("tank_used", "cus_own", { name: "Boiler house", min_fill_alert_percentage: 20 }),
    tankRecord("tank_hostile", "cus_own", { name: HOSTILE, custom_id: HOSTILE, location: { city: HOSTILE, country: HOSTILE } }),
    tankRecord("tank_other", "cus_other"),
    tankRecord("tank_busy", "cus_other"),
    tankRecord("tank_refilled", "cus_other", { min_fill_alert_percentage: 25 }),
    tankRecord("tank_late", "cus_other", { min_fill_alert_percentage: 23 }),
    tankRecord("tank_silent", "cus_other", { min_fill_alert_percentage: 20 }),
  ]);
  await putReadings(service.store, "tank_used", withOneRefill(now));
  await putReadings(service.store, "tank_refilled", withOneRefill(now));
  await putReadings(service.store, "tank_late", withOneRefill(now - 2 * DAY));
  await putReadings(service.store, "tank_busy", withManyRefills(now));
  await putReadings(service.store, "tank_hostile", [[now - 60_000, 10]]);
  await putReadings(service.store, "tank_silent", [[now - 10 * DAY, 50]]);
  await until(
    "forecasts are computed",
    async () => (await manage("GET", "/insight/v1/tanks/tank_used/forecast")).body["state"] === "ok",
    30_000,
  );
  return { service, manage, browser, now };
}
