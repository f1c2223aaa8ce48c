// Telemetry: the readings of a tank. Questions for the serving thread, and the write of the writing thread.

import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Sight } from "../../domain/key.ts";
import type { Page, PageQuestion } from "../../domain/page.ts";
import type { Reading, ReadingBatch } from "../../domain/reading.ts";
import { type Found, READING_OUTCOMES } from "../../domain/store.ts";
import { arrayRow, arrayStatement, type Row, Series } from "./paging.ts";

/** By `tank`'s unique index on id. */
const TANK = (owner: string) => `SELECT deleted, reading_count, pk FROM tank WHERE id = ? ${owner}`;

export function telemetryQuestions(db: DatabaseSync) {
  const tankStatement = forBothSights(db, TANK);
  // By reading's primary key, walked backwards.
  const series = new Series(db, { columns: "created_at, fill", from: "reading WHERE tank = ?", order: "created_at DESC" });

  return {
    telemetryPage(tankId: string, question: PageQuestion, { customerId: owner }: Sight): Found<Page<Reading>> {
      const tank = arrayRow(owner === null ? tankStatement.all.get(tankId) : tankStatement.one.get(tankId, owner));
      if (tank === undefined) return undefined;
      if (tank[0] === 1) return "deleted";
      const { rows, totalItems } = series.page([Number(tank[2])], question, Number(tank[1]));
      return { data: rows.map(readingOf), totalItems };
    },
  };
}

function forBothSights(db: DatabaseSync, sql: (owner: string) => string): { all: StatementSync; one: StatementSync } {
  return { all: arrayStatement(db, sql("")), one: arrayStatement(db, sql("AND owner_id = ?")) };
}

function readingOf(row: Row): Reading {
  return { created_at: row[0] as number, fill_percentage: row[1] as number };
}

const NEW = READING_OUTCOMES.indexOf("new");
const CHANGED = READING_OUTCOMES.indexOf("changed");
const UNCHANGED = READING_OUTCOMES.indexOf("unchanged");
const TANK_UNKNOWN = READING_OUTCOMES.indexOf("tank_unknown");

export function telemetryWrites(db: DatabaseSync) {
  const tankKey = arrayStatement(db, "SELECT pk FROM tank WHERE id = ?");
  const insert = db.prepare("INSERT INTO reading (tank, created_at, fill) VALUES (?, ?, ?) ON CONFLICT DO NOTHING");
  const known = arrayStatement(db, "SELECT fill FROM reading WHERE tank = ? AND created_at = ?");
  const replace = db.prepare("UPDATE reading SET fill = ?3 WHERE tank = ?1 AND created_at = ?2");
  const count = db.prepare("UPDATE tank SET reading_count = reading_count + ? WHERE pk = ?");

  function accept(tank: number, createdAt: number, fill: number): number {
    if (insert.run(tank, createdAt, fill).changes === 1) return NEW;
    if (arrayRow(known.get(tank, createdAt))?.[0] === fill) return UNCHANGED;
    replace.run(tank, createdAt, fill);
    return CHANGED;
  }

  return {
    acceptReadings(batch: ReadingBatch): Uint8Array {
      const keys = batch.tankIds.map((id) => arrayRow(tankKey.get(id))?.[0] as number | undefined);
      const added = new Float64Array(keys.length);
      const outcomes = Uint8Array.from(batch.tank, (index, i) => {
        const tank = keys[index];
        if (tank === undefined) return TANK_UNKNOWN;
        const outcome = accept(tank, batch.createdAt[i] as number, batch.fill[i] as number);
        if (outcome === NEW) added[index] = (added[index] ?? 0) + 1;
        return outcome;
      });
      keys.forEach((tank, index) => {
        if (tank !== undefined && added[index] !== 0) count.run(added[index] ?? 0, tank);
      });
      return outcomes;
    },
  };
}
