// The fleet: a row for every live tank, with its latest reading.

import type { DatabaseSync } from "node:sqlite";
import type { Change, TankState } from "../../domain/changes.ts";
import { fleetRow, heardAt, urgencyIn } from "../fleet-row.ts";
import { lastReading } from "../series/block.ts";
import { arrayRow, arrayRows, arrayStatement } from "./rows.ts";

export function fleetWrites(db: DatabaseSync) {
  const thresholdOf = arrayStatement(db, "SELECT threshold FROM fleet WHERE tank = ?");
  const move = db.prepare("UPDATE fleet SET at = ?, fill = ?, urgency = ?, heard = ? WHERE tank = ?");
  // SQLite makes an index's entries anew for every column that is set, changed or not: where the coarse columns stay, they are
  // not set.
  const stay = db.prepare(
    `UPDATE fleet SET at = ?2, fill = ?3 WHERE tank = ?1 AND heard = ?4 AND urgency = ${urgencyIn("?3 - threshold")}`,
  );
  const put = db.prepare("INSERT OR REPLACE INTO fleet (tank, threshold, at, fill, urgency, heard) VALUES (?, ?, ?, ?, ?, ?)");
  const remove = db.prepare("DELETE FROM fleet WHERE tank = ?");
  const headOf = arrayStatement(db, "SELECT h.data FROM tank t JOIN telemetry h ON h.tank = t.pk WHERE t.id = ?");

  function make(tankId: string, threshold: number): void {
    const head = arrayRow(headOf.get(tankId))?.[0] as Uint8Array | undefined;
    const { at, fill, urgency, heard } = fleetRow(threshold, head === undefined ? undefined : lastReading(head));
    put.run(tankId, threshold, at, fill, urgency, heard);
  }

  return {
    make,

    /** The tank has another head. */
    follow(tankId: string, head: Uint8Array): void {
      const latest = lastReading(head);
      if (latest !== undefined) {
        const { created_at, fill_percentage } = latest;
        if (stay.run(tankId, created_at, fill_percentage, heardAt(created_at)).changes === 1) return;
      }
      const threshold = arrayRow(thresholdOf.get(tankId))?.[0];
      if (threshold === undefined) return;
      const { at, fill, urgency, heard } = fleetRow(Number(threshold), latest);
      move.run(at, fill, urgency, heard, tankId);
    },

    /** After the tanks were written. */
    keep(changes: readonly Change<TankState>[]): void {
      for (const { id, before, after } of changes) {
        const wasLive = before?.deleted === false;
        const { min_fill_alert_percentage: threshold } = after.tank;
        if (after.deleted) remove.run(id);
        else if (!wasLive || before.tank.min_fill_alert_percentage !== threshold) make(id, threshold);
      }
    },
  };
}

/** A row for every live tank, anew. */
export function rebuildFleet(db: DatabaseSync): void {
  const { make } = fleetWrites(db);
  db.exec("DELETE FROM fleet");
  const tanks = arrayRows(arrayStatement(db, "SELECT id, min_fill_alert_percentage FROM tank WHERE deleted = 0").all());
  for (const [id, threshold] of tanks) make(String(id), Number(threshold));
}
