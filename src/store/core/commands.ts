// Executes a command: plans it, stores its changes and releases pending readings, in one transaction; once only, if it has an
// idempotency key.

import type { AuditContext } from "../../domain/audit.ts";
import {
  type ChangeSet,
  type Command,
  type CommandResult,
  commandError,
  IDEMPOTENCY_MS,
  type IdempotencyKey,
  isCommandError,
  type ReleasedReadings,
  withReleased,
} from "../../domain/commands/command.ts";
import { planCommand } from "../../domain/commands/plan.ts";
import { releasePending } from "./ingest.ts";
import { lookupsOn } from "./lookups.ts";
import { writeCustomers, writeProfiles, writeTanks } from "./objects.ts";
import type { StoreTransaction } from "./transaction.ts";

export async function executeCommand(
  tx: StoreTransaction,
  command: Command,
  context: AuditContext,
  idempotencyKey?: IdempotencyKey,
): Promise<CommandResult> {
  await tx.lockLists();
  await tx.lockDevices("exclusive");
  const expired = context.at - IDEMPOTENCY_MS;
  const saved = idempotencyKey && (await tx.savedResult(context.by, idempotencyKey.key, expired));
  if (saved !== undefined) {
    if (saved.fingerprint === idempotencyKey?.fingerprint) return { resource: saved.resource, replayed: true };
    return commandError("idempotency_key_reused", "This Idempotency-Key was used for another request within the last 24 hours.");
  }
  const plan = await planCommand(lookupsOn(tx), command, context.at);
  if (isCommandError(plan)) return plan;
  const resource = withReleased(plan.resource, await storeChanges(tx, plan, context));
  if (idempotencyKey !== undefined) await tx.saveResult(idempotencyKey, context, resource, expired);
  return { resource, replayed: false };
}

async function storeChanges(tx: StoreTransaction, plan: ChangeSet, context: AuditContext): Promise<ReleasedReadings> {
  const { customers, tanks, profiles, pendingRemoved, devicesRemoved, keys, audit } = plan;
  await writeCustomers(tx, customers, context);
  const releasable = await writeTanks(tx, tanks, context);
  await writeProfiles(tx, profiles);
  if (pendingRemoved.length > 0) await tx.removePending(pendingRemoved);
  if (devicesRemoved.length > 0) await tx.removeDevices(devicesRemoved);
  if (keys.length > 0) await tx.putKeys(keys);
  await tx.appendAudit(audit, context);
  return releasePending(tx, [...releasable, ...profiles.map(({ id }) => id)]);
}
