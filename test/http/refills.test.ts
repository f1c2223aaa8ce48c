// /insight/v1: the refills and the forecast of a tank, by their values.

import assert from "node:assert/strict";
import { after, it } from "node:test";
import { UNRESTRICTED } from "../../src/domain/key.ts";
import { until } from "../support/until.ts";
import { expectStatus, type Item } from "./client.ts";
import { startManaged } from "./services.ts";

const DAY = 86_400_000;

it("a tank has its refills, newest first, with what was filled in, and a forecast of its use", async () => {
  const { manage, create, now, store } = await startManaged({ after });
  const { tank } = await create();
  const start = Date.parse(now()) - 89 * DAY;
  const instantOf = (day: number): string => new Date(start + day * DAY).toISOString();
  // Half a point a day, with a delivery before days 30 and 60.
  const levelOn = (day: number): number => (day < 30 ? 60 : day < 60 ? 95 : 105) - 0.5 * day;
  const readings = Array.from({ length: 90 }, (_, day) => {
    return { tank_id: tank, created_at: instantOf(day), fill_percentage: levelOn(day) };
  });
  expectStatus(await manage("POST", "/ingest/v1/readings", readings), 200);
  const stored = () => store.tankForecast(tank, UNRESTRICTED);
  await until("the forecast", async () => ((await stored()) ?? "none") !== "none", 30_000);

  const { body } = await manage("GET", `/insight/v1/tanks/${tank}/refills`);
  const refill = (day: number, from: number, to: number) => ({
    object: "refill",
    started_at: instantOf(day - 1),
    ended_at: instantOf(day),
    from_percentage: from,
    to_percentage: to,
    volume: (2700 * (to - from)) / 100,
    unit: "liters",
  });
  const data = [refill(60, 65.5, 75), refill(30, 45.5, 80)];
  assert.deepEqual(body, { object: "list", data, page: 1, size: 10, total_pages: 1, total_items: 2 });

  const { body: forecast } = await manage("GET", `/insight/v1/tanks/${tank}/forecast`);
  const { percentage, volume, unit } = forecast["use_per_day"] as { percentage: number; volume: number; unit: string };
  assert.ok(Math.abs(percentage - 0.5) < 0.05, `${percentage}`);
  assert.ok(Math.abs(volume - 27 * percentage) < 0.01, `${volume}`);
  assert.equal(unit, "liters");
  // From 60.5 % to 20 %.
  const days = (Date.parse(String((forecast["runs_low_at"] as Item)["p50"])) - Date.parse(now())) / DAY;
  assert.ok(Math.abs(days - 81) < 6, `${days}`);
});
