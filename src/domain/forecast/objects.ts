// Forecasts and refills as JSON objects.

import { exactVolume, volumeAt } from "../fleet.ts";
import { formatInstant, formatInstantOrNull, type Instant, MINUTE } from "../instant.ts";
import { instantField, literal, nullable, number, object, oneOf, text } from "../schema.ts";
import { CAPACITY_UNITS, type Tank } from "../tank.ts";
import { FORECAST_STATES, NEVER, type WhenRange } from "./forecast.ts";
import type { Refill } from "./refills.ts";
import type { StoredForecast } from "./stored.ts";

const volume = (description: string, example: number) => number({ minimum: 0, description, examples: [example] });
const unit = oneOf(CAPACITY_UNITS, { description: "Unit of the volume, that of the tank's capacity", examples: ["liters"] });

const when = (description: string) =>
  object(
    {
      p10: nullable(instantField("With a probability of 10 % by then; null: not within three years, or not known")),
      p50: nullable(instantField("As likely before as after; null: not within three years, or not known")),
      p90: nullable(instantField("With a probability of 90 % by then; null: not within three years, or not known")),
    },
    { description },
  );

export const ForecastObject = object(
  {
    object: literal("forecast", { description: "Always `forecast`" }),
    tank_id: text({ description: "Id of the tank", examples: ["tank_01kxa8w5s0d2f4g6h8j0k2m4n6"] }),
    state: oneOf(FORECAST_STATES, {
      description:
        "insufficient_data: too few readings, or they contradict each other; no_use: none can be seen; stale: the tank has been silent for too long",
      examples: ["ok"],
    }),
    computed_at: nullable(instantField("When it was computed; null: it has not been yet")),
    based_on_until: nullable(instantField("The latest reading that it is based on")),
    use_per_day: nullable(
      object(
        {
          percentage: number({ minimum: 0, description: "Percentage points", examples: [0.8] }),
          volume: volume("Volume", 21.6),
          unit,
        },
        { description: "What is used in a day from now on" },
      ),
    ),
    runs_low_at: when("When the tank falls to its threshold. Not known after a sudden fall that is not certain yet"),
    runs_empty_at: when("When the tank is empty. Not known after a sudden fall that is not certain yet"),
    suggested_delivery: nullable(
      object(
        { by: instantField("The latest time for the delivery"), volume: volume("What will fit into the tank then", 1890), unit },
        { description: "The suggested delivery" },
      ),
    ),
  },
  { description: "When a tank runs low and when it is empty" },
);

/** Null: it has not been computed yet. Dates that have passed since it was computed are the end of the current minute. */
export function forecastObject(tankId: string, forecast: StoredForecast | null, now: Instant) {
  const endOfMinute = Math.ceil(now / MINUTE) * MINUTE;
  const date = (instant: Instant): string => formatInstant(Math.max(instant, endOfMinute));
  const dateOrNull = (instant: Instant | null): string | null => (instant === null ? null : date(instant));
  const { use_per_day: use = null, suggested_delivery: delivery = null } = forecast ?? {};
  const whenObject = ({ p10, p50, p90 }: WhenRange) => ({ p10: dateOrNull(p10), p50: dateOrNull(p50), p90: dateOrNull(p90) });
  return {
    object: "forecast",
    tank_id: tankId,
    state: forecast?.state ?? "insufficient_data",
    computed_at: formatInstantOrNull(forecast?.computed_at ?? null),
    based_on_until: formatInstantOrNull(forecast?.based_on_until ?? null),
    use_per_day: use && { ...use, volume: exactVolume(use.volume) },
    runs_low_at: whenObject(forecast?.runs_low_at ?? NEVER),
    runs_empty_at: whenObject(forecast?.runs_empty_at ?? NEVER),
    suggested_delivery: delivery && { ...delivery, by: date(delivery.by), volume: exactVolume(delivery.volume) },
  };
}

export const RefillObject = object(
  {
    object: literal("refill", { description: "Always `refill`" }),
    started_at: instantField("The last reading before it, of those that are the median of four hours"),
    ended_at: instantField("The first of these readings after it"),
    from_percentage: number({ minimum: 0, description: "Fill before it", examples: [18.4] }),
    to_percentage: number({ minimum: 0, description: "Fill after it", examples: [91.2] }),
    volume: volume("What was filled in: the capacity × the rise", 1965.6),
    unit,
  },
  { description: "A delivery, found in the readings" },
);

export function refillObject({ startedAt, endedAt, from, to }: Refill, tank: Tank) {
  return {
    object: "refill",
    started_at: formatInstant(startedAt),
    ended_at: formatInstant(endedAt),
    from_percentage: from,
    to_percentage: to,
    ...volumeAt(tank, to - from),
  };
}
