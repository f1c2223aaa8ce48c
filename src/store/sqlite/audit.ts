// The audit log: numbered without a gap, and never back in time, so that a page is found by its number.

import type { DatabaseSync } from "node:sqlite";
import type { AuditContext, AuditEntry, AuditedChange } from "../../domain/audit.ts";
import type { AuditQuery } from "../../domain/management-reads.ts";
import type { Page } from "../../domain/page.ts";
import { AUDIT_COLUMNS, auditEntryOf } from "../columns.ts";
import { EARLIEST, LATEST } from "../series/levels.ts";
import { arrayRow, arrayRows, arrayStatement, Statements } from "./rows.ts";

/** By audit_by_time: the first entry that is not before an instant. */
const FIRST_FROM = "SELECT number FROM audit WHERE at >= ? ORDER BY at, number LIMIT 1";
const LAST = "SELECT number, at FROM audit ORDER BY number DESC LIMIT 1";

export function auditQuestions(db: DatabaseSync) {
  const statements = new Statements(db);
  const firstFrom = arrayStatement(db, FIRST_FROM);
  const last = arrayStatement(db, LAST);
  const between = arrayStatement(db, `SELECT ${AUDIT_COLUMNS} FROM audit WHERE number BETWEEN ? AND ? ORDER BY number DESC`);

  /** Every entry between two instants: by their numbers. */
  function plainPage({ from = EARLIEST, to = LATEST, page, size }: AuditQuery): Page<AuditEntry> {
    const end = Number(arrayRow(last.get())?.[0] ?? 0) + 1;
    const rank = (instant: number): number => Number(arrayRow(firstFrom.get(instant))?.[0] ?? end);
    const lower = from === EARLIEST ? 1 : rank(from);
    const upper = to === LATEST ? end : rank(to + 1);
    const newest = upper - 1 - (page - 1) * size;
    const rows = arrayRows(between.all(Math.max(lower, newest - size + 1), newest));
    return { data: rows.map(auditEntryOf), totalItems: Math.max(0, upper - lower) };
  }

  return {
    auditPage(question: AuditQuery): Page<AuditEntry> {
      const { by, object, id, from = EARLIEST, to = LATEST, page, size } = question;
      const conditions = [
        ...(by === undefined ? [] : [["who = ?", by] as const]), // audit_by_who
        ...(object === undefined ? [] : [["object = ?", object] as const]), // audit_by_object
        ...(id === undefined ? [] : [["id = ?", id] as const]),
      ];
      if (conditions.length === 0) return plainPage(question);
      const entries = `FROM audit WHERE ${conditions.map(([sql]) => sql).join(" AND ")} AND at BETWEEN ? AND ?`;
      const values = [...conditions.map(([, value]) => value), from, to];
      const totalItems = statements.number(`SELECT count(*) ${entries}`, values);
      const sql = `SELECT ${AUDIT_COLUMNS} ${entries} ORDER BY number DESC LIMIT ? OFFSET ?`;
      return { data: statements.rows(sql, [...values, size, (page - 1) * size]).map(auditEntryOf), totalItems };
    },
  };
}

export function auditWrites(db: DatabaseSync) {
  const last = arrayStatement(db, LAST);
  const add = db.prepare("INSERT INTO audit (number, at, who, object, id, action, changes) VALUES (?, ?, ?, ?, ?, ?, ?)");

  return {
    note(deeds: readonly AuditedChange[], { by, at }: AuditContext): void {
      if (deeds.length === 0) return;
      const [number = 0, before = at] = (arrayRow(last.get()) ?? []) as readonly number[];
      deeds.forEach(({ object, id, action, changes }, i) => {
        add.run(number + 1 + i, Math.max(at, before), by, object, id, action, JSON.stringify(changes));
      });
    },
  };
}
