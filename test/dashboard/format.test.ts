// Numbers, times and places in words.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { type Alert, ApiError, type AuditEntry, type FleetTank } from "../../client/src/index.ts";
import { reasonOf } from "../../dashboard/src/alerts/reason.ts";
import { messageOf } from "../../dashboard/src/components/error-message.ts";
import { fieldChanges } from "../../dashboard/src/components/field-changes.ts";
import { decimalError, decimalOf } from "../../dashboard/src/components/form.ts";
import { csvHeader, csvRow } from "../../dashboard/src/fleet/csv.ts";
import {
  date,
  dateTime,
  emptyIn,
  emptyRange,
  localDate,
  now,
  phoneLink,
  rangeOf,
  shortVolume,
  streetLine,
  untilDate,
  withLocalTimes,
} from "../../dashboard/src/format.ts";
import { csvRow as commandRow } from "../../src/cli/fleet.ts";
import { CsvTable } from "../../src/cli/output.ts";

test("a text of the service has its times in the words of the person", () => {
  const at = "2026-11-18T07:14:00.123Z";
  assert.equal(withLocalTimes(`Failed since ${at}, and at ${at}.`), `Failed since ${dateTime(at)}, and at ${dateTime(at)}.`);
  assert.equal(withLocalTimes("HTTP 410 from tank-2026"), "HTTP 410 from tank-2026");
});

test("numbers and times are written as in the language of the browser, but left to right, as the words around them", () => {
  const format = JSON.stringify(import.meta.resolve("../../dashboard/src/format.ts"));
  const script = `const { date, percent } = await import(${format}); console.log(percent(7.4), date("2026-11-16T12:00:00Z"))`;
  const inLanguage = (language: string) =>
    execFileSync(process.execPath, ["-e", script], { encoding: "utf8", env: { ...process.env, LC_ALL: language } }).trim();
  assert.equal(inLanguage("de_DE"), "7,4\u00a0% 16.11.2026");
  for (const language of ["ar_EG", "ar_AE", "fa_IR", "he_IL"]) assert.equal(inLanguage(language), "7.4\u00a0% 16 Nov 2026");
});

test("an error about fields names each of them once", () => {
  const errors = [
    { field: "email", message: "must be an e-mail address" },
    { field: "naem", message: 'is not a known field. Did you mean "name"?' },
  ];
  const error = new ApiError("body_invalid", 'email: must be an e-mail address. The body has 2 errors: see "errors".', {
    errors,
  });
  assert.equal(messageOf(error), 'email: must be an e-mail address. naem: is not a known field. Did you mean "name"?');
});

test("an error about too many requests says when to try again, and nothing about headers", () => {
  const after = (retryAfterMs?: number) =>
    messageOf(
      new ApiError("rate_limited", "Too many requests. Retry after the time in Retry-After.", { status: 429, retryAfterMs }),
    );
  assert.equal(after(1_000), "Too many requests. Try again in 1 second.");
  assert.equal(after(60_000), "Too many requests. Try again in 60 seconds.");
  assert.equal(after(61_000), "Too many requests. Try again in 2 minutes.");
  assert.equal(after(), "Too many requests. Try again later.");
});

test("a change in the audit log is in words, with its times as the person writes them", () => {
  const at = "2026-11-21T07:13:40.608Z";
  const shape = { kind: "horizontal_cylinder", heads: "flat", unit: "m", diameter: 1.25, sensor_height: 1.4 };
  const changes = {
    "alerts.paused_until": { from: null, to: at },
    name: { from: "A", to: "B" },
    min_fill_alert_percentage: { from: 25, to: 21 },
    "alerts.leak": { from: true, to: false },
    shape: { from: null, to: shape },
  };
  assert.deepEqual(
    fieldChanges({ changes } as unknown as AuditEntry).map(({ field, text }) => `${field}: ${text}`),
    [
      `Paused until: – → ${dateTime(at)}`,
      "Name: A → B",
      "Alert threshold: 25 % → 21 %",
      "Alert when a leak is suspected: yes → no",
      "Shape: – → horizontal cylinder, 1.25 m, sensor at 1.4 m",
    ],
  );
});

