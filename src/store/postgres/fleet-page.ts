// The statement of a page of the fleet: the page itself and the number of all, of one snapshot. What is asked for decides
// which index is walked, so that the first pages are quick among a million tanks, whatever a filter leaves.

import type { FleetQuery, FleetState } from "../../domain/management-reads.ts";
import { TANK_COLUMNS } from "../columns.ts";
import { heardAt, UNKNOWN_URGENCY } from "../fleet-row.ts";
import { beginsWith, type Condition, type Filtering, isEqual, where } from "./filter.ts";
import { LIVE_TANKS } from "./paging.ts";

const urgency = (holds: string): Condition => ({ holds, order: "urgency" }); // fleet_by_urgency
const STATES: Readonly<Record<FleetState, Condition>> = {
  low: urgency("urgency <= 0 AND fill - threshold <= 0"),
  ok: urgency(`urgency >= 0 AND urgency < ${UNKNOWN_URGENCY} AND fill - threshold > 0`),
  unknown: urgency(`urgency = ${UNKNOWN_URGENCY}`),
};

/** In the order of the first condition's index. */
const counted = (first: Condition, ...others: readonly Condition[]): string =>
  `(SELECT count(*) FROM (SELECT FROM fleet ${where([first, ...others])} ORDER BY ${first.order} OFFSET 0) AS own)`;

/** Of one urgency alone the margins themselves have to be looked at. */
const LOW = `${counted(urgency("urgency < 0"))} + ${counted(urgency("urgency = 0 AND fill - threshold <= 0"))}`;
const UNKNOWN = counted(STATES.unknown);
/** What is low or unknown is less than what is not, as a rule. */
const COUNTS: Readonly<Record<FleetState | "all", string>> = {
  all: LIVE_TANKS.count,
  low: LOW,
  ok: `${LIVE_TANKS.count} - (${LOW}) - ${UNKNOWN}`,
  unknown: UNKNOWN,
};

/** The margin itself decides where the urgency is the same. */
const orderOf = (alias: string): string => `${alias}.urgency, ${alias}.fill - ${alias}.threshold, ${alias}.tank`;

/** So many are fetched and sorted; of more, the most urgent are looked through until a page is full. */
const FETCHED = 100_000;

export function fleetText(question: FleetQuery, filtering: Filtering, fetched = FETCHED): string {
  const { state, silentSince, owner_id, city, page, size } = question;
  const limits = `LIMIT ${filtering.value(size, "bigint")} OFFSET ${filtering.value((page - 1) * size, "bigint")}`;
  const ofState = state === undefined ? [] : [STATES[state]];
  const silence = silentSince === undefined ? undefined : silenceOf(silentSince, filtering);
  const ofTank: Condition[] = [];
  if (owner_id !== undefined) ofTank.push(isEqual("owner_id", filtering.value(owner_id, "text"))); // tank_by_owner
  if (city !== undefined) ofTank.push(beginsWith(filtering, `lower(city COLLATE "C")`, city)); // tank_by_city
  const [looked, ...others] = ofTank;
  if (looked !== undefined) {
    const ofFleet = [...(silence === undefined ? [] : [silence.whole]), ...ofState];
    return filteredText(amongTanks(looked, others, ofFleet), ofState, limits, fetched);
  }
  if (silence !== undefined) return filteredText(amongFleet(silence, ofState), ofState, limits, fetched);
  return pageText(LIVE_TANKS.way, COUNTS[state ?? "all"], `SELECT * FROM ${mostUrgent(ofState)} ${sorted("fleet", limits)}`);
}

const sorted = (alias: string, limits: string): string => `ORDER BY ${orderOf(alias)} ${limits}`;

/** By fleet_by_urgency, one urgency after the other, as far as anybody reads on. */
const mostUrgent = (conditions: readonly Pick<Condition, "holds">[]): string =>
  `(SELECT * FROM fleet ${where(conditions)} ORDER BY urgency OFFSET 0) AS fleet`;

