// The check of what rows refer to, as far as the schema does not hold it by itself, and of the keys.

import type { Finding } from "../../domain/store.ts";
import type { Look } from "../check.ts";
import { findingsOf, keyFaults } from "../series/fault.ts";
import { type Db, statement } from "./connection.ts";
import { keyQuestions } from "./keys.ts";

/** Each tank of a table, by a hop along its primary key, that is none. */
const strays = (table: string): string => `
  WITH RECURSIVE own (tank) AS (
    SELECT min(tank) FROM ${table}
    UNION ALL SELECT (SELECT min(tank) FROM ${table} WHERE tank > own.tank) FROM own WHERE own.tank IS NOT NULL
  )
  SELECT tank FROM own WHERE tank IS NOT NULL AND NOT EXISTS (SELECT FROM tank WHERE tank.id = own.tank)`;

const TABLES = ["block", "reading_milestone"] as const;
const DERIVED: readonly string[] = ["reading_milestone"];
const STRAYS = TABLES.map((table) => ({ table, of: statement(`SELECT count(*), min(tank) FROM (${strays(table)}) AS stray`) }));
const DROPS = DERIVED.map((table) => statement(`DELETE FROM ${table} WHERE tank IN (${strays(table)})`));

export async function lookAtReferences(db: Db): Promise<Look[]> {
  const looks: Look[] = [];
  for (const { table, of } of STRAYS) {
    const [count, first] = (await db.rows(of))[0] ?? [];
    if (Number(count) === 0) continue;
    const isDerived = DERIVED.includes(table);
    const advice = isDerived ? "" : ": restore a backup, or export what can be seen into a new database";
    looks.push({
      where: `table ${table}`,
      faults: [{ isDerived, what: `rows of ${count} tanks belong to none (${first})${advice}` }],
    });
  }
  return looks;
}

export async function repairReferences(db: Db): Promise<Finding[]> {
  const before = await lookAtReferences(db);
  for (const drop of DROPS) await db.rows(drop);
  const left = (await lookAtReferences(db)).flatMap(({ faults }) => faults);
  return before.flatMap(({ where, faults }) => findingsOf(where, faults, left));
}

export async function lookAtKeys(db: Db): Promise<Look[]> {
  return keyFaults(await keyQuestions(db).keyList());
}