test("an alert has the forecast of now, and a closed one the date that was expected", () => {
  const inDays = (days: number) => new Date(now.value + days * 86_400_000).toISOString();
  const entry = { days_left: {}, forecast: { state: "ok", runs_low_at: { p50: inDays(5) } } } as FleetTank;
  const alert = (state: string) => ({ kind: "runs_low_soon", state, runs_low_at: inDays(2) }) as Alert;
  assert.equal(reasonOf(alert("open"), entry), "Low in about 5 days");
  assert.equal(reasonOf(alert("acknowledged"), undefined), "Low soon", "until its tank is loaded");
  assert.equal(reasonOf(alert("closed"), entry), `Was expected to be low on ${date(inDays(2))}`);
});

test("a range is one number where both ends are, and has a word where it is open", () => {
  assert.equal(rangeOf({ p10: 8.6, p90: 17.2 }, "∞"), "9–17");
  assert.equal(rangeOf({ p10: 0.6, p90: 1.4 }, "many", " to "), "1");
  assert.equal(rangeOf({ p10: 30, p90: null }, "many", " to "), "30 to many");
  assert.equal(rangeOf({ p10: null, p90: 3 }, "∞"), "0–3");
});

test("a local date is that of the person's calendar, not of UTC", (t) => {
  const timezone = process.env["TZ"];
  t.after(() => {
    if (timezone === undefined) delete process.env["TZ"];
    else process.env["TZ"] = timezone;
  });
  const dateIn = (name: string, at: string): string => {
    process.env["TZ"] = name;
    return localDate(new Date(at));
  };
  assert.equal(dateIn("Asia/Tokyo", "2026-01-04T20:00:00Z"), "2026-01-05");
  assert.equal(dateIn("America/Denver", "2026-01-05T02:00:00Z"), "2026-01-04");
});

test("a number may have a decimal comma or point, and no thousands separators", () => {
  assert.deepEqual(["2700,5", "22.5", "-1,25", "7"].map(decimalOf), [2700.5, 22.5, -1.25, 7]);
  const isRefused = (isLarge: boolean) => (text: string) => decimalError(text, isLarge) !== "";
  assert.deepEqual(["2.700,5", "2,700.5", "2 700", "1,2,3", "abc"].filter(isRefused(false)).length, 5);
  assert.deepEqual(["", "2700,5", "0,125", "1250.125", "2,125"].filter(isRefused(false)), []);
  assert.deepEqual(["2700,5", "0.125", "2.700", "12,700"].filter(isRefused(true)), ["2.700", "12,700"]);
});

test("a low tank says when it is empty, if that is known", () => {
  const low = (fill_percentage: number, days: number | null) => {
    const p50 = days === null ? null : new Date(now.value + days * 86_400_000).toISOString();
    return emptyIn({ latest: { fill_percentage }, forecast: { runs_empty_at: { p50 } } } as FleetTank);
  };
  assert.deepEqual(
    [low(5, 4.2), low(5, 0.5), low(5, -1), low(0, 4), low(5, null)],
    ["empty in 4 days", "empty in 12 h", "empty", "empty", "low now"],
  );
});

test("the range of when a low tank is empty has the unit of its middle", () => {
  const range = (...days: readonly (number | null)[]) => {
    const [p10, p50, p90] = days.map((day) => (day === null ? null : new Date(now.value + day * 86_400_000).toISOString()));
    return emptyRange({ latest: { fill_percentage: 5 }, forecast: { runs_empty_at: { p10, p50, p90 } } } as FleetTank);
  };
  assert.deepEqual(range(2.6, 4.2, 9.7), { p10: 3, p90: 10, unit: "days" });
  assert.deepEqual(range(0.6, 2.5, null), { p10: 1, p90: null, unit: "days" });
  assert.deepEqual(range(-1, 0.5, 1.1), { p10: 0, p90: 26, unit: "h" });
  assert.deepEqual([range(3.8, 4, 4.2), range(null, null, null), range(-2, -1, 3)], [undefined, undefined, undefined]);
});

test("what ends at midnight ends with the day before", () => {
  assert.equal(untilDate(new Date(2026, 11, 25).toISOString()), `the end of ${date(new Date(2026, 11, 24).getTime())}`);
  const noon = new Date(2026, 11, 25, 12).toISOString();
  assert.equal(untilDate(noon), dateTime(noon));
});

test("a volume of millions fits a column", () => {
  const liters = (volume: number) => shortVolume({ volume, unit: "liters" });
  assert.deepEqual([liters(999_999), liters(86_999_999)], ["999,999\u00a0l", "87M\u00a0l"]);
});

