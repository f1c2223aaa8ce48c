// GET /insight/v1/tanks/:id/series and POST /insight/v1/series: readings by buckets of time.

import {
  type Bucket,
  BucketCollector,
  maxBuckets,
  type Periods,
  periodsOf,
  STEPS,
  type Step,
  shortestStep,
} from "../../domain/buckets.ts";
import { type FieldError, RequestError } from "../../domain/errors.ts";
import { DAY, FIRST_INSTANT, formatInstant, type Instant, LAST_INSTANT, parseInstant } from "../../domain/instant.ts";
import { FILL } from "../../domain/reading.ts";
import {
  array,
  idField,
  instantField,
  integer,
  literal,
  number,
  object,
  oneOf,
  ref,
  type Static,
  text,
} from "../../domain/schema.ts";
import type { Found } from "../../domain/store.ts";
import { type TimeZone, timeZone } from "../../domain/timezone.ts";
import { errorsInObject, hasError, invalidBody } from "../../domain/validate.ts";
import { choice, instant, listJson, listSchema, type Parameter } from "../parameters.ts";
import { insightRoute, jsonBody, type Route, type RouteRequest } from "../route.ts";
import { NO_LONGER_AVAILABLE, requireTank } from "./found.ts";

const QUARTER_HOUR = 900_000;
const DEFAULT_RANGE = 30 * DAY;
/** Maximum number of buckets for the step `auto`. */
const AUTO_BUCKETS = 400;
const MAX_TANKS = 100;
/** Maximum number of buckets: of one tank, and of all tanks together. */
const MAX_BUCKETS = 10_000;
const MAX_BUCKETS_OF_ALL = MAX_TANKS * AUTO_BUCKETS;
/** Maximum number of readings of all tanks together. */
const MAX_RANGE_READINGS = 10_000_000;
/** Read at the same time. */
const TANKS_AT_ONCE = 8;

const UTC = timeZone("UTC") as TimeZone;
const UNKNOWN_ZONE = "a time zone such as Europe/Berlin or +02:00";

const CHOICES = [...STEPS, "auto"] as const;
const ABOUT = {
  from: "Readings from this instant (inclusive); 30 days before `to` by default",
  to: "Readings before this instant (exclusive); by default the end of the current quarter of an hour",
  step: `The length of a bucket: 15m, 1h, 6h, 1d, 1w (from Monday), 1M, or auto: the shortest with at most ${AUTO_BUCKETS} buckets in the range`,
  timezone: "The time zone of hours, days, weeks and months",
};

const fill = (description: string, example: number) => number({ ...FILL, description, examples: [example] });

const SeriesBucket = object(
  {
    start: instantField("When the bucket begins; the first may begin before `from`"),
    min: fill("The lowest fill percentage", 61.2),
    max: fill("The highest fill percentage", 63.4),
    mean: fill("The mean of the readings, each with the same weight", 62.35),
    last: fill("The fill percentage of the newest reading", 61.2),
    count: integer({ minimum: 1, description: "The number of readings", examples: [6] }),
  },
  { description: "The readings of one period of time" },
);

const SeriesQuery = object(
  {
    tank_ids: array(idField("Identifier of a tank", "tank_7c1e"), {
      minItems: 1,
      maxItems: MAX_TANKS,
      description: "The tanks; those that are unknown or deleted are left out",
    }),
    from: instantField(ABOUT.from),
    to: instantField(ABOUT.to),
    step: oneOf(CHOICES, { description: ABOUT.step, default: "auto", examples: ["1d"] }),
    timezone: text({ minLength: 1, maxLength: 64, description: ABOUT.timezone, default: "UTC", examples: ["Europe/Berlin"] }),
  },
  { description: "Which series to return" },
  ["from", "to", "step", "timezone"],
);

export const schemas = {
  SeriesQuery,
  Series: object(
    {
      object: literal("series", { description: "Always `series`" }),
      tank_id: idField("The tank", "tank_7c1e"),
      from: instantField("The beginning of the range"),
      to: instantField("The end of the range, exclusive"),
      step: oneOf(STEPS, { description: "The length of a bucket", examples: ["1d"] }),
      timezone: text({ description: "The time zone of hours, days, weeks and months", examples: ["Europe/Berlin"] }),
      buckets: array(SeriesBucket, { description: "Oldest first; those without readings are left out" }),
    },
    { description: "The readings of a tank by buckets of time" },
  ),
  SeriesList: listSchema(ref("Series"), "The series of several tanks, in the order of the request"),
};

