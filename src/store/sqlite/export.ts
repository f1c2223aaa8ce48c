// Exports from a connection of its own: its snapshot stays open for as long as the reader takes.

import type { ExportRecord } from "../../domain/store.ts";
import { exportRecords } from "../core/export.ts";
import { withReader } from "./connection.ts";
import { query } from "./statements.ts";

const SQL = {
  key: "pk",
  tankId: "(SELECT id FROM tank WHERE pk = part.tank)",
  assignments: "json_group_array(json_array(until, tank) ORDER BY until)",
};

export function exportFile(file: string): AsyncGenerator<ExportRecord> {
  return withReader(file, (db) => {
    db.exec("BEGIN");
    return exportRecords((sql) => query(db, sql).iterate(), SQL);
  });
}
