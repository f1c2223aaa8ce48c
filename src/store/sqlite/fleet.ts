// The fleet: every live tank with its latest reading, the most urgent first.

import type { DatabaseSync } from "node:sqlite";
import type { Change, TankState } from "../../domain/fleet.ts";
import type { FleetEntry, FleetQuestion } from "../../domain/overview.ts";
import type { Page } from "../../domain/page.ts";
import type { Tank } from "../../domain/tank.ts";
import { fleetRow, heardAt, UNKNOWN_URGENCY } from "../fleet-row.ts";
import { lastReading } from "../series/block.ts";
import { LISTS } from "../series/lists.ts";
import { List } from "./paging.ts";
import { arrayRow, arrayRows, arrayStatement, type Row, Statements } from "./rows.ts";
import { startingWith } from "./search.ts";

const WHOLE = { from: undefined, to: undefined, page: 1, size: 1 };

export function fleetQuestions(db: DatabaseSync, tankById: (id: string) => Tank) {
  const statements = new Statements(db);
  const all = new List(db, LISTS.tanks, "id");

  return {
    fleetPage(question: FleetQuestion): Page<FleetEntry> {
      const { page, size } = question;
      const { from, where, values } = asked(question);
      const total = where.length === 0 ? all.page(null, WHOLE).totalItems : statements.number(`SELECT count(*) ${from}`, values);
      const rows = statements.rows(
        `SELECT f.tank, f.at, f.fill ${from} ORDER BY f.urgency, f.fill - f.threshold, f.tank LIMIT ? OFFSET ?`,
        [...values, size, (page - 1) * size],
      );
      return { data: rows.map((row) => entryOf(row, tankById)), totalItems: total };
    },
  };
}

function entryOf([tankId, at, fill]: Row, tankById: (id: string) => Tank): FleetEntry {
  const latest = fill === null ? null : { created_at: Number(at), fill_percentage: Number(fill) };
  return { tank: tankById(String(tankId)), latest };
}

/** Of an owner or a city by the tanks' own indexes; else by fleet_by_urgency, or by fleet_by_heard. */
function asked({ state, silentSince, owner_id, city }: FleetQuestion) {
  const where: string[] = [];
  const values: (string | number)[] = [];
  function only(condition: string, ...given: readonly (string | number)[]): void {
    where.push(condition);
    values.push(...given);
  }
  if (owner_id !== undefined) only("t.owner_id = ?", owner_id);
  if (city !== undefined) only(...startingWith("t.city", city));
  const isOfTanks = where.length > 0;
  if (state === "low") only("f.urgency <= 0 AND f.fill <= f.threshold");
  if (state === "ok") only(`f.urgency BETWEEN 0 AND ${UNKNOWN_URGENCY - 1} AND f.fill > f.threshold`);
  if (state === "unknown") only(`f.urgency = ${UNKNOWN_URGENCY}`);
  if (silentSince !== undefined) only("f.heard <= ? AND f.at < ?", heardAt(silentSince), silentSince);
  const tables = isOfTanks ? "tank t CROSS JOIN fleet f ON f.tank = t.id" : "fleet f";
  const conditions = [...where, ...(isOfTanks ? ["t.deleted = 0"] : [])];
  return { where, values, from: `FROM ${tables}${conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`}` };
}

export function fleetWrites(db: DatabaseSync) {
  const thresholdOf = arrayStatement(db, "SELECT threshold FROM fleet WHERE tank = ?");
  const move = db.prepare("UPDATE fleet SET at = ?, fill = ?, urgency = ?, heard = ? WHERE tank = ?");
  // SQLite makes an index's entries anew for every column that is set, changed or not: where the coarse columns stay, they are
  // not set.
  const stay = db.prepare(
    "UPDATE fleet SET at = ?2, fill = ?3 WHERE tank = ?1 AND heard = ?4 AND urgency = floor(?3 - threshold)",
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
