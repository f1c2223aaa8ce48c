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

/** The same as JSON, by hand: most answers are made of these, and `JSON.stringify` takes more than twice as long. */
export function telemetryJson({ created_at, fill_percentage }: Reading): string {
  return `{"object":"telemetry","created_at":"${formatInstant(created_at)}","fill_percentage":${fillText(fill_percentage)}}`;
}

/** By hundredths. V8 keeps the text of a number until another takes its place: under load that fills the old heap with them. */
const fillTexts = new Array<string | undefined>(FILL.maximum * 100 + 1);

function fillText(fill: number): string {
  const hundredths = Math.round(fill * 100);
  if (hundredths / 100 !== fill) return String(fill);
  const text = fillTexts[hundredths] ?? String(fill);
  fillTexts[hundredths] = text;
  return text;
}

/** Many readings of many tanks in columns. Entry i belongs to `tankIds[tank[i]]`. */
export type ReadingBatch = {
  readonly tankIds: readonly string[];
  readonly tank: Uint32Array;
  readonly createdAt: Float64Array;
  readonly fill: Float64Array;
};

/** What a reading is of, as its sender knows it. A sender that is bound to a customer reaches that customer's tanks alone. */
export type ReadingSource = {
  readonly kind: "tank" | "device";
  /** A device's as `deviceKey` has it. */
  readonly id: string;
  readonly customerId: string | null;
  /** It waited before, elsewhere: what cannot be read waits on. */
  readonly wasPending?: boolean;
};

/**
 * Readings as they arrive, in columns, so that they cross threads without being copied one by one. Entry i is of
 * `sources[source[i]]`.
 */
export type IncomingBatch = {
  readonly sources: readonly ReadingSource[];
  readonly source: Uint32Array;
  readonly createdAt: Float64Array;
  /** NaN where a payload tells it. */
  readonly fill: Float64Array;
  /** The payloads of devices, as JSON, by place in the batch. */
  readonly payloads: ReadonlyMap<number, string>;
};

/** Readings of tanks, as they arrive from somebody who reaches all of them. */
export function incomingForTanks({ tankIds, tank, createdAt, fill }: ReadingBatch): IncomingBatch {
  const sources = tankIds.map((id) => ({ kind: "tank", id, customerId: null }) as const);
  return { sources, source: tank, createdAt, fill, payloads: new Map() };
}

/** What became of an entry of a batch. */
export const READING_OUTCOMES = ["new", "changed", "unchanged", "tank_unknown", "waiting", "rejected"] as const;

/** `outcomes[i]` is an index into `READING_OUTCOMES`; `reasons` tells why what was rejected was, by place. */
export type IngestResult = { readonly outcomes: Uint8Array; readonly reasons: ReadonlyMap<number, string> };