const EXAMPLE_RANGE = {
  from: "2026-03-22T23:00:00.000Z",
  to: "2026-03-29T22:00:00.000Z",
  step: "1d",
  timezone: "Europe/Berlin",
} as const;
const EXAMPLE: Static<typeof schemas.Series> = {
  object: "series",
  tank_id: "tank_7c1e",
  ...EXAMPLE_RANGE,
  buckets: [
    { start: "2026-03-27T23:00:00.000Z", min: 61.2, max: 63.4, mean: 62.35, last: 61.2, count: 6 },
    { start: "2026-03-28T23:00:00.000Z", min: 59.1, max: 61, mean: 60.02, last: 59.1, count: 5 },
  ],
};

const LIMITS = `A range may have ${MAX_BUCKETS.toLocaleString("en")} buckets and ${MAX_RANGE_READINGS.toLocaleString("en")} readings.`;

const timezoneParameter: Parameter<TimeZone> = {
  schema: text({ description: ABOUT.timezone, default: "UTC" }),
  fallback: UTC,
  read(name) {
    // Query string decoding turns a plus into a space, which no time zone has in its name.
    const zone = timeZone(name.replaceAll(" ", "+"));
    return zone === undefined ? { must: UNKNOWN_ZONE } : { value: zone };
  },
};

export const routes: readonly Route[] = [
  insightRoute({
    path: "/insight/v1/tanks/:id/series",
    operation: "retrieveSeries",
    isCacheable: true,
    summary: "Retrieve the series of a tank",
    description: `Minimum, maximum, mean, last and count of a tank's readings by hours, days, weeks or months, local ones in the time zone. ${LIMITS}`,
    parameters: {
      from: instant(ABOUT.from, true),
      to: instant(ABOUT.to, true),
      step: choice(CHOICES, ABOUT.step, "auto"),
      timezone: timezoneParameter,
    },
    response: { schema: ref("Series"), description: "The series", examples: { week: EXAMPLE } },
    errors: ["tank_unknown", "tank_deleted", "overloaded"],
    async handle({ reads, services, scope, id, parameters, asLongRead }) {
      const { timezone: zone, ...given } = parameters;
      const query = seriesQuery({ ...given, zone }, services.management.clock(), 1);
      if ("message" in query) throw invalidParameter(query);
      const buckets = (readings: number) => readBuckets({ reads, scope }, id, query, { remaining: readings });
      // Most series are a single part. A longer one is read from its beginning when it is its turn, so that few are in memory.
      const first = await buckets(0);
      const series = requireTank(
        first === "longer" ? await asLongRead(() => buckets(MAX_RANGE_READINGS)) : first,
        NO_LONGER_AVAILABLE,
      );
      if (series === "longer") throw invalidParameter(TOO_MANY_READINGS);
      return seriesJson(id, query, series);
    },
  }),
  insightRoute({
    method: "POST",
    path: "/insight/v1/series",
    operation: "querySeries",
    isLongRead: true,
    summary: "Retrieve the series of several tanks",
    description: `The same for up to ${MAX_TANKS} tanks in one request, which may have ${MAX_BUCKETS_OF_ALL.toLocaleString("en")} buckets together. It changes nothing.`,
    body: jsonBody(ref("SeriesQuery"), "The tanks, and the same parameters", {
      tank_ids: ["tank_7c1e", "tank_19fd"],
      ...EXAMPLE_RANGE,
    }),
    response: {
      schema: ref("SeriesList"),
      description: "The series of the tanks, without those that are unknown or deleted",
      examples: { one: { object: "list", data: [EXAMPLE], page: 1, size: MAX_TANKS, total_pages: 1, total_items: 1 } },
    },
    async handle({ reads, services, scope, body }) {
      const { ids, query } = seriesOfBody(body, services.management.clock());
      const budget = { remaining: MAX_RANGE_READINGS };
      const series: string[] = [];
      for (let i = 0; i < ids.length; i += TANKS_AT_ONCE) {
        const some = ids.slice(i, i + TANKS_AT_ONCE).map(async (id) => {
          const buckets = await readBuckets({ reads, scope }, id, query, budget);
          if (buckets === "longer") throw invalidBody([TOO_MANY_READINGS]);
          return typeof buckets === "object" ? [seriesJson(id, query, buckets)] : [];
        });
        series.push(...(await Promise.all(some)).flat());
      }
      return listJson({ data: series, totalItems: series.length }, { page: 1, size: MAX_TANKS }, (json) => json);
    },
  }),
];

type SeriesInput = {
  readonly from: Instant | undefined;
  readonly to: Instant | undefined;
  readonly step: (typeof CHOICES)[number];
  readonly zone: TimeZone;
};
type SeriesRange = {
  readonly from: Instant;
  readonly to: Instant;
  readonly step: Step;
  readonly zone: TimeZone;
  readonly periods: Periods;
};

