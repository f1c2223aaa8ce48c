// Reads of alerts and of the event feed, in SQL for both engines.

import { ALERT_KINDS, type Alert } from "../../domain/alerts/alert.ts";
import type { AlertCounts, AlertQuery, FeedPage, FeedQuery } from "../../domain/alerts/reads.ts";
import type { Scope } from "../../domain/key.ts";
import type { Page } from "../../domain/page.ts";
import { intactJson } from "../columns.ts";
import { LISTS } from "../packed/lists.ts";
import { ALERT_COLUMNS, alertColumns, alertOf, alertsNotClosedOn } from "./alert-tables.ts";
import { equalTo, SqlParameters } from "./dialect.ts";
import { filteredPage, inRange, type LongReadEngine, pageOf } from "./management-reads.ts";
import { toPage } from "./reads.ts";
import { ALERT_INDEX_CONDITION } from "./schema.ts";
import type { Prepare, SqlRunner } from "./sql-runner.ts";

/** Reads whose cost does not depend on the size of the database. */
export function alertReads({ prepare, runForIds }: Pick<SqlRunner, "prepare" | "runForIds">) {
  const alert = prepare(`SELECT ${ALERT_COLUMNS} FROM alert WHERE id = $1 AND owner_id = coalesce($2, owner_id)`);
  const alertsNotClosed = alertsNotClosedOn(runForIds);
  const countsOf = (owner: string) =>
    `SELECT kind, state, count(*) FROM alert WHERE state <> 'closed' ${owner} GROUP BY kind, state`;
  const counts = prepare(countsOf("")); // alert_counted
  const ownCounts = prepare(countsOf("AND owner_id = $1")); // alert_of_owner_counted
  return {
    alertById: async (id: string, { customerId }: Scope): Promise<Alert | undefined> =>
      (await alert(id, customerId)).map(alertOf)[0],

    alertsNotClosed: async (tankIds: readonly string[]): Promise<readonly Alert[]> =>
      (await alertsNotClosed(tankIds)).toSorted((a, b) => a.opened_at - b.opened_at || (a.id < b.id ? -1 : 1)),

    async alertCounts({ customerId }: Scope): Promise<AlertCounts> {
      const rows = await (customerId === null ? counts() : ownCounts(customerId));
      const of = (state: string) =>
        Object.fromEntries(
          ALERT_KINDS.map((kind) => [kind, Number(rows.find((row) => row[0] === kind && row[1] === state)?.[2] ?? 0)]),
        ) as AlertCounts["open"];
      return { open: of("open"), acknowledged: of("acknowledged") };
    },

    ...eventFeedOn(prepare),
  };
}

/**
 * Sequence numbers have no gaps, except after a restore, and the oldest events are removed first: a client has missed nothing if the
 * last event that it has read is stored, or the next one.
 */
function eventFeedOn(prepare: Prepare) {
  const last = "coalesce((SELECT CAST(value AS bigint) FROM service_state WHERE name = 'event_sequence'), 0)";
  const isContinued = "(SELECT sequence FROM event WHERE sequence BETWEEN $1 AND $1 + 1 ORDER BY sequence LIMIT 1) IS NOT NULL"; // primary key
  const pageOn = (condition: string) =>
    prepare(
      `SELECT bounds.last, bounds.is_continued, event.sequence, event.payload
       FROM (SELECT ${last} AS last, ${isContinued} AS is_continued) AS bounds
       LEFT JOIN (SELECT sequence, payload FROM event WHERE ${condition} ORDER BY sequence LIMIT $2) AS event ON true
       ORDER BY event.sequence`,
    );
  const all = pageOn("sequence > $1"); // primary key
  const own = pageOn("sequence > $1 AND owner_id = $3"); // event_by_owner
  return {
    async eventFeed({ after, size }: FeedQuery, { customerId }: Scope): Promise<FeedPage> {
      const reached = after ?? 0;
      const rows = await (customerId === null ? all(reached, size + 1) : own(reached, size + 1, customerId));
      const [used = 0, isContinued = false] = rows[0] ?? [];
      const newest = Number(used);
      const events = rows.filter(([, , sequence]) => sequence !== null).slice(0, size);
      const hasMore = rows.length > size;
      return {
        payloads: events.map(([, , sequence, payload]) => intactJson(payload, `event ${sequence}`)),
        // Whatever has a lower number than the last one used is visible.
        nextAfter: hasMore ? Number(events.at(-1)?.[2]) : newest,
        hasMore,
        isIncomplete: after !== undefined && after !== newest && !isContinued,
      };
    },
  };
}

/** Lists that may count many alerts. */
export function alertLists(engine: LongReadEngine) {
  const { dialect, listPages } = engine;
  const alerts = listPages(LISTS.alerts, ALERT_COLUMNS);
  const alertsByState = listPages(LISTS.alertsByState, ALERT_COLUMNS);
  return {
    async alertPage(request: AlertQuery, { customerId }: Scope): Promise<Page<Alert>> {
      const { state, kind, tank_id } = request;
      if (customerId !== null && (request.owner_id ?? customerId) !== customerId) return { data: [], totalItems: 0 };
      const owner_id = customerId ?? request.owner_id;
      if (kind === undefined && tank_id === undefined && owner_id === undefined) {
        return toPage(await (state === undefined ? alerts(null, request) : alertsByState(state, request)), alertOf);
      }
      // The first one is looked up: alert_by_tank, alert_by_owner, alert_by_state, alert_by_kind.
      const given = { tank_id, owner_id, state, kind };
      const parameters = new SqlParameters();
      const range = inRange(parameters, "created_at", request);
      const conditions = equalTo(dialect, parameters, given);
      const [first = range, ...others] = conditions;
      const lookup = { holds: `${first.holds} AND ${range.holds}`, order: `${first.order}, created_at` };
      const list = { table: "alert", columns: alertColumns, order: ["created_at", "id"], base: ALERT_INDEX_CONDITION };
      return pageOf(await filteredPage(engine, list, parameters, [lookup, ...others], request), alertOf);
    },
  };
}
