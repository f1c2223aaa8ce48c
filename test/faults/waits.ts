// What notifications wait for, ended at once.

import type { Sql } from "../support/sql.ts";

/** What a killed process was sending is sent again. Nobody may be sending meanwhile. */
export const endLeases = (sql: Sql) => sql("UPDATE notification SET due_at = due_at - 20000 WHERE lease IS NOT NULL");

/** What has failed is sent again. */
export const endDelays = (sql: Sql) =>
  sql("UPDATE notification SET due_at = $1 WHERE state = 'pending' AND lease IS NULL", Date.now());
