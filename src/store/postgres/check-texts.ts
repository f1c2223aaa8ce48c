// The check of what is kept as JSON beside devices, and of the audit log, of which nothing may be missing; some at a time.

import type { Look } from "../check.ts";
import { auditFaults, isReadableChange, profileFaults, waitingFault } from "../check-texts.ts";
import { WAITING_COLUMNS, waitingOf } from "../columns.ts";
import { Faults } from "../series/fault.ts";
import { EARLIEST } from "../series/levels.ts";
import { type Db, type Row, type Statement, statement, type Value } from "./connection.ts";

const A_STEP = 2000;
const ENTRIES_TOLD = 5;

/** Each by its primary key, from where the last step ended. No id is empty. */
const PROFILES = statement(`
  SELECT id, profile FROM device WHERE id > $1 AND profile IS NOT NULL ORDER BY id LIMIT ${A_STEP}`);
const WAITING = statement(`
  SELECT ${WAITING_COLUMNS} FROM waiting WHERE (device, created_at) > ($1, $2) ORDER BY device, created_at LIMIT ${A_STEP}`);
const CHANGES = statement(`SELECT number, changes FROM audit WHERE number > $1 ORDER BY number LIMIT ${A_STEP}`);
const AUDIT = statement("SELECT count(*), coalesce(min(number), 1), coalesce(max(number), 0) FROM audit");

/** The rows begin with what the next step goes on from. */
async function* inSteps(db: Db, some: Statement, start: readonly Value[]): AsyncGenerator<Row> {
  let after = start;
  for (;;) {
    const rows = await db.rows(some, after);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.slice(0, start.length) as Value[];
  }
}

export async function lookAtTexts(db: Db): Promise<Look[]> {
  const looks: Look[] = [];
  for await (const [id, profile] of inSteps(db, PROFILES, [""])) {
    const faults = profileFaults(String(profile));
    if (faults.length > 0) looks.push({ where: `device ${id}`, faults });
  }
  const waiting = new Map<string, Faults>();
  for await (const row of inSteps(db, WAITING, ["", EARLIEST])) {
    const { device, created_at, fill, payload } = waitingOf(row);
    const what = waitingFault(created_at, fill, payload);
    if (what === undefined) continue;
    const faults = waiting.get(device) ?? new Faults();
    faults.add("waiting", false, () => what);
    waiting.set(device, faults);
  }
  return [...looks, ...Array.from(waiting, ([device, faults]) => ({ where: `device ${device}`, faults: faults.list() }))];
}

export async function lookAtAudit(db: Db): Promise<Look[]> {
  const [count = 0, first = 1, last = 0] = ((await db.rows(AUDIT))[0] ?? []).map(Number);
  const unreadable: number[] = [];
  for await (const [number, changes] of inSteps(db, CHANGES, [0])) {
    if (!isReadableChange(String(changes))) unreadable.push(Number(number));
    if (unreadable.length === ENTRIES_TOLD) break;
  }
  return [{ where: "the audit log", faults: auditFaults(count, first, last, unreadable) }];
}
