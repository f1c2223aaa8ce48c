// Holds the telemetry of the service against the book: whatever was acknowledged is there, once, and nothing is there that
// was never measured.

import { formatInstant, parseInstant } from "../domain/instant.ts";
import { type Caller, complaintOf } from "./call.ts";
import type { Fleet } from "./device.ts";
import type { Entry, Ledger } from "./ledger.ts";

const PAGE = 100;
const AT_ONCE = 8;
const SAID = 10;
/** The service works with binary fractions of metres and rounds to hundredths; at the edge it may fall to either side. */
const TOLERANCE = 0.0101;

export type Verification = {
  readonly tanks: number;
  readonly readings: number;
  /** Acknowledged, and not there. */
  readonly missing: number;
  /** There, with another fill. */
  readonly different: number;
  /** There, and never measured; or there twice. */
  readonly strange: number;
  /** The first of these, in words. */
  readonly faults: readonly string[];
};

type Reading = { readonly at: number; readonly fill: number };
type Told = (tanks: number) => void;

export async function verify(ledger: Ledger, fleet: Fleet, call: Caller, told: Told): Promise<Verification> {
  const count = { tanks: 0, readings: 0, missing: 0, different: 0, strange: 0 };
  const faults: string[] = [];
  const fault = (kind: "missing" | "different" | "strange", words: string): void => {
    count[kind]++;
    if (faults.length < SAID) faults.push(words);
  };
  const books = ledger.byDevice(fleet.size);
  const worker = async (): Promise<void> => {
    for (const { device, entries } of books) {
      const { tankId } = fleet.device(device);
      const found = await telemetry(call, tankId, entries);
      count.readings += found.length;
      compare(tankId, entries, found, fault);
      told(++count.tanks);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return { ...count, faults };
}

/** All readings of the tank in the time of the simulation, oldest first. A tank that is not there has none. */
async function telemetry(call: Caller, tankId: string, entries: readonly Entry[]): Promise<Reading[]> {
  const [first, last] = [entries[0]?.at ?? 0, entries.at(-1)?.at ?? 0];
  const range = `created_at_gte=${formatInstant(first)}&created_at_lte=${formatInstant(last)}`;
  const found: Reading[] = [];
  for (let page = 1; ; page++) {
    const path = `/v1/tanks/${encodeURIComponent(tankId)}/telemetry?${range}&size=${PAGE}&page=${page}`;
    const answer = await call({ path });
    if (answer.status === 404) return [];
    if (answer.status !== 200) throw complaintOf(answer, "verifying");
    const data = answer.body["data"] as readonly { created_at: string; fill_percentage: number }[];
    for (const { created_at, fill_percentage } of data) {
      found.push({ at: parseInstant(created_at)?.instant ?? Number.NaN, fill: fill_percentage });
    }
    if (data.length < PAGE) return found.reverse();
  }
}

type Fault = (kind: "missing" | "different" | "strange", words: string) => void;

/** Both in order of their instants. */
function compare(tankId: string, entries: readonly Entry[], found: readonly Reading[], fault: Fault): void {
  const words = (at: number, what: string): string => `${tankId} at ${formatInstant(at)}: ${what}`;
  let place = 0;
  for (const { at, fill, isSafe } of entries) {
    for (; (found[place]?.at ?? Number.POSITIVE_INFINITY) < at; place++) {
      fault("strange", words(found[place]?.at ?? 0, `${found[place]?.fill} is there, which was never measured`));
    }
    const reading = found[place];
    if (reading === undefined || reading.at !== at) {
      if (isSafe) fault("missing", words(at, `${fill} was acknowledged and is not there`));
      continue;
    }
    if (Math.abs(reading.fill - fill) > TOLERANCE) fault("different", words(at, `${reading.fill} is there instead of ${fill}`));
    place++;
  }
  for (const { at, fill } of found.slice(place)) fault("strange", words(at, `${fill} is there, which was never measured`));
}
