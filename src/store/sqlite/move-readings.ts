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
  const mover = change(() => (isMoved(db) ? undefined : moverOf(db)));
  if (mover === undefined) return;
  for (let done = mover.before; ; ) {
    const moved = change(() => (isMoved(db) ? 0 : mover.move()));
    if (moved === 0) return;
    done += moved;
    progress(done, mover.total);
    // Signals are heard in between.
    await setImmediate();
  }
}

/** `move` moves some readings, and says how many. */
type Mover = { readonly before: number; readonly total: number; readonly move: () => number };

function moverOf(db: DatabaseSync): Mover {
  const [total, before] = arrayRow(
    arrayStatement(db, "SELECT (SELECT coalesce(sum(reading_count), 0) FROM tank), (SELECT sum(total) FROM telemetry)").get(),
  ) as readonly [number, number | null];
  const oldest = arrayStatement(db, OLDEST);
  const taken = db.prepare(TAKEN);
  // There is no fleet yet to follow.
  const { takeReadings } = telemetryWrites(
    db,
    () => {},
    () => {},
  );

  function move(): number {
    addMissingHeads(db);
    const rows = arrayRows(oldest.all()) as unknown as OldRow[];
    const last = rows.at(-1);
    if (last === undefined) return 0;
    const tankIds: string[] = [];
    const tank = Uint32Array.from(rows, ([id]) => {
      if (tankIds.at(-1) !== id) tankIds.push(id);
      return tankIds.length - 1;
    });
    const createdAt = Float64Array.from(rows, (row) => row[2]);
    takeReadings({ tankIds, tank, createdAt, fill: Float64Array.from(rows, (row) => row[3]) });
    taken.run(last[1], last[2]);
    return rows.length;
  }
  return { before: before ?? 0, total, move };
}

/** A program of the first version that still runs may make tanks, which have no head then. */
export function addMissingHeads(db: DatabaseSync): void {
  db.exec("INSERT INTO telemetry (tank) SELECT pk FROM tank WHERE pk NOT IN (SELECT tank FROM telemetry)");
}

/** Another process that migrates too may be done already. */
function isMoved(db: DatabaseSync): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'reading'").get() === undefined;
}

export function isEveryReadingMoved(db: DatabaseSync): boolean {
  return db.prepare("SELECT 1 FROM reading LIMIT 1").get() === undefined;
}
