// Makes pending notifications due now, instead of waiting for leases and retry delays.

import type { Sql } from "../support/sql.ts";

/** A killed process leaves leases: they end now. No process may be sending. */
export const endLeases = (sql: Sql) => sql("UPDATE notification SET due_at = due_at - 20000 WHERE lease IS NOT NULL");

/** Notifications whose last attempt failed are due now. */
export const endDelays = (sql: Sql) =>
  sql("UPDATE notification SET due_at = $1 WHERE state = 'pending' AND lease IS NULL", Date.now());
