// A page of the fleet, the most urgent first: by the index that fits the question, so that it is quick among a million tanks.

import type { DatabaseSync } from "node:sqlite";
import type { FleetEntry, FleetQuery, FleetState } from "../../domain/management-reads.ts";
import type { Page } from "../../domain/page.ts";
import type { Tank } from "../../domain/tank.ts";
import { heardAt, UNKNOWN_URGENCY } from "../fleet-row.ts";
import { LISTS } from "../series/lists.ts";
import { List } from "./paging.ts";
import { arrayRows, arrayStatement, type Row, Statements } from "./rows.ts";
import { startingWith } from "./search.ts";

const WHOLE = { from: undefined, to: undefined, page: 1, size: 1 };
const ORDER = "ORDER BY f.urgency, f.fill - f.threshold, f.tank LIMIT ? OFFSET ?";
/** So many are fetched and sorted; of more, the most urgent are looked through until a page is full. */
const FEW = 50_000;
/** Where more are skipped, all of an urgency are at once. */
const DEEP = 1000;

type Found = Page<FleetEntry>;
type Condition = readonly [sql: string, ...values: (string | number)[]];

/** Only where low and ok meet, within one percent, the margins themselves have to be looked at. */
const STATES: Readonly<Record<FleetState | "any", { readonly from: number; readonly to: number; readonly holds: string }>> = {
  any: { from: Number.MIN_SAFE_INTEGER, to: UNKNOWN_URGENCY, holds: "true" },
  low: { from: Number.MIN_SAFE_INTEGER, to: 0, holds: "f.fill <= f.threshold" },
  ok: { from: 0, to: UNKNOWN_URGENCY - 1, holds: "f.fill > f.threshold" },
  unknown: { from: UNKNOWN_URGENCY, to: UNKNOWN_URGENCY, holds: "true" },
};

/** Those of the state, from an urgency on. */
function isOf(state: FleetState | undefined, since = Number.MIN_SAFE_INTEGER): Condition {
  const { from, to, holds } = STATES[state ?? "any"];
  return [`f.urgency BETWEEN ? AND ? AND ${holds}`, Math.max(from, since), to];
}

const BY_URGENCY = "fleet f INDEXED BY fleet_by_urgency";

export function fleetQuestions(db: DatabaseSync, tankById: (id: string) => Tank) {
  const statements = new Statements(db);
  const all = new List(db, LISTS.tanks, "id");
  const groups = arrayStatement(db, "SELECT urgency, count(*) FROM fleet WHERE urgency BETWEEN ? AND ? GROUP BY urgency"); // fleet_by_urgency

  function count(table: string, ...conditions: readonly Condition[]): number {
    return statements.number(`SELECT count(*) FROM ${table}${where(conditions)}`, valuesOf(conditions));
  }

  function rows(table: string, conditions: readonly Condition[], size: number, skipped: number): FleetEntry[] {
    const sql = `SELECT f.tank, f.at, f.fill FROM ${table}${where(conditions)} ${ORDER}`;
    return statements.rows(sql, [...valuesOf(conditions), size, skipped]).map((row) => entryOf(row, tankById));
  }

  /** Of an owner or a city: by the tanks' own indexes. */
  function amongTanks(ofTank: readonly Condition[], ofFleet: readonly Condition[], skipped: number, size: number): Found {
    const tanks: readonly Condition[] = [["t.deleted = 0"], ...ofTank];
    const found = count("tank t", ...tanks);
    const table =
      found <= FEW ? "tank t CROSS JOIN fleet f ON f.tank = t.id" : `${BY_URGENCY} CROSS JOIN tank t ON t.id = f.tank`;
    const all = [...tanks, ...ofFleet];
    return { data: rows(table, all, size, skipped), totalItems: ofFleet.length === 0 ? found : count(table, ...all) };
  }

  function amongSilent(since: number, state: FleetState | undefined, skipped: number, size: number): Found {
    const before = count("fleet f", ["f.heard < ?", heardAt(since)]); // fleet_by_heard
    const table = before <= FEW ? "fleet f INDEXED BY fleet_by_heard" : BY_URGENCY;
    const all: readonly Condition[] = [["f.heard <= ? AND f.at < ?", heardAt(since), since], isOf(state)];
    const totalItems =
      state === undefined ? before + count("fleet f", ["f.heard = ? AND f.at < ?", heardAt(since), since]) : count(table, ...all);
    return { data: rows(table, all, size, skipped), totalItems };
  }

  function totalOf(state: FleetState | undefined): number {
    const everything = (): number => all.page(null, WHOLE).totalItems;
    const unknown = (): number => count("fleet f", isOf("unknown"));
    const low = (): number => count("fleet f", ["f.urgency < 0"]) + count("fleet f", isOf("low", 0));
    if (state === undefined) return everything();
    if (state === "low") return low();
    return state === "unknown" ? unknown() : everything() - low() - unknown();
  }

  /** The urgency at which a page begins, and what is skipped of that. */
  function startOf(state: FleetState | undefined, skipped: number): { readonly urgency: number; readonly left: number } {
    let [urgency, left] = [Number.MIN_SAFE_INTEGER, skipped];
    if (skipped < DEEP) return { urgency, left };
    const { from, to } = STATES[state ?? "any"];
    for (const [group, size] of arrayRows(groups.all(from, to)) as unknown as (readonly [number, number])[]) {
      urgency = group;
      const own = group === 0 ? count("fleet f", ["f.urgency = 0"], isOf(state)) : size;
      if (left < own) break;
      left -= own;
    }
    return { urgency, left };
  }

  return {
    fleetPage({ state, silentSince, owner_id, city, page, size }: FleetQuery): Found {
      const skipped = (page - 1) * size;
      const ofTank: Condition[] = [];
      if (owner_id !== undefined) ofTank.push(["t.owner_id = ?", owner_id]);
      if (city !== undefined) ofTank.push(startingWith("t.city", city));
      if (ofTank.length > 0) {
        const silent: readonly Condition[] = silentSince === undefined ? [] : [["f.at < ?", silentSince]];
        return amongTanks(ofTank, [...silent, ...(state === undefined ? [] : [isOf(state)])], skipped, size);
      }
      if (silentSince !== undefined) return amongSilent(silentSince, state, skipped, size);
      const totalItems = totalOf(state);
      if (skipped > 0 && skipped >= totalItems) return { data: [], totalItems };
      const { urgency, left } = startOf(state, skipped);
      return { data: rows(BY_URGENCY, [isOf(state, urgency)], size, left), totalItems };
    },
  };
}

const where = (conditions: readonly Condition[]): string =>
  conditions.length === 0 ? "" : ` WHERE ${conditions.map(([sql]) => sql).join(" AND ")}`;

const valuesOf = (conditions: readonly Condition[]): (string | number)[] => conditions.flatMap(([, ...values]) => values);

function entryOf([tankId, at, fill]: Row, tankById: (id: string) => Tank): FleetEntry {
  const latest = fill === null ? null : { created_at: Number(at), fill_percentage: Number(fill) };
  return { tank: tankById(String(tankId)), latest };
}
