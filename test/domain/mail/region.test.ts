import assert from "node:assert/strict";
import test from "node:test";
import { languageOf, timezoneOf } from "../../../src/domain/mail/region.ts";

test("German is the language of five countries, by code or name; all others, and none, get English", () => {
  for (const country of ["DE", "at", "CH", "LI", "LU", "Germany", "Österreich", " schweiz "])
    assert.equal(languageOf(country), "de");
  for (const country of [null, "", "FR", "Denmark", "D\u0000E", "__proto__"]) assert.equal(languageOf(country), "en");
});

test("a country with one time zone has that one, all others UTC", () => {
  const zones = ["DE", "Austria", "gb", "US", "ZZ", "Narnia", null].map(timezoneOf);
  assert.deepEqual(zones, ["Europe/Berlin", "Europe/Vienna", "Europe/London", null, null, null, null]);
});
