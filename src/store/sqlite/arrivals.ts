// Readings as they arrive: each is put into the tank it belongs to, or waits.

import type { DatabaseSync } from "node:sqlite";
import { ReleasedReadings } from "../../domain/commands/released.ts";
import { type Answering, settle } from "../../domain/inquiry.ts";
import { batchOfPending, placeReadings, resolvedReadings, withStoreOutcomes } from "../../domain/placement.ts";
import type { IncomingBatch, IngestResult } from "../../domain/reading.ts";
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

  function take(batch: IncomingBatch) {
    const placement = settle(placeReadings(batch), answers);
    return { ...placement, outcomes: withStoreOutcomes(placement, takeReadings(placement.readings)) };
  }

  function drainOne(key: string, taken: ReleasedReadings): void {
    const waiting = waitingOf(key);
    if (waiting.length === 0) return;
    const ended = resolvedReadings(waiting, take(batchOfPending(waiting)).outcomes);
    stopWaiting(ended);
    for (const { created_at, isRejected } of ended) taken.add(created_at, isRejected);
  }

  /** Whatever they are. */
  function acceptAny(batch: IncomingBatch): IngestResult {
    const { outcomes, reasons, pending: waiting, superseded: overtaken } = take(batch);
    stopWaiting(overtaken.map((moment) => ({ ...moment, isRejected: false })));
    wait(waiting);
    return { outcomes, reasons };
  }

  return {
    acceptAny,

    /** Fails where it has to be undone, and done by the way that takes any. */
    ingest(batch: IncomingBatch): IngestResult {
      const kind = plainKindOf(batch);
      if (kind === undefined) return acceptAny(batch);
      const first = firstPassOf(batch.source.length, append(kind, batch));
      if (first.left.length === 0) return { outcomes: first.outcomes, reasons: new Map() };
      if (kind === "device" && settle(isTangled(batch, first), answers)) throw new Error("the order of arrival matters here");
      return withOthers(first, acceptAny(partOf(batch, first.left)));
    },

    /** Something has become known of these devices: what waited for it waits no longer. */
    drain(keys: readonly string[]): ReleasedReadings {
      const taken = new ReleasedReadings();
      for (const key of keys) drainOne(key, taken);
      return taken;
    },
  };
}
