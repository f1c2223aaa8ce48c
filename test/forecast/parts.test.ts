// A forecast depends on the readings, not on the parts in which they are stored and read.

import assert from "node:assert/strict";
import { test } from "node:test";
import { computeForecast } from "../../src/forecast/compute.ts";
import { seeded } from "../../src/simulate/random.ts";
import { tank } from "../store/conformance/objects.ts";
import { DAY, NOW } from "./support.ts";

const EVERY = 10 * 60_000;
const READINGS = (60 * DAY) / EVERY;

test("the forecast is the same, whichever parts the readings are read in", () => {
  const random = seeded("parts");
  const instants = Float64Array.from({ length: READINGS }, (_, i) => NOW - (READINGS - 1 - i) * EVERY);
  const fills = instants.map((at) => Math.round(100 * (40 + (0.5 * (NOW - at)) / DAY + 2 * random.next())) / 100);
  const forecastIn = (size: number) => {
    const parts = Array.from({ length: Math.ceil(READINGS / size) }, (_, i) => ({
      instants: instants.slice(i * size, (i + 1) * size),
      fills: fills.slice(i * size, (i + 1) * size),
    }));
    const latestFill = fills.at(-1) ?? 0;
    return computeForecast({ tank: tank("one", "a"), latestAt: NOW, latestFill, parts, now: NOW }).forecast;
  };
  const whole = forecastIn(READINGS);
  assert.equal(whole.state, "ok");
  // A part may be shorter than an interval of which one reading is kept.
  for (const size of [1, 7, 130, 1001]) assert.deepEqual(forecastIn(size), whole, `parts of ${size}`);
});