test("the number of a house is where the country has it, given by its code or its name", () => {
  const lineIn = (country: string | null) => streetLine({ street: "Rue de la Gare", street_number: "67", country });
  for (const country of ["France", "fr", " LU ", "Luxembourg", "United States", "GB"])
    assert.equal(lineIn(country), "67 Rue de la Gare");
  for (const country of ["Germany", "AT", "Freedonia", "", null]) assert.equal(lineIn(country), "Rue de la Gare 67");
  assert.equal(streetLine({ street: null, street_number: "67", country: "FR" }), "67");
});

test("a phone number is dialled without its (0) after the prefix of a country, and without its extension", () => {
  for (const [phone, link] of [
    ["+49 (0)361 555", "tel:+49361555"],
    ["(0361) 555-12", "tel:036155512"],
    ["(802) 555-0199 ext 3", "tel:8025550199"],
    ["802.555.0199 x3", "tel:8025550199"],
    ["+1 802 555 0199 #3", "tel:+18025550199"],
  ] as const)
    assert.equal(phoneLink(phone), link);
});

test("in a CSV file names that begin like a formula get an apostrophe, in full-width letters, too; phone numbers get none", () => {
  for (const name of ["=HYPERLINK(1)", "\uff1dHYPERLINK(1)", "+A1", "\uff0b1", "-A1", "\uff0d1", "@a", "\uff20a"]) {
    const tank = {
      name,
      id: "t1",
      custom_id: null,
      assigned_device_id: "d1",
      location: {},
      capacity: 1,
      capacity_unit: "liters",
    };
    const forecast = { use_per_day: null, runs_low_at: {}, runs_empty_at: {}, suggested_delivery: null };
    const entry = { tank, customer: { name: "C", phone: "+49 (30) 55-50" }, alerts: [], latest: null, forecast };
    assert.match(csvRow(entry as unknown as FleetTank, "comma"), /^t1,'[^,]+,,d1,,C,\+49 \(30\) 55-50,/, name);
  }
});

test("a CSV file of the dashboard is that of the command line, also without the forecast from before a refill", () => {
  const at = (hour: number) => new Date(2026, 10, 17, hour).toISOString();
  const when = { p10: at(8), p50: at(12), p90: null };
  const location = {
    ...{ street: "Lange Gasse", street_number: "12b", postal_code: "8010", district: "Geidorf", city: "Graz" },
    ...{ region: "Styria", country: "AT", latitude: 47.07, longitude: 15.44 },
  };
  const rowWith = (days_left: unknown) => {
    const entry = {
      ...{ state: "low", silent: true, margin: -1.5, age_seconds: 60, days_left, alerts: [{ kind: "low" }, { kind: "silent" }] },
      tank: {
        ...{ id: "t1", name: "Hall 3, left", custom_id: "x", assigned_device_id: "d1", owner_id: "c1", location },
        ...{ min_fill_alert_percentage: 20, capacity: 2700, capacity_unit: "liters" },
      },
      customer: { name: "Brenner Gas GmbH", phone: "+49 (30) 55-50" },
      latest: { created_at: at(7), fill_percentage: 18.5 },
      remaining: { volume: 499.5 },
      room: { volume: 2200.5 },
      forecast: {
        ...{ state: "ok", runs_low_at: when, runs_empty_at: when, use_per_day: { volume: 12.345 } },
        suggested_delivery: { by: at(9), volume: 2100.456 },
      },
    };
    const shown = entry as unknown as FleetTank;
    const csv = [csvHeader("comma"), csvRow(shown, "comma")];
    assert.deepEqual(csv, new CsvTable(commandRow).lines([shown]));
    return csv[1]?.replace(/(2026-11-17 07:00),\d+,/, "$1,AGE,");
  };
  const start =
    't1,"Hall 3, left",x,d1,c1,Brenner Gas GmbH,+49 (30) 55-50,Lange Gasse,12b,8010,Geidorf,Graz,Styria,AT,47.07,15.44,' +
    "low,true,low silent,18.5,20,-1.5,2026-11-17 07:00,AGE,2700,499.5,2200.5,liters,12.35,";
  const times = "2026-11-17 08:00,2026-11-17 12:00,,";
  assert.equal(rowWith({ p10: 0, p50: 0, p90: 0 }), `${start}0,0,0,${times}${times}ok,2026-11-17 09:00,2100.46`);
  assert.equal(rowWith(null), `${start},,,,,,,,,ok,,`);
});
