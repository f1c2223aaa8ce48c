// Executes a command: plans it, stores its changes and releases pending readings, in one transaction; once only, if it has an
// idempotency key.

import type { AuditContext } from "../../domain/audit.ts";
import {
  type ChangeSet,
  type CheckedProvision,
  type Command,
  type CommandResult,
  commandError,
  IDEMPOTENCY_MS,
  type IdempotencyKey,
  isCommandError,
  type Provision,
  type ReleasedReadings,
  withReleased,
} from "../../domain/commands/command.ts";
import { planCommand } from "../../domain/commands/plan.ts";
import { checkProvision } from "../../domain/commands/provision.ts";
import type { Instant } from "../../domain/instant.ts";
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
  tx.alertWork.setTime(context.at);
  await tx.lockLists();
  await tx.lockDevices("exclusive");
  const saved = await savedResult(tx, context, idempotencyKey);
  if (saved !== undefined) return saved;
  const plan = await planCommand(lookupsOn(tx), command, context.at);
  if (isCommandError(plan)) return plan;
  const resource = withReleased(plan.resource, await storeChanges(tx, plan, context));
  if (idempotencyKey !== undefined) await tx.saveResult(idempotencyKey, context, resource, context.at - IDEMPOTENCY_MS);
  return { resource, replayed: false };
}

/** Only reads, in one snapshot: nobody waits for it. */
export async function checkProvisionOnce(
  tx: StoreTransaction,
  rows: Provision,
  context: AuditContext,
  idempotencyKey?: IdempotencyKey,
): Promise<CheckedProvision | CommandResult> {
  return (await savedResult(tx, context, idempotencyKey)) ?? checkProvision(lookupsOn(tx), rows, context.at);
}

/** The result of an earlier command with the same idempotency key, if it is complete. */
async function savedResult(
  tx: StoreTransaction,
  { by, at }: AuditContext,
  idempotencyKey: IdempotencyKey | undefined,
): Promise<CommandResult | undefined> {
  if (idempotencyKey === undefined) return undefined;
  const saved = await tx.savedResult(by, idempotencyKey.key, at - IDEMPOTENCY_MS);
  if (saved === undefined) return undefined;
  const { fingerprint, resource } = saved;
  if (fingerprint !== idempotencyKey.fingerprint) {
    return commandError("idempotency_key_reused", "This Idempotency-Key was used for another request within the last 24 hours.");
  }
  return "is_incomplete" in resource.object ? undefined : { resource, replayed: true };
}

async function storeChanges(tx: StoreTransaction, plan: ChangeSet, context: AuditContext): Promise<ReleasedReadings> {
  const { customers, tanks, profiles, pendingRemoved, devicesRemoved, keys, alerts, audit } = plan;
  await writeCustomers(tx, customers, context);
  const releasable = await writeTanks(tx, tanks, context);
  await writeProfiles(tx, profiles);
  if (pendingRemoved.length > 0) await tx.removePending(pendingRemoved);
  if (devicesRemoved.length > 0) await tx.removeDevices(devicesRemoved);
  if (keys.length > 0) await tx.putKeys(keys);
  tx.alertWork.addChanges(alerts);
  await writeChannels(tx, plan, context.at);
  await writeAccounts(tx, plan, context.at);
  await tx.appendAudit(audit, context);
  return releasePending(tx, [...releasable, ...profiles.map(({ id }) => id)]);
}

async function writeChannels(tx: StoreTransaction, plan: ChangeSet, at: Instant): Promise<void> {
  const { channels, notifications, notificationsRetried, notificationsEnded, verificationsRevoked } = plan;
  for (const customerId of verificationsRevoked) await tx.removeVerifications(customerId);
  if (channels.length > 0) await tx.putChannels(channels, at);
  if (notifications.length > 0) await tx.addNotifications(notifications);
  if (notificationsRetried.length > 0) await tx.retryNotifications(notificationsRetried, at);
  for (const { ids, reason } of notificationsEnded) await tx.endNotifications(ids, reason, at);
  tx.alertWork.addDueNotifications(notifications.length + notificationsRetried.length);
}

/** The sessions of a user end before the user is removed. */
async function writeAccounts(tx: StoreTransaction, plan: ChangeSet, at: Instant): Promise<void> {
  const { users, signIns, sessionsStarted, sessionsEnded } = plan;
  if (sessionsEnded.length > 0) await tx.endSessions(sessionsEnded);
  if (users.length > 0) await tx.putUsers(users);
  if (signIns.length > 0) await tx.putSignIns(signIns, at);
  if (sessionsStarted.length > 0) await tx.startSessions(sessionsStarted, at);
}