/** Returns the query with defaults filled in, or a validation error. */
function seriesQuery({ zone, ...given }: SeriesInput, now: Instant, tanks: number): SeriesRange | FieldError {
  // Rounded up to 15 minutes, so that the ETag stays valid for a while.
  const to = given.to ?? Math.floor(now / QUARTER_HOUR) * QUARTER_HOUR + QUARTER_HOUR;
  const from = given.from ?? Math.max(to - DEFAULT_RANGE, FIRST_INSTANT);
  if (from >= to) return { field: "from", message: `must be before to, ${formatInstant(to)}` };
  if (given.step === "auto") {
    const step = shortestStep(from, to, zone, AUTO_BUCKETS);
    if (step !== undefined) return { from, to, step, zone, periods: periodsOf(step, zone) };
    return { field: "from", message: `must be at most ${AUTO_BUCKETS} months before to where step is auto` };
  }
  const { step } = given;
  const limit = Math.min(MAX_BUCKETS, Math.floor(MAX_BUCKETS_OF_ALL / tanks));
  if (maxBuckets(step, from, to, zone) <= limit) return { from, to, step, zone, periods: periodsOf(step, zone) };
  return { field: "from", message: `must be later: a range may have at most ${limit} buckets of ${step}` };
}

const TOO_MANY_READINGS: FieldError = {
  field: "from",
  message: `must be later: a range may have at most ${MAX_RANGE_READINGS} readings`,
};

const invalidParameter = ({ field, message }: FieldError): RequestError =>
  new RequestError("parameter_invalid", `${field} ${message}.`, { param: field });

function seriesOfBody(body: unknown, now: Instant): { readonly ids: readonly string[]; readonly query: SeriesRange } {
  const errors = errorsInObject(SeriesQuery, body);
  const { tank_ids = [], timezone = "UTC", step = "auto", ...range } = (body ?? {}) as Partial<Static<typeof SeriesQuery>>;
  if (!hasError(errors, "tank_ids")) errors.push(...repeated(tank_ids));
  const zone = hasError(errors, "timezone") || typeof timezone !== "string" ? UTC : timeZone(timezone);
  if (zone === undefined) errors.push({ field: "timezone", message: `must be ${UNKNOWN_ZONE}` });
  if (errors.length > 0) throw invalidBody(errors);
  const given = { from: roundedUp(range.from), to: roundedUp(range.to), step, zone: zone ?? UTC };
  const query = seriesQuery(given, now, tank_ids.length);
  if ("message" in query) throw invalidBody([query]);
  return { ids: tank_ids, query };
}

const repeated = (ids: readonly string[]): FieldError[] =>
  ids.flatMap((id, i) => (ids.indexOf(id) < i ? [{ field: `tank_ids[${i}]`, message: "repeats another one" }] : []));

/** Readings are at whole milliseconds: none is between a finer bound and the next millisecond. */
function roundedUp(datetime: string | undefined): Instant | undefined {
  const parsed = datetime === undefined ? undefined : parseInstant(datetime);
  return parsed && (parsed.wasRounded ? Math.min(parsed.instant + 1, LAST_INSTANT) : parsed.instant);
}

/** Readings that may still be read. */
type Budget = { remaining: number };

/** Reads part by part. `longer`: there are more readings than the budget has; the first part is always read. */
async function readBuckets(
  { reads, scope }: Pick<RouteRequest, "reads" | "scope">,
  tankId: string,
  { from, to, periods }: SeriesRange,
  budget: Budget,
): Promise<Found<readonly Bucket[]> | "longer"> {
  const collector = new BucketCollector(periods);
  for (let start = from; ; ) {
    const part = await reads.readingColumns(tankId, { from: start, to }, scope);
    if (typeof part !== "object") return part;
    collector.add(part);
    budget.remaining -= part.instants.length;
    if (part.next === undefined) return collector.buckets();
    if (budget.remaining <= 0) return "longer";
    start = part.next;
  }
}

function seriesJson(tankId: string, { from, to, step, zone }: SeriesRange, buckets: readonly Bucket[]): string {
  const range = { from: formatInstant(from), to: formatInstant(to), step, timezone: zone.id };
  const beginning = JSON.stringify({ object: "series", tank_id: tankId, ...range }).slice(0, -1);
  // On their own: `JSON.stringify` takes twice as long for a value with any text that is part of another one, as an id of a URL is.
  return `${beginning},"buckets":${JSON.stringify(buckets)}}`;
}
