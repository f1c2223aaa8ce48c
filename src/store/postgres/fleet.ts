// The fleet: every live tank with its latest reading, by how urgent it is. All of it lies in the row of the tank's head, which
// says of a tank that is deleted neither how urgent it is nor when it was heard.

import type { Change, TankState } from "../../domain/changes.ts";
import { EARLIEST } from "../../domain/device.ts";
import type { FleetEntry, FleetQuery } from "../../domain/management-reads.ts";
import type { Page } from "../../domain/page.ts";
import type { Reading } from "../../domain/reading.ts";
import { tankOf } from "../columns.ts";
import { QUARTER_DAY, UNKNOWN_URGENCY, urgencyIn } from "../fleet-row.ts";
import { type Db, type Row, statement } from "./connection.ts";
import { Filtering, pageOf } from "./filter.ts";
import { fleetText } from "./fleet-page.ts";
import { lookedUp } from "./put.ts";

type Latest = Readonly<Record<"at" | "fill" | "threshold", string>>;

/** The coarse columns of a row in which these are, or become, the others: as `fleetRow` has them. */
export const coarse = ({ at, fill, threshold }: Latest): string => `
  urgency = CASE WHEN ${threshold} IS NULL THEN NULL WHEN ${fill} IS NULL THEN ${UNKNOWN_URGENCY}
    ELSE ${urgencyIn(`${fill} - ${threshold}`)} END,
  heard = CASE WHEN ${threshold} IS NOT NULL THEN floor(${at}::double precision / ${QUARTER_DAY}) END`;

const SET_THRESHOLD = statement(`
  UPDATE telemetry SET threshold = own.threshold, ${coarse({ at: "at", fill: "fill", threshold: "own.threshold" })}
  FROM unnest($1::text[], $2::integer[]) AS own (tank, threshold) WHERE ${lookedUp("telemetry.tank", "own.tank")}`);

const SET_LATEST = statement(`
  UPDATE telemetry SET at = own.at, fill = own.fill, threshold = own.threshold,
    ${coarse({ at: "own.at", fill: "own.fill", threshold: "own.threshold" })}
  FROM unnest($1::text[], $2::bigint[], $3::double precision[], $4::integer[]) AS own (tank, at, fill, threshold)
  WHERE ${lookedUp("telemetry.tank", "own.tank")}`);

/** After the tanks were written. By id, as readings are taken in, so that nobody waits for one who waits for him. */
export async function keepFleet(db: Db, changes: readonly Change<TankState>[]): Promise<void> {
  const tanks = changes
    .map(({ id, before, after }) => ({ id, was: before && thresholdOf(before), threshold: thresholdOf(after) }))
    .filter(({ was, threshold }) => was !== threshold)
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  if (tanks.length === 0) return;
  await db.rows(SET_THRESHOLD, [tanks.map(({ id }) => id), tanks.map(({ threshold }) => threshold)]);
}

const thresholdOf = ({ tank, deleted }: TankState): number | null => (deleted ? null : tank.min_fill_alert_percentage);

type LatestOfTank = {
  readonly tank: string;
  /** Of a live tank. */
  readonly threshold: number | null;
  readonly latest: Reading | undefined;
};

export async function putLatest(db: Db, tanks: readonly LatestOfTank[]): Promise<void> {
  await db.rows(SET_LATEST, [
    tanks.map(({ tank }) => tank),
    tanks.map(({ latest }) => latest?.created_at ?? EARLIEST),
    tanks.map(({ latest }) => latest?.fill_percentage ?? null),
    tanks.map(({ threshold }) => threshold),
  ]);
}

export function fleetQuestions(db: Db) {
  return {
    async fleetPage(question: FleetQuery): Promise<Page<FleetEntry>> {
      const filtering = new Filtering();
      return pageOf(await filtering.ask(db, fleetText(question, filtering)), entryOf);
    },
  };
}

function entryOf(row: Row): FleetEntry {
  const [at, fill] = row.slice(-2);
  return { tank: tankOf(row), latest: fill === null ? null : { created_at: Number(at), fill_percentage: Number(fill) } };
}
