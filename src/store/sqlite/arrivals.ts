// Readings as they arrive: each is put into the tank it belongs to, or waits.

import type { DatabaseSync } from "node:sqlite";
import { type Answering, settle } from "../../domain/inquiry.ts";
import { Taken } from "../../domain/orders/taken.ts";
import { batchOfWaiting, endedOf, placed, withStored } from "../../domain/placement.ts";
import type { Acceptance, ArrivalBatch } from "../../domain/reading.ts";
import { firstPassOf, isTangled, partOf, plainKindOf, withOthers } from "../series/passes.ts";
import { telemetryWrites } from "./acceptance.ts";
import { appendWrites } from "./append.ts";
import { waitingWrites } from "./devices.ts";
import { fleetWrites } from "./fleet.ts";

/** `rest` is called between two tanks. */
export function arrivalWrites(db: DatabaseSync, answers: Answering, rest: () => void) {
  const { takeReadings } = telemetryWrites(db, fleetWrites(db).follow, rest);
  const { append } = appendWrites(db, rest);
  const { wait, waitingOf, stopWaiting } = waitingWrites(db);

  function take(batch: ArrivalBatch) {
    const placement = settle(placed(batch), answers);
    return { ...placement, outcomes: withStored(placement, takeReadings(placement.readings)) };
  }

  function drainOne(key: string, taken: Taken): void {
    const waiting = waitingOf(key);
    if (waiting.length === 0) return;
    const ended = endedOf(waiting, take(batchOfWaiting(waiting)).outcomes);
    stopWaiting(ended);
    for (const { created_at, isRejected } of ended) taken.add(created_at, isRejected);
  }

  /** Whatever they are. */
  function acceptAny(batch: ArrivalBatch): Acceptance {
    const { outcomes, reasons, waiting, overtaken } = take(batch);
    stopWaiting(overtaken.map((moment) => ({ ...moment, isRejected: false })));
    wait(waiting);
    return { outcomes, reasons };
  }

  return {
    acceptAny,

    /** Fails where it has to be undone, and done by the way that takes any. */
    acceptReadings(batch: ArrivalBatch): Acceptance {
      const kind = plainKindOf(batch);
      if (kind === undefined) return acceptAny(batch);
      const first = firstPassOf(batch.source.length, append(kind, batch));
      if (first.left.length === 0) return { outcomes: first.outcomes, reasons: new Map() };
      if (kind === "device" && settle(isTangled(batch, first), answers)) throw new Error("the order of arrival matters here");
      return withOthers(first, acceptAny(partOf(batch, first.left)));
    },

    /** Something has become known of these devices: what waited for it waits no longer. */
    drain(keys: readonly string[]): Taken {
      const taken = new Taken();
      for (const key of keys) drainOne(key, taken);
      return taken;
    },
  };
}
