// Searches, the device list, the audit log and the fleet: they may read very many rows, so they run in a thread of their own.

import type { DatabaseSync } from "node:sqlite";
import type { FleetEntry, FleetQuery, FleetSort, FleetState } from "../../domain/fleet.ts";
import type { Page } from "../../domain/page.ts";
import { fleetEntryOf, TANK_COLUMNS } from "../columns.ts";
import { alertLists } from "../core/alert-reads.ts";
import { notificationReads } from "../core/channel-reads.ts";
import { prefixRange } from "../core/dialect.ts";
import { type ManagementEngine, managementReadsOn } from "../core/management-reads.ts";
import { heardAt, UNKNOWN_URGENCY } from "../fleet-row.ts";
import { LISTS } from "../series/lists.ts";
import { listPages } from "./list-pages.ts";
import { DIALECT } from "./schema.ts";
import { QueryCache, query } from "./statements.ts";

export function managementReads(db: DatabaseSync) {
  const queries = new QueryCache(db);
  const tanks = listPages(db, LISTS.tanks, "id");
  const engine: ManagementEngine = {
    dialect: DIALECT,
    rows: async (sql, values) => queries.rows(sql, values),
    listPages(kind, columns) {
      const { page } = listPages(db, kind, columns);
      return async (key, request) => page(key, request);
    },
    liveTanks: (parameters) => ({ query: "", count: parameters.add(tanks.total(null)) }),
  };
  return {
    ...managementReadsOn(engine),
    ...alertLists(engine),
    ...notificationReads(engine),
    ...fleetReads(db, queries, () => tanks.total(null)),
  };
}

type BoundCondition = readonly [sql: string, ...values: (string | number)[]];

/** The coarse column, which its index has in order, then the exact value. */
const BY_URGENCY = { column: "urgency", fleet: "fleet f INDEXED BY fleet_by_urgency", order: "f.urgency, f.fill - f.threshold" };
const BY_SILENCE = { column: "heard", fleet: "fleet f INDEXED BY fleet_by_heard", order: "f.heard, f.at" };
type Order = typeof BY_URGENCY;
const ORDERS: Readonly<Record<FleetSort, Order>> = { urgency: BY_URGENCY, margin: BY_URGENCY, silent: BY_SILENCE };

/** Up to this many silent tanks are fetched and sorted; of more, all tanks are scanned in order until the page is full. */
const MAX_SORTED = 50_000;
/** To read a tank in order takes this many times as long as to fetch it. */
const SCAN_COST = 8;
/** To skip more than this, whole urgencies or quarter days are skipped by their counts. */
const DEEP_PAGE = 1000;

/** Low and ok share the urgency 0: only there the margins themselves are compared. */
const STATES: Readonly<Record<FleetState | "any", { readonly from: number; readonly to: number; readonly condition: string }>> = {
  any: { from: Number.MIN_SAFE_INTEGER, to: UNKNOWN_URGENCY, condition: "true" },
  low: { from: Number.MIN_SAFE_INTEGER, to: 0, condition: "f.fill <= f.threshold" },
  ok: { from: 0, to: UNKNOWN_URGENCY - 1, condition: "f.fill > f.threshold" },
  unknown: { from: UNKNOWN_URGENCY, to: UNKNOWN_URGENCY, condition: "true" },
};

/** Tanks in the state, from an urgency on. */
function hasState(state: FleetState | undefined, since = Number.MIN_SAFE_INTEGER): BoundCondition {
  const { from, to, condition } = STATES[state ?? "any"];
  return [`f.urgency BETWEEN ? AND ? AND ${condition}`, Math.max(from, since), to];
}

