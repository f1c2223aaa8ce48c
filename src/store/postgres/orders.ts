// Orders, each decided and carried out in one transaction, one after the other.

import type { AuditContext } from "../../domain/audit.ts";
import {
  type ChangeSet,
  type Command,
  type CommandResult,
  commandError,
  IDEMPOTENCY_MS,
  type IdempotencyKey,
  isCommandError,
} from "../../domain/commands/command.ts";
import { planCommand } from "../../domain/commands/plan.ts";
import { type ReleasedReadings, withReleased } from "../../domain/commands/released.ts";
import { settleLater } from "../../domain/inquiry.ts";
import type { Resource } from "../../domain/resource.ts";
import { answersOn } from "./answers.ts";
import { drain, waitingOfTanks } from "./arrivals.ts";
import { note } from "./audit.ts";
import { type Db, statement, type Transaction } from "./connection.ts";
import { writeCustomers } from "./customers.ts";
import { forgetDevices, forgetWaiting, lockDevices, putProfiles } from "./devices.ts";
import { writeKeys } from "./keys.ts";
import { lockLists } from "./lists.ts";
import { putShapes, writeTanks } from "./tanks.ts";

export async function execute(
  db: Transaction,
  order: Command,
  occasion: AuditContext,
  once?: IdempotencyKey,
): Promise<CommandResult> {
  await lockLists(db);
  await lockDevices(db);
  const before = once === undefined ? undefined : await carriedBefore(db, occasion, once);
  if (before !== undefined) return before;
  const decision = await settleLater(planCommand(order, occasion.at), answersOn(db));
  if (isCommandError(decision)) return decision;
  const shown = withReleased(decision.resource, await write(db, decision, occasion));
  if (once !== undefined) await remember(db, occasion, once, shown);
  return { resource: shown, replayed: false };
}

/** Gives the readings that wait no longer. */
async function write(db: Transaction, decision: ChangeSet, occasion: AuditContext): Promise<ReleasedReadings> {
  const { customers, tanks, shapes, devices, pendingRemoved: emptied, devicesRemoved: forgotten, keys, audit: deeds } = decision;
  await writeCustomers(db, customers, occasion);
  const moved = await writeTanks(db, tanks, occasion);
  await putShapes(db, shapes);
  await putProfiles(db, devices);
  await forgetWaiting(db, emptied);
  await forgetDevices(db, forgotten);
  await writeKeys(db, keys);
  await note(db, deeds, occasion);
  const reshaped = await waitingOfTanks(db, [...shapes.keys()]);
  return drain(db, [...new Set([...moved, ...devices.map(({ id }) => id), ...reshaped])]);
}

const REMOVED_AT_ONCE = 300;

const KNOWN = statement("SELECT asked, answer FROM once WHERE who = $1 AND key = $2 AND at > $3");
const REMEMBER = statement(`
  INSERT INTO once (who, key, at, asked, answer) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (who, key) DO UPDATE SET at = excluded.at, asked = excluded.asked, answer = excluded.answer`);
const FORGET = statement(`
  DELETE FROM once WHERE ctid = ANY (ARRAY(SELECT ctid FROM once WHERE at <= $1 ORDER BY at LIMIT ${REMOVED_AT_ONCE}))`); // once_by_time

async function carriedBefore(
  db: Db,
  { by, at }: AuditContext,
  { key, fingerprint: asked }: IdempotencyKey,
): Promise<CommandResult | undefined> {
  const [row] = await db.rows(KNOWN, [by, key, at - IDEMPOTENCY_MS]);
  if (row === undefined) return undefined;
  if (row[0] !== asked) {
    return commandError("idempotency_key_reused", "This Idempotency-Key was used for another request within the last 24 hours.");
  }
  return { resource: JSON.parse(String(row[1])) as Resource, replayed: true };
}

/** What is older than a day goes, a little at a time. */
async function remember(
  db: Db,
  { by, at }: AuditContext,
  { key, fingerprint: asked }: IdempotencyKey,
  shown: Resource,
): Promise<void> {
  await db.rows(FORGET, [at - IDEMPOTENCY_MS]);
  await db.rows(REMEMBER, [by, key, at, asked, JSON.stringify(shown)]);
}
