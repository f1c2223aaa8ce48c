// The first pass over readings that arrive: what lies behind all that its tank has is appended, which is most of it. The rest,
// whatever it is, is left to a second pass, in a transaction of its own: so nobody who holds heads waits for others.

import type pg from "pg";
import type { ArrivalBatch, Source } from "../../domain/reading.ts";
import { NEW, placesByTank } from "../series/weave.ts";
import { type Appended, append, offersOf } from "./append.ts";
import { placeReadings } from "./arrivals.ts";
import { type Db, transaction, transactionAtOnce } from "./connection.ts";
import { shareDevices } from "./devices.ts";

/** The first pass over a batch: what has become of it, and what is left. */
export class FirstPass {
  readonly outcomes: Uint8Array;
  readonly #isLeft: Uint8Array;
  /** Tanks whose heads should be cut. */
  long: readonly string[] = [];

  private constructor(length: number) {
    this.outcomes = new Uint8Array(length);
    this.#isLeft = new Uint8Array(length).fill(1);
  }

  static async over(pool: pg.Pool, batch: ArrivalBatch): Promise<FirstPass> {
    const pass = new FirstPass(batch.source.length);
    const kind = plainKindOf(batch);
    // What a transaction says counts when it has committed: one that is begun again may take others.
    if (kind === undefined) pass.#take(await transaction(pool, (db) => appendPlaced(db, batch)));
    else pass.#take(await appendPlain(pool, kind, batch));
    return pass;
  }

  get left(): Uint32Array {
    return Uint32Array.from(this.#isLeft.keys()).filter((place) => this.#isLeft[place] === 1);
  }

  #take({ taken, long, places }: Appended & Placed): void {
    this.long = long;
    for (const { own } of taken) {
      for (const one of own) {
        const place = places === undefined ? one : (places[one] as number);
        this.outcomes[place] = NEW;
        this.#isLeft[place] = 0;
      }
    }
  }
}

/** Where in the batch those stand that the offers speak of; without it, they speak of the batch. */
type Placed = { readonly places?: Uint32Array };

async function appendPlain(pool: pg.Pool, kind: Source["kind"], batch: ArrivalBatch): Promise<Appended> {
  const { sources, source, createdAt } = batch;
  const offers = offersOf(batch, placesByTank({ tankIds: sources.map(({ id }) => id), tank: source, createdAt }));
  if (offers.length === 0) return { taken: [], long: [] };
  return transactionAtOnce(pool, async (db) => {
    const shared = kind === "device" ? shareDevices(db) : undefined;
    return (await Promise.all([append(db, kind, batch, offers), shared]))[0];
  });
}

async function appendPlaced(db: Db, batch: ArrivalBatch): Promise<Appended & Placed> {
  const { readings, places, overtaken } = await placeReadings(db, batch);
  // Where a reading overtakes one that waits, that has to go, too.
  if (overtaken.length > 0) return { taken: [], long: [] };
  return { ...(await append(db, "tank", readings, offersOf(readings, placesByTank(readings)))), places };
}

/** Of tanks alone, or of devices alone, that anybody may name, and that tell their fills: nothing more has to be known. */
function plainKindOf({ sources, payloads }: ArrivalBatch): Source["kind"] | undefined {
  const kind = sources[0]?.kind;
  const isPlain = payloads.size === 0 && sources.every((source) => source.kind === kind && source.customerId === null);
  return isPlain ? kind : undefined;
}

/** Those at these places alone. */
export function partOf(batch: ArrivalBatch, places: Uint32Array): ArrivalBatch {
  const { sources, source, createdAt, fill, payloads } = batch;
  if (places.length === source.length) return batch;
  const used = [...new Set(Array.from(places, (place) => source[place] as number))];
  const index = new Map(used.map((of, i) => [of, i]));
  return {
    sources: used.map((of) => sources[of] as Source),
    source: places.map((place) => index.get(source[place] as number) as number),
    createdAt: Float64Array.from(places, (place) => createdAt[place] as number),
    fill: Float64Array.from(places, (place) => fill[place] as number),
    payloads: new Map(
      Array.from(places, (place, i) => [i, payloads.get(place)] as const).filter(
        (one): one is readonly [number, string] => one[1] !== undefined,
      ),
    ),
  };
}
