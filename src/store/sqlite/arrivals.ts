// Readings as they arrive: each is put into the tank it belongs to, or waits.

import type { DatabaseSync } from "node:sqlite";
import { type Answering, settle } from "../../domain/inquiry.ts";
import { batchOfWaiting, placed, withStored } from "../../domain/placement.ts";
import { type Acceptance, type ArrivalBatch, READING_OUTCOMES } from "../../domain/reading.ts";
import { telemetryWrites } from "./acceptance.ts";
import { waitingWrites } from "./devices.ts";
import { fleetWrites } from "./fleet.ts";

const WAITING = READING_OUTCOMES.indexOf("waiting");
const REJECTED = READING_OUTCOMES.indexOf("rejected");

export function arrivalWrites(db: DatabaseSync, answers: Answering) {
  const { takeReadings } = telemetryWrites(db, fleetWrites(db).follow);
  const { wait, waitingOf, stopWaiting } = waitingWrites(db);

  function take(batch: ArrivalBatch) {
    const placement = settle(placed(batch), answers);
    const { reasons, waiting } = placement;
    return { outcomes: withStored(placement, takeReadings(placement.readings)), reasons, waiting };
  }

  function drainOne(key: string): void {
    const waiting = waitingOf(key);
    if (waiting.length === 0) return;
    const { outcomes } = take(batchOfWaiting(waiting));
    const ended = waiting
      .map((reading, i) => ({ ...reading, outcome: outcomes[i] }))
      .filter(({ outcome }) => outcome !== WAITING);
    stopWaiting(ended.map(({ outcome, ...reading }) => ({ ...reading, isRejected: outcome === REJECTED })));
  }

  return {
    acceptReadings(batch: ArrivalBatch): Acceptance {
      const { outcomes, reasons, waiting } = take(batch);
      wait(waiting);
      return { outcomes, reasons };
    },

    /** Something has become known of these devices: what waited for it waits no longer. */
    drain(keys: readonly string[]): void {
      for (const key of keys) drainOne(key);
    },
  };
}
