// The way of a reading, whichever door it came through: decoded (by the door) → judged → put into the tank of its device, with
// milestones, in one transaction → told. Nobody is told before the transaction is durable.

import { deviceKey } from "../domain/device.ts";
import { storeUnavailable } from "../domain/errors.ts";
import { type Clock, formatInstant, type Instant } from "../domain/instant.ts";
import { type IncomingBatch, READING_OUTCOMES, type ReadingSource } from "../domain/reading.ts";
import type { Writes } from "../domain/store.ts";
import type { Accept, Arrival, Outcome, Rejected, Sender } from "./arrival.ts";

/** How far ahead of ours the clock of a device may be. */
const AHEAD_MS = 10 * 60_000;
const FIRST: Instant = 0;
/** Readings under way at once; a store that cannot keep up, or is away, must not fill the memory. */
const MOST_UNDER_WAY = 100_000;

export function accepting(writes: Pick<Writes, "ingest">, clock: Clock): Accept {
  let underWay = 0;
  return async (arrivals, sender) => {
    const latest = clock() + AHEAD_MS;
    const judged = arrivals.map((arrival) => ("rejected" in arrival ? arrival : (faultIn(arrival, sender, latest) ?? arrival)));
    const good = judged.filter((arrival): arrival is Arrival => !("rejected" in arrival));
    if (good.length === 0) return judged as Rejected[];
    if (underWay > MOST_UNDER_WAY) throw storeUnavailable(new Error(`${underWay} readings wait to be written`));
    underWay += good.length;
    try {
      const { outcomes, reasons } = await writes.ingest(batchOf(good, sender));
      let place = 0;
      return judged.map((arrival) => ("rejected" in arrival ? arrival : outcomeOf(outcomes[place] ?? 0, reasons.get(place++))));
    } finally {
      underWay -= good.length;
    }
  };
}

function faultIn({ of, createdAt }: Arrival, { deviceId }: Sender, latest: Instant): Rejected | undefined {
  if (createdAt < FIRST) return { rejected: `created_at: must not be before ${formatInstant(FIRST)}` };
  if (createdAt > latest) {
    return {
      rejected: `created_at: must not be more than ten minutes ahead of our clock, which says ${formatInstant(latest - AHEAD_MS)}`,
    };
  }
  if (deviceId === null) return undefined;
  const isOwn = "deviceId" in of && deviceKey(of.deviceId) === deviceKey(deviceId);
  return isOwn ? undefined : { rejected: `device_id: this key sends for device ${deviceId} alone` };
}

function batchOf(arrivals: readonly Arrival[], { customerId, hasWaited = false }: Sender): IncomingBatch {
  const places = { tank: new Map<string, number>(), device: new Map<string, number>() };
  const sources: ReadingSource[] = [];
  const payloads = new Map<number, string>();
  const source = new Uint32Array(arrivals.length);
  const createdAt = new Float64Array(arrivals.length);
  const fill = new Float64Array(arrivals.length);
  arrivals.forEach(({ of, createdAt: at, measured }, i) => {
    const [kind, id] = "tankId" in of ? (["tank", of.tankId] as const) : (["device", deviceKey(of.deviceId)] as const);
    let place = places[kind].get(id);
    if (place === undefined) {
      place = sources.push({ kind, id, customerId, ...(hasWaited && { wasPending: hasWaited }) }) - 1;
      places[kind].set(id, place);
    }
    source[i] = place;
    createdAt[i] = at;
    fill[i] = "fill" in measured ? measured.fill : Number.NaN;
    if ("payload" in measured) payloads.set(i, measured.payload);
  });
  return { sources, source, createdAt, fill, payloads };
}

const WORDS = { new: "stored", changed: "replaced", unchanged: "duplicate", waiting: "waiting" } as const;

function outcomeOf(code: number, reason: string | undefined): Outcome {
  const outcome = READING_OUTCOMES[code] ?? "rejected";
  if (outcome === "tank_unknown") return { rejected: "tank_id: there is no tank with this id" };
  return outcome === "rejected" ? { rejected: reason ?? "" } : WORDS[outcome];
}
