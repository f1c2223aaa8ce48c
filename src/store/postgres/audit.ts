// The audit log: entries are added by writers that hold the lock of the lists, and numbered without a gap, so that a page is
// found by arithmetic.

import type { AuditContext, AuditEntry, AuditedChange } from "../../domain/audit.ts";
import type { AuditQuery } from "../../domain/management-reads.ts";
import type { Page } from "../../domain/page.ts";
import { AUDIT_COLUMNS, auditEntryOf } from "../columns.ts";
import { EARLIEST, LATEST } from "../series/levels.ts";
import { type Db, statement } from "./connection.ts";
import { type Condition, Filtering, filteredPage, isEqual, pageOf } from "./filter.ts";

/** The clock may go back, the log does not. By primary key. */
const ADD = statement(`
  INSERT INTO audit (${AUDIT_COLUMNS})
  SELECT coalesce(last.number, 0) + deed.place, greatest($1::bigint, last.at), $2::text, object, id, action, changes
  FROM (SELECT) AS one LEFT JOIN (SELECT number, at FROM audit ORDER BY number DESC LIMIT 1) AS last ON true
  CROSS JOIN unnest($3::text[], $4::text[], $5::text[], $6::text[]) WITH ORDINALITY AS deed (object, id, action, changes, place)`);

/** Under the lock of the lists. */
export async function note(db: Db, deeds: readonly AuditedChange[], { by, at }: AuditContext): Promise<void> {
  if (deeds.length === 0) return;
  await db.rows(ADD, [
    at,
    by,
    deeds.map(({ object }) => object),
    deeds.map(({ id }) => id),
    deeds.map(({ action }) => action),
    deeds.map(({ changes }) => JSON.stringify(changes)),
  ]);
}

/** The number of the first entry, or the last, of the entries of one instant: by audit_by_time. */
const numberAt = (which: "min" | "max", instant: string): string =>
  `(SELECT ${which}(number) FROM (SELECT number FROM audit WHERE at = (${instant}) OFFSET 0) AS entry)`;

/**
 * $1 and $2 the bounds, both included, $3 entries skipped, $4 wanted. The instants of the entries go up with their numbers, so
 * that a range of instants is one of numbers.
 */
const PAGE = statement(`
  WITH bounds AS MATERIALIZED (
    SELECT
      CASE WHEN $1::bigint = ${EARLIEST} THEN 1
        ELSE ${numberAt("min", "SELECT at FROM audit WHERE at >= $1 ORDER BY at LIMIT 1")} END AS lower,
      CASE WHEN $2::bigint = ${LATEST} THEN (SELECT number FROM audit ORDER BY number DESC LIMIT 1)
        ELSE ${numberAt("max", "SELECT at FROM audit WHERE at <= $2 ORDER BY at DESC LIMIT 1")} END AS upper
  )
  SELECT greatest(0, bounds.upper - bounds.lower + 1), entry.* FROM bounds LEFT JOIN LATERAL (
    SELECT ${AUDIT_COLUMNS} FROM audit
    WHERE number <= bounds.upper - $3::bigint AND number > bounds.upper - $3::bigint - $4::bigint AND number >= bounds.lower
    ORDER BY number DESC LIMIT $4
  ) AS entry ON true`);

/** What is asked for, in the order of how little it leaves: the first is looked up. */
function conditionsOf({ by, object, id }: AuditQuery, filtering: Filtering): Condition[] {
  const conditions: Condition[] = [];
  if (id !== undefined) conditions.push(isEqual("id", filtering.value(id, "text"))); // audit_by_id
  if (by !== undefined) conditions.push(isEqual("who", filtering.value(by, "text"))); // audit_by_who
  if (object !== undefined) conditions.push(isEqual("object", filtering.value(object, "text"))); // audit_by_object
  return conditions;
}

export function auditQuestions(db: Db) {
  async function filtered(question: AuditQuery): Promise<Page<AuditEntry>> {
    const { from = EARLIEST, to = LATEST } = question;
    const filtering = new Filtering();
    const isInRange = {
      holds: `at >= ${filtering.value(from, "bigint")} AND at <= ${filtering.value(to, "bigint")}`,
      order: "at",
    };
    const [looked = isInRange, ...others] = conditionsOf(question, filtering);
    const asked = {
      table: "audit",
      key: "number",
      order: ["number"],
      columns: AUDIT_COLUMNS,
      looked,
      others: [...others, isInRange],
    };
    return pageOf(await filteredPage(db, filtering, asked, question), auditEntryOf);
  }

  return {
    async auditPage(question: AuditQuery): Promise<Page<AuditEntry>> {
      const { by, object, id, from = EARLIEST, to = LATEST, page, size } = question;
      if (by !== undefined || object !== undefined || id !== undefined) return filtered(question);
      return pageOf(await db.rows(PAGE, [from, to, (page - 1) * size, size]), auditEntryOf);
    },
  };
}
