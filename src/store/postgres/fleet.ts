// The fleet: a row for every live tank with its latest reading, by how urgent it is. Whoever writes one holds the lock of the
// tank's head.

import type { Change, TankState } from "../../domain/fleet.ts";
import type { FleetEntry, FleetQuestion } from "../../domain/overview.ts";
import type { Page } from "../../domain/page.ts";
import type { Reading } from "../../domain/reading.ts";
import { tankOf } from "../columns.ts";
import { fleetRow } from "../fleet-row.ts";
import { lastReading } from "../series/block.ts";
import { type Db, type Row, statement } from "./connection.ts";
import { Filtering, pageOf } from "./filter.ts";
import { fleetText } from "./fleet-page.ts";
import { columnsOf, putStatement } from "./put.ts";

/** As readings are taken in: by id, so that nobody waits for one who waits for him. */
const LOCK_HEADS = statement("SELECT tank, data FROM telemetry WHERE tank = ANY ($1::text[]) ORDER BY tank FOR UPDATE");
const PUT = putStatement("fleet", ["tank", "threshold", "at", "fill", "urgency", "heard"]);
const DROP = statement("DELETE FROM fleet WHERE tank = ANY ($1::text[])");

/** The rows of these tanks follow from the tank and its latest reading. */
export async function keepFleet(db: Db, changes: readonly Change<TankState>[]): Promise<void> {
  const concerned = changes.filter(isOfFleet);
  if (concerned.length === 0) return;
  const old = concerned.flatMap(({ id, before }) => (before === undefined ? [] : [id]));
  const heads = old.length === 0 ? [] : ((await db.rows(LOCK_HEADS, [old])) as unknown as (readonly [string, Uint8Array])[]);
  const latest = new Map(heads.map(([tank, data]) => [tank, lastReading(data)]));
  const [gone, there] = [concerned.filter(({ after }) => after.deleted), concerned.filter(({ after }) => !after.deleted)];
  await leaveFleet(
    db,
    gone.map(({ id }) => id),
  );
  await putFleet(
    db,
    there.map(({ id, after }) => ({ tank: id, threshold: after.tank.min_fill_alert_percentage, latest: latest.get(id) })),
  );
}

/** What stays deleted has no row, and what stays as it is keeps it. */
function isOfFleet({ before, after }: Change<TankState>): boolean {
  if (before === undefined || before.deleted !== after.deleted) return before !== undefined || !after.deleted;
  return !after.deleted && before.tank.min_fill_alert_percentage !== after.tank.min_fill_alert_percentage;
}

export async function leaveFleet(db: Db, tanks: readonly string[]): Promise<void> {
  if (tanks.length > 0) await db.rows(DROP, [tanks]);
}

export type FleetTank = { readonly tank: string; readonly threshold: number; readonly latest: Reading | undefined };

export async function putFleet(db: Db, tanks: readonly FleetTank[]): Promise<void> {
  if (tanks.length === 0) return;
  const rows = tanks.map(({ tank, threshold, latest }) => {
    const { at, fill, urgency, heard } = fleetRow(threshold, latest);
    return [tank, threshold, at, fill, urgency, heard];
  });
  await db.rows(PUT, columnsOf(rows));
}

export function fleetQuestions(db: Db) {
  return {
    async fleetPage(question: FleetQuestion): Promise<Page<FleetEntry>> {
      const filtering = new Filtering();
      return pageOf(await filtering.ask(db, fleetText(question, filtering)), entryOf);
    },
  };
}

function entryOf(row: Row): FleetEntry {
  const [at, fill] = row.slice(-2);
  return { tank: tankOf(row), latest: fill === null ? null : { created_at: Number(at), fill_percentage: Number(fill) } };
}