/** By the index that fits the filters, so that pages are quick among a million tanks. */
function fleetReads(db: DatabaseSync, queries: QueryCache, liveTanks: () => number) {
  const tankById = query(db, `SELECT ${TANK_COLUMNS} FROM tank WHERE id = ?`);
  const countsByUrgency = query(db, "SELECT urgency, count(*) FROM fleet WHERE urgency BETWEEN ? AND ? GROUP BY urgency"); // fleet_by_urgency
  const countsByHeard = query(db, "SELECT heard, count(*) FROM fleet GROUP BY heard"); // fleet_by_heard

  function count(table: string, ...conditions: readonly BoundCondition[]): number {
    return queries.number(`SELECT count(*) FROM ${table}${where(conditions)}`, valuesOf(conditions));
  }

  function entries(
    table: string,
    conditions: readonly BoundCondition[],
    { order }: Order,
    size: number,
    skipped: number,
  ): FleetEntry[] {
    const sql = `SELECT f.tank, f.at, f.fill FROM ${table}${where(conditions)} ORDER BY ${order}, f.tank LIMIT ? OFFSET ?`;
    return queries
      .rows(sql, [...valuesOf(conditions), size, skipped])
      .map(([id = null, ...latest]) => fleetEntryOf([...(tankById.get(id) ?? []), ...latest]));
  }

  /** Filtered by owner or city: by the indexes of the tanks. */
  function amongTanks(
    ofTank: readonly BoundCondition[],
    ofFleet: readonly BoundCondition[],
    order: Order,
    size: number,
    skipped: number,
  ): Page<FleetEntry> {
    const live: readonly BoundCondition[] = [["t.deleted = 0"], ...ofTank];
    const found = count("tank t", ...live);
    const fetched = "tank t CROSS JOIN fleet f ON f.tank = t.id";
    const all = [...live, ...ofFleet];
    if (ofFleet.length > 0) return { data: entries(fetched, all, order, size, skipped), totalItems: count(fetched, ...all) };
    // Of all tanks in order, one in `liveTanks() / found` is a match. Those of one quarter day are read and sorted together.
    const scanned = ((skipped + size) * liveTanks()) / found;
    const isScanned = order === BY_URGENCY && scanned * SCAN_COST < found;
    const table = isScanned ? `${order.fleet} CROSS JOIN tank t ON t.id = f.tank` : fetched;
    return { data: entries(table, all, order, size, skipped), totalItems: found };
  }

  function amongSilent(
    since: number,
    state: FleetState | undefined,
    order: Order,
    size: number,
    skipped: number,
  ): Page<FleetEntry> {
    const before = count("fleet f", ["f.heard < ?", heardAt(since)]); // fleet_by_heard
    const { fleet } = before <= MAX_SORTED ? BY_SILENCE : order;
    const all: readonly BoundCondition[] = [["f.heard <= ? AND f.at < ?", heardAt(since), since], hasState(state)];
    const totalItems =
      state === undefined ? before + count("fleet f", ["f.heard = ? AND f.at < ?", heardAt(since), since]) : count(fleet, ...all);
    return { data: entries(fleet, all, order, size, skipped), totalItems };
  }

  function totalOf(state: FleetState | undefined): number {
    const unknown = (): number => count("fleet f", hasState("unknown"));
    const low = (): number => count("fleet f", ["f.urgency < 0"]) + count("fleet f", hasState("low", 0));
    if (state === undefined) return liveTanks();
    if (state === "low") return low();
    return state === "unknown" ? unknown() : liveTanks() - low() - unknown();
  }

  /** The conditions of a page's first entry, from its coarse column on, and how many of the tanks that meet them are skipped. */
  function startOf({ column }: Order, state: FleetState | undefined, skipped: number) {
    const isUrgency = column === "urgency";
    if (skipped < DEEP_PAGE || !(isUrgency || state === undefined)) return { conditions: [hasState(state)], remaining: skipped };
    const { from, to } = STATES[state ?? "any"];
    const groups = isUrgency ? countsByUrgency.all(from, to) : countsByHeard.all();
    let [start, remaining] = [0, skipped];
    for (const [group, size] of groups as unknown as (readonly [number, number])[]) {
      start = group;
      const own = isUrgency && group === 0 ? count("fleet f", ["f.urgency = 0"], hasState(state)) : size;
      if (remaining < own) break;
      remaining -= own;
    }
    const condition: BoundCondition = isUrgency ? hasState(state, start) : ["f.heard >= ?", start];
    return { conditions: [condition], remaining };
  }

  return {
    fleetPage({ sort, state, silentSince, owner_id, city, page, size }: FleetQuery): Page<FleetEntry> {
      const skipped = (page - 1) * size;
      const order = ORDERS[sort];
      const ofTank: BoundCondition[] = [];
      if (owner_id !== undefined) ofTank.push(["t.owner_id = ?", owner_id]);
      if (city !== undefined) ofTank.push(isInCity(city));
      if (ofTank.length > 0) {
        const silent: readonly BoundCondition[] = silentSince === undefined ? [] : [["f.at < ?", silentSince]];
        return amongTanks(ofTank, [...silent, ...(state === undefined ? [] : [hasState(state)])], order, size, skipped);
      }
      if (silentSince !== undefined) return amongSilent(silentSince, state, order, size, skipped);
      const totalItems = totalOf(state);
      if (skipped > 0 && skipped >= totalItems) return { data: [], totalItems };
      const { conditions, remaining } = startOf(order, state, skipped);
      return { data: entries(order.fleet, conditions, order, size, remaining), totalItems };
    },
  };
}

/** By tank_by_city. */
function isInCity(prefix: string): BoundCondition {
  const { from, to } = prefixRange(prefix);
  return ["lower(t.city) >= ? AND lower(t.city) < ?", from, to];
}

const where = (conditions: readonly BoundCondition[]): string =>
  conditions.length === 0 ? "" : ` WHERE ${conditions.map(([sql]) => sql).join(" AND ")}`;

const valuesOf = (conditions: readonly BoundCondition[]): (string | number)[] => conditions.flatMap(([, ...values]) => values);
