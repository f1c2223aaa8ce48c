// A reading: how full one tank was at one instant. A tank has at most one reading for an instant.

import { formatInstant, type Instant } from "./instant.ts";
import { instantField, literal, number, object, type Static } from "./schema.ts";

export const FILL = { minimum: 0, maximum: 100 } as const;

export type Reading = {
  readonly created_at: Instant;
  readonly fill_percentage: number;
};

export const TelemetryObject = object(
  {
    object: literal("telemetry", { description: "Always `telemetry`" }),
    created_at: instantField("When the reading was created"),
    fill_percentage: number({ ...FILL, description: "Fill level of the tank as a percentage", examples: [63.4] }),
  },
  { description: "One fill reading of a tank" },
);

export function telemetryObject(reading: Reading): Static<typeof TelemetryObject> {
  return {
    object: "telemetry",
    created_at: formatInstant(reading.created_at),
    fill_percentage: reading.fill_percentage,
  };
}

/** The same as JSON, by hand: most responses consist of these, and `JSON.stringify` takes 40 % longer. */
export function telemetryJson({ created_at, fill_percentage }: Reading): string {
  return `{"object":"telemetry","created_at":"${formatInstant(created_at)}","fill_percentage":${fillText(fill_percentage)}}`;
}

/** By hundredths. V8's own cache of number texts makes the heap grow under load. */
const fillTexts = new Array<string | undefined>(FILL.maximum * 100 + 1);

function fillText(fill: number): string {
  const hundredths = Math.round(fill * 100);
  if (hundredths / 100 !== fill) return String(fill);
  const text = fillTexts[hundredths] ?? String(fill);
  fillTexts[hundredths] = text;
  return text;
}

/** Readings of one tank in columns, oldest first. `next`: where those that follow in the range begin, if there are more. */
export type ReadingColumns = {
  readonly instants: Float64Array;
  readonly fills: Float64Array;
  readonly next: Instant | undefined;
};
/** `to` is exclusive. */
export type InstantRange = { readonly from: Instant; readonly to: Instant };

/** Many readings of many tanks in columns. Entry i belongs to `tankIds[tank[i]]`. */
export type ReadingBatch = {
  readonly tankIds: readonly string[];
  readonly tank: Uint32Array;
  readonly createdAt: Float64Array;
  readonly fill: Float64Array;
};

/** The tank or device of a reading. With `customerId`, only that customer's tanks may receive it. */
export type ReadingSource = {
  readonly kind: "tank" | "device";
  /** For a device, as returned by `deviceKey`. */
  readonly id: string;
  readonly customerId: string | null;
  /** It was pending in another database: a payload that cannot be interpreted stays pending. */
  readonly wasPending?: boolean;
};

/**
 * Incoming readings in columns, so that they are passed between threads without being copied one by one. Entry i belongs to
 * `sources[sourceOf[i]]`.
 */
export type IncomingBatch = {
  readonly sources: readonly ReadingSource[];
  readonly sourceOf: Uint32Array;
  readonly createdAt: Float64Array;
  /** NaN for a reading with a payload. */
  readonly fill: Float64Array;
  /** The payloads of devices, as JSON, by position in the batch. */
  readonly payloads: ReadonlyMap<number, string>;
  /** Where they have just arrived. */
  readonly receivedAt?: Instant;
};

/** Readings of tanks from a sender that is not bound to a customer. */
export function incomingForTanks({ tankIds, tank, createdAt, fill }: ReadingBatch): IncomingBatch {
  const sources = tankIds.map((id) => ({ kind: "tank", id, customerId: null }) as const);
  return { sources, sourceOf: tank, createdAt, fill, payloads: new Map() };
}

/** Maximum number of readings in one request or message. */
export const MAX_READINGS = 10_000;

/** A reading in a request body: its value, or why its line could not be parsed. */
export type ReadingItem = { readonly value: unknown } | { readonly unreadable: string };

/** A rejected reading, with the reason for the sender. */
export type Rejected = { readonly rejected: string };

/** The result for the sender of a reading. */
export type ReadingResult = "stored" | "duplicate" | "replaced" | "pending" | Rejected;

/** The outcomes in the store, by index. */
export const READING_OUTCOMES = ["stored", "replaced", "duplicate", "tank_unknown", "pending", "rejected"] as const;
type ReadingOutcome = (typeof READING_OUTCOMES)[number];
export const OUTCOME = Object.fromEntries(READING_OUTCOMES.map((name, i) => [name, i])) as Readonly<
  Record<ReadingOutcome, number>
>;

/** `outcomes[i]` is an index into `READING_OUTCOMES`; `reasons` has those of rejected readings, by position. */
export type IngestResult = { readonly outcomes: Uint8Array; readonly reasons: ReadonlyMap<number, string> };
