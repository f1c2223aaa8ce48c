// Moves the readings of a database of version 1, a row each, into blocks: a bit at a time, each bit a transaction.

import type { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { telemetryWrites } from "./acceptance.ts";
import { arrayRow, arrayRows, arrayStatement } from "./rows.ts";

export type MoveProgress = (done: number, total: number) => void;

const READINGS_A_STEP = 20_000;

/** By primary key, so what was taken is the beginning of what is there. */
const OLDEST = `SELECT t.id, r.tank, r.created_at, r.fill FROM reading r JOIN tank t ON t.pk = r.tank
  ORDER BY r.tank, r.created_at LIMIT ${READINGS_A_STEP}`;
const TAKEN = "DELETE FROM reading WHERE (tank, created_at) <= (?, ?)";

type OldRow = readonly [tankId: string, tank: number, createdAt: number, fill: number];

/** `change` makes one transaction. */
export async function moveReadings(change: <T>(work: () => T) => T, db: DatabaseSync, progress: MoveProgress): Promise<void> {
  const move = change(() => (isMoved(db) ? undefined : mover(db, progress)));
  while (move !== undefined && change(() => !isMoved(db) && move())) {
    // Signals are heard in between.
    await setImmediate();
  }
}

/** Gives a function that moves some readings, and says whether there were any. */
function mover(db: DatabaseSync, progress: MoveProgress): () => boolean {
  const [total, before] = arrayRow(
    arrayStatement(db, "SELECT (SELECT coalesce(sum(reading_count), 0) FROM tank), (SELECT sum(total) FROM telemetry)").get(),
  ) as readonly [number, number | null];
  let done = before ?? 0;
  const oldest = arrayStatement(db, OLDEST);
  const taken = db.prepare(TAKEN);
  const { acceptReadings } = telemetryWrites(db);

  return () => {
    const rows = arrayRows(oldest.all()) as unknown as OldRow[];
    const last = rows.at(-1);
    if (last === undefined) return false;
    const tankIds: string[] = [];
    const tank = Uint32Array.from(rows, ([id]) => {
      if (tankIds.at(-1) !== id) tankIds.push(id);
      return tankIds.length - 1;
    });
    const createdAt = Float64Array.from(rows, (row) => row[2]);
    acceptReadings({ tankIds, tank, createdAt, fill: Float64Array.from(rows, (row) => row[3]) });
    taken.run(last[1], last[2]);
    done += rows.length;
    progress(done, total);
    return true;
  };
}

/** Another process that migrates too may be done already. */
function isMoved(db: DatabaseSync): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'reading'").get() === undefined;
}

export function isEveryReadingMoved(db: DatabaseSync): boolean {
  return db.prepare("SELECT 1 FROM reading LIMIT 1").get() === undefined;
}
