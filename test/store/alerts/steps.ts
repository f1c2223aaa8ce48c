// Random histories of a few tanks, as data: what is done, on which of them, and how much time passes. They are small and collide,
// so that readings are late, replaced and repeated, and conditions come and go.

import fc from "fast-check";
import { ALERT_KINDS } from "../../../src/domain/alerts/alert.ts";

export const TANKS = ["t0", "t1", "t2", "t3"];
export const CUSTOMERS = ["a", "b"];
export const DEVICES = ["d0", "d1", "d2", "d3", "free"];

const tank = fc.constantFrom(...TANKS);
const customer = fc.constantFrom(...CUSTOMERS);
/** One that is assigned to no tank at first: its readings are pending until it is. */
const device = fc.oneof(fc.constantFrom(...DEVICES), fc.constant("free"));
/** Around the thresholds that follow, and their margins. */
const fill = fc.constantFrom(0, 0.5, 4.99, 5, 7.99, 8, 19, 20, 20.5, 22.99, 23, 50, 99.9, 100);
const threshold = fc.constantFrom(0, 5, 20, 50, 97, 100);
/** Half hours before now. */
const age = fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat(5), fc.nat(500));

const source = fc.oneof(
  { weight: 2, arbitrary: tank.map((id) => ({ tank: id })) },
  device.map((id) => ({ device: id })),
);
const reading = fc.record({ source, age, fill });
const batch = fc.array(reading, { minLength: 1, maxLength: 6 });

const kind = fc.constantFrom(...ALERT_KINDS);
/** Around the limits of `runs_low_soon`, whose alerts open at 7 and close above 9.75 days. */
const daysLeft = fc.option(fc.constantFrom(0, 3, 7, 7.01, 9.75, 9.76, 40), { freq: 6 });
const forecastState = fc.oneof(
  { weight: 6, arbitrary: fc.constant("ok" as const) },
  fc.constantFrom("no_use" as const, "stale" as const, "insufficient_data" as const),
);
const leak = fc.constantFrom(
  "open" as const,
  "theft" as const,
  "theft a day ago" as const,
  "none" as const,
  "ending" as const,
  null,
);
const forecast = fc.record({
  tank,
  state: forecastState,
  daysLeft,
  leak,
  /** Whether the newest reading may be a delivery. */
  isRisen: fc.constantFrom(false, false, false, true),
  /** Whether a reading came while it was computed. */
  isLate: fc.constantFrom(false, false, false, true),
});
const minutes = fc.oneof(fc.constantFrom(1, 31, 59, 61, 600, 2881, 5000), fc.nat(3000));

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant("ingest" as const), batches: fc.array(batch, { minLength: 1, maxLength: 1 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("ingest" as const), batches: fc.array(batch, { minLength: 2, maxLength: 4 }) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("threshold" as const), tank, threshold }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("delete" as const), tank }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("restore" as const), tank }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("deleteCustomer" as const), customer }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("restoreCustomer" as const), customer }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("owner" as const), tank, customer }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("device" as const), tank, device }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("import" as const), tank, customer, threshold, deleted: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("pause" as const), tank, hours: fc.option(fc.nat(100)) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("silentAfter" as const), tank, hours: fc.option(fc.integer({ min: 1, max: 100 })) }),
  },
  {
    weight: 9,
    arbitrary: fc.record({
      do: fc.constant("forecast" as const),
      forecasts: fc.uniqueArray(forecast, { minLength: 1, maxLength: 4, selector: (one) => one.tank }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("kinds" as const), tank, runs_low_soon: fc.boolean(), leak: fc.boolean() }),
  },
  /** The job that keeps the fleet order. */
  { weight: 1, arbitrary: fc.record({ do: fc.constant("update_order" as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("acknowledge" as const), tank, kind }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("close" as const), tank, kind }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("sweep" as const) }) },
  /** As a service that runs: swept all the time. */
  { weight: 4, arbitrary: fc.record({ do: fc.constant("run" as const), minutes }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("jump" as const), minutes: fc.integer({ min: -5000, max: 5000 }) }) },
  /** The clock is ahead for a while, then set right, and the service runs on. */
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("setBack" as const), ahead: fc.integer({ min: 61, max: 50_000 }), minutes }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("reopen" as const) }) },
);

export type GivenForecast = typeof forecast extends fc.Arbitrary<infer F> ? F : never;
export type AlertStep = typeof step extends fc.Arbitrary<infer S> ? S : never;
export const histories = (maxLength: number): fc.Arbitrary<AlertStep[]> =>
  fc.array(step, { minLength: 1, maxLength, size: "max" });
