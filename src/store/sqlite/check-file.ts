// The check of the file itself, of what its rows refer to, and of what concerns several objects at once.

import type { DatabaseSync } from "node:sqlite";
import type { Finding } from "../../domain/store.ts";
import type { Look } from "../check.ts";
import { findingsOf, keyFaults } from "../series/fault.ts";
import { isAgainstConstraint, isDamaged } from "./connection.ts";
import { keyQuestions } from "./keys.ts";
import { arrayRow, arrayRows, arrayStatement } from "./rows.ts";

const MESSAGES_MOST = 10;
/** An index that has lost or kept an entry too many is made anew from its table; one with twins cannot be. */
const OF_AN_INDEX = /^(row \d+ missing from index|wrong # of entries in index)/;

/** The indexes are the short part: readings lie in blocks, so rows are few. */
export function lookAtFile(db: DatabaseSync): Look {
  const messages = damageIn(db).map((message) => {
    const isDerived = OF_AN_INDEX.test(message);
    return { isDerived, what: isDerived ? message : `${message}: restore a backup` };
  });
  return { where: "the database file", faults: messages };
}

function damageIn(db: DatabaseSync): string[] {
  try {
    const found = arrayRows(arrayStatement(db, `PRAGMA integrity_check(${MESSAGES_MOST})`).all());
    return found.map(([message]) => String(message).replaceAll("\n", " ")).filter((message) => message !== "ok");
  } catch (error) {
    if (!isDamaged(error)) throw error;
    return [(error as Error).message];
  }
}

const STRAY_FLEET = "SELECT count(*), min(tank) FROM fleet WHERE tank NOT IN (SELECT id FROM tank)";

/** Rows that refer to one that is not there. */
export function lookAtReferences(db: DatabaseSync): Look[] {
  const [count, first] = arrayRow(arrayStatement(db, STRAY_FLEET).get()) ?? [];
  const fleet = { where: "table fleet", faults: [{ isDerived: true, what: `rows of ${count} tanks belong to none (${first})` }] };
  return [...foreignKeys(db), ...(Number(count) === 0 ? [] : [fleet])];
}

function foreignKeys(db: DatabaseSync): Look[] {
  const rows = arrayRows(arrayStatement(db, "PRAGMA foreign_key_check").all());
  const groups = Map.groupBy(rows, ([table]) => String(table));
  return [...groups].flatMap(([table, found]): Look[] => {
    const numbers = found.map(([, rowid]) => Number(rowid));
    if (table === "tank") return numbers.map((pk) => lostOwner(db, pk));
    if (table === "api_key") return numbers.map((pk) => lostCustomer(db, pk));
    const isDerived = table === "reading_milestone";
    const advice = isDerived ? "" : ": restore a backup, or export what can be seen into a new database";
    return [{ where: `table ${table}`, faults: [{ isDerived, what: `${found.length} rows belong to no tank${advice}` }] }];
  });
}

function lostOwner(db: DatabaseSync, pk: number): Look {
  const [id, owner] = arrayRow(arrayStatement(db, "SELECT id, owner_id FROM tank WHERE pk = ?").get(pk)) ?? [];
  const what = `its owner ${owner} should be a customer, and is none: import that customer, or restore a backup`;
  return { where: `tank ${id}`, faults: [{ isDerived: false, what }] };
}

function lostCustomer(db: DatabaseSync, pk: number): Look {
  const [id, customer] = arrayRow(arrayStatement(db, "SELECT id, customer_id FROM api_key WHERE pk = ?").get(pk)) ?? [];
  const what = `${customer} should be a customer, and is none: import that customer, or revoke the key`;
  return { where: `key ${id}`, faults: [{ isDerived: false, what }] };
}

export function lookAtKeys(db: DatabaseSync): Look[] {
  return keyFaults(keyQuestions(db).keyList());
}

export function fileRepairs(db: DatabaseSync) {
  const drops = [
    db.prepare("DELETE FROM reading_milestone WHERE tank NOT IN (SELECT pk FROM tank)"),
    db.prepare("DELETE FROM fleet WHERE tank NOT IN (SELECT id FROM tank)"),
  ];
  return {
    repairWhole(): Finding[] {
      const before = lookAtFile(db);
      if (before.faults.every(({ isDerived }) => isDerived)) reindex(db);
      return findingsOf(before.where, before.faults, lookAtFile(db).faults);
    },

    repairReferences(): Finding[] {
      const before = lookAtReferences(db);
      for (const drop of drops) drop.run();
      const after = lookAtReferences(db).flatMap(({ faults }) => faults);
      return before.flatMap(({ where, faults }) => findingsOf(where, faults, after));
    },
  };
}

/** Rows that no unique index can take are found by their own check, and stand in the way until then. */
function reindex(db: DatabaseSync): void {
  try {
    db.exec("REINDEX");
  } catch (error) {
    if (!isAgainstConstraint(error)) throw error;
  }
}
