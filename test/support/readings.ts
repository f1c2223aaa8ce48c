// Readings as they arrive: by tank or by device, with a fill or a payload, and what became of each in words.

import { type IncomingBatch, type IngestResult, READING_OUTCOMES, type ReadingSource } from "../../src/domain/reading.ts";
import type { Writes } from "../../src/domain/store.ts";

/** `customerId`: the sender is bound to that customer. */
export type SentReading = ({ readonly tank: string } | { readonly device: string }) &
  ({ readonly fill: number } | { readonly payload: object }) & { readonly at: number; readonly customerId?: string };

export type OutcomeName = (typeof READING_OUTCOMES)[number] | { readonly rejected: string };

export async function ingest(store: Pick<Writes, "ingest">, ...sent: SentReading[]): Promise<OutcomeName[]> {
  return outcomeNames(await store.ingest(incomingBatch(sent)));
}

/** Of one device: `[instant, fill]` pairs. */
export function ingestFills(
  store: Pick<Writes, "ingest">,
  device: string,
  readings: readonly (readonly [number, number])[],
): Promise<OutcomeName[]> {
  return ingest(store, ...readings.map(([at, fill]) => ({ device, at, fill })));
}

export function incomingBatch(sent: readonly SentReading[]): IncomingBatch {
  const sources = new Map<string, { readonly place: number; readonly source: ReadingSource }>();
  const sourceOf = Uint32Array.from(sent, (one) => {
    const named = readingSource(one);
    const name = JSON.stringify(named);
    const known = sources.get(name) ?? { place: sources.size, source: named };
    sources.set(name, known);
    return known.place;
  });
  return {
    sources: [...sources.values()].map((known) => known.source),
    sourceOf,
    createdAt: Float64Array.from(sent, ({ at }) => at),
    fill: Float64Array.from(sent, (one) => ("fill" in one ? one.fill : Number.NaN)),
    payloads: new Map(sent.flatMap((one, i) => ("payload" in one ? [[i, JSON.stringify(one.payload)] as const] : []))),
  };
}

function readingSource(sent: SentReading): ReadingSource {
  const { customerId = null } = sent;
  return "tank" in sent ? { kind: "tank", id: sent.tank, customerId } : { kind: "device", id: sent.device, customerId };
}

export function outcomeNames({ outcomes, reasons }: IngestResult): OutcomeName[] {
  return Array.from(outcomes, (code, place) => {
    const word = READING_OUTCOMES[code] ?? "tank_unknown";
    return word === "rejected" ? { rejected: reasons.get(place) ?? "" } : word;
  });
}