/** `page` gives the rows of the fleet. */
function pageText(before: string, count: string, page: string): string {
  return `
    WITH RECURSIVE ${before}
    SELECT counted.total, tank.*, page.at, page.fill FROM (SELECT ${count} AS total) AS counted LEFT JOIN (
      (${page}) AS page CROSS JOIN LATERAL (SELECT ${TANK_COLUMNS} FROM tank WHERE id = page.tank OFFSET 0) AS tank
    ) ON true ORDER BY ${orderOf("page")}`;
}

type Among = {
  /** What one index leaves. */
  readonly some: string;
  /** What is asked for among these; and how much that is, without fetching it. */
  readonly found: string;
  readonly count: string;
  /** How it is told among the most urgent. */
  readonly told: string;
};

const IS_FEW = "(SELECT few.are FROM few)";

function filteredText(among: Among, ofState: readonly Condition[], limits: string, fetched: number): string {
  const { some, found, count, told } = among;
  const many = `SELECT fleet.* FROM ${mostUrgent([{ holds: `NOT ${IS_FEW}` }, ...ofState])} ${told} ${sorted("fleet", limits)}`;
  return pageText(
    `few AS MATERIALIZED (SELECT count(*) <= ${fetched} AS are FROM (${some} LIMIT ${fetched + 1}) AS begun),
      found AS MATERIALIZED (${found})`,
    `CASE WHEN ${IS_FEW} THEN (SELECT count(*) FROM found) ELSE (${count}) END`,
    `(SELECT * FROM found ${sorted("found", limits)}) UNION ALL (${many})`,
  );
}

/** Of one quarter of a day alone the instants themselves have to be looked at. */
type Silence = { readonly begun: Condition; readonly whole: Condition; readonly parts: readonly Condition[] };

function silenceOf(since: number, filtering: Filtering): Silence {
  const [heard, at] = [filtering.value(heardAt(since), "bigint"), filtering.value(since, "bigint")];
  const condition = (holds: string): Condition => ({ holds, order: "heard" }); // fleet_by_heard
  return {
    begun: condition(`heard <= ${heard}`),
    whole: condition(`heard <= ${heard} AND at < ${at}`),
    parts: [condition(`heard < ${heard}`), condition(`heard >= ${heard} AND heard <= ${heard} AND at < ${at}`)],
  };
}

function amongFleet({ begun, whole, parts }: Silence, others: readonly Condition[]): Among {
  const told = where([whole, ...others]);
  return {
    some: `SELECT FROM fleet WHERE ${begun.holds} ORDER BY ${begun.order}`,
    found: `
      SELECT * FROM (SELECT * FROM fleet WHERE ${begun.holds} AND ${IS_FEW} ORDER BY ${begun.order} OFFSET 0) AS fleet ${told}`,
    count: parts.map((part) => counted(part, ...others)).join(" + "),
    told,
  };
}

function amongTanks(looked: Condition, others: readonly Condition[], ofFleet: readonly Condition[]): Among {
  const tanks = `FROM tank WHERE NOT deleted AND ${looked.holds}`;
  const ofTank = [looked, ...others];
  const told = where([...ofTank, ...ofFleet]);
  return {
    some: `SELECT ${tanks} ORDER BY ${looked.order}`,
    found: `
      SELECT fleet.* FROM (SELECT * ${tanks} AND ${IS_FEW} ORDER BY ${looked.order} OFFSET 0) AS tank
      CROSS JOIN LATERAL (SELECT * FROM fleet WHERE fleet.tank = tank.id OFFSET 0) AS fleet ${where([...others, ...ofFleet])}`,
    count:
      ofFleet.length > 0
        ? `${SIDE_BY_SIDE} ${told}`
        : `SELECT count(*) FROM (SELECT * ${tanks} OFFSET 0) AS tank ${where(others)}`,
    told: `CROSS JOIN LATERAL (SELECT * FROM tank WHERE tank.id = fleet.tank OFFSET 0) AS tank ${told}`,
  };
}

/** A full join goes along both at once; one by one, a million tanks would take three times as long. */
const SIDE_BY_SIDE = `
  SELECT count(tank) FROM (
    SELECT fleet.*, tank.owner_id, tank.city FROM (SELECT * FROM tank ORDER BY id OFFSET 0) AS tank
    FULL JOIN (SELECT * FROM fleet ORDER BY tank OFFSET 0) AS fleet ON fleet.tank = tank.id OFFSET 0
  ) AS every`;
