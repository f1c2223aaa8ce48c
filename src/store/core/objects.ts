// Stores changed customers and tanks, with everything that follows from them: lists, counts, the fleet, which device is
// assigned to which tank, and the audit log.

import { isDeepStrictEqual } from "node:util";
import { ON_SETTINGS } from "../../domain/alerts/evaluate.ts";
import { type AuditContext, auditCustomers, auditTanks } from "../../domain/audit.ts";
import {
  affectedDevices,
  type Change,
  type CustomerState,
  deviceMoves,
  isReshaped,
  type TankState,
} from "../../domain/changes.ts";
import type { ChangeSet } from "../../domain/commands/command.ts";
import { type DeviceAssignment, unknownDevice } from "../../domain/device.ts";
import { forecastSettings } from "../../domain/forecast/stored.ts";
import { entryChanges, LISTS, type ListedChange } from "../packed/lists.ts";
import { updateSortKeys } from "./fleet-order.ts";
import { updateLists } from "./lists.ts";
import { lookupsOn } from "./lookups.ts";
import type { CountedDevice } from "./object-tables.ts";
import type { StoreTransaction } from "./transaction.ts";

export async function writeCustomers(
  tx: StoreTransaction,
  changes: readonly Change<CustomerState>[],
  context: AuditContext,
): Promise<void> {
  if (changes.length === 0) return;
  await tx.putCustomers(changes);
  const listed = changes.map(({ before, after }) => ({ before: liveCustomer(before), after: liveCustomer(after) }));
  await updateLists(tx, "customer", listed);
  await tx.endSessionsOfCustomers(changes.filter(endsSessions).map(({ id }) => id));
  await Promise.all(changes.filter(hasNewAddress).map(({ id }) => tx.removeVerifications(id)));
  await tx.appendAudit(auditCustomers(changes), context);
}

/** Returns the devices whose pending readings may be storable now: of another tank, or of a tank with another shape. */
export async function writeTanks(
  tx: StoreTransaction,
  changes: readonly Change<TankState>[],
  context: AuditContext,
): Promise<string[]> {
  if (changes.length === 0) return [];
  const alerted = changes.filter(changesAlerts).map(({ id }) => id);
  // All at once, so that heads are locked in the order of their tanks.
  if (alerted.length > 0) await tx.lockHeads(alerted.toSorted());
  await tx.putTanks(changes);
  const listed = changes.map(({ before, after }) => ({ before: liveTank(before), after: liveTank(after) }));
  await updateLists(tx, "tank", listed);
  await tx.addTankCounts(tankCountDeltas(listed));
  await tx.setThresholds(changedThresholds(changes));
  tx.alertWork.addOwners(newOwners(changes));
  const outdated = new Set(changes.filter(changesForecast).map(({ id }) => id));
  const updated = changes.filter((change) => changesSortKeys(change) || outdated.has(change.id));
  await updateSortKeys(
    tx,
    updated.map(({ id }) => id),
    context.at,
    outdated,
  );
  tx.alertWork.addTanks(alerted, ON_SETTINGS);
  const devices = await lookupsOn(tx).devices(affectedDevices(changes));
  const moves = deviceMoves(changes, devices, context.at);
  await writeDevices(
    tx,
    moves.map(({ device }) => ({ device, dropped: devices.get(device.id)?.dropped ?? 0 })),
    moves.flatMap(({ ended }) => ended ?? []),
  );
  await tx.appendAudit(auditTanks(changes), context);
  const moved = moves.filter(({ device }) => device.tank_id !== null).map(({ device }) => device.id);
  const reshaped = changes.filter(isReshaped).map(({ id }) => id);
  return reshaped.length === 0 ? moved : [...moved, ...(await tx.devicesWithPendingFor(reshaped))];
}

/** Must run after the moves of the same command. */
export async function writeProfiles(tx: StoreTransaction, profiles: ChangeSet["profiles"]): Promise<void> {
  if (profiles.length === 0) return;
  const known = await lookupsOn(tx).devices(profiles.map(({ id }) => id));
  const devices = profiles.map(({ id, profile }) => {
    const { device, dropped } = known.get(id) ?? { device: unknownDevice(id), dropped: 0 };
    return { device: { ...device, profile }, dropped };
  });
  await writeDevices(tx, devices, []);
}

export async function writeDevices(
  tx: StoreTransaction,
  devices: readonly CountedDevice[],
  assignments: readonly DeviceAssignment[],
): Promise<void> {
  if (devices.length > 0) await tx.putDevices(devices);
  if (assignments.length > 0) await tx.putAssignments(assignments);
}

const hasNewAddress = ({ before, after }: Change<CustomerState>): boolean =>
  before !== undefined && after.customer.email !== before.customer.email;

/** Sessions were opened with the old address, so a new address ends them. */
const endsSessions = (change: Change<CustomerState>): boolean =>
  hasNewAddress(change) || (change.before !== undefined && change.after.deleted);

const liveCustomer = (state: CustomerState | undefined) => (state?.deleted === false ? state.customer : undefined);
const liveTank = (state: TankState | undefined) => (state?.deleted === false ? state.tank : undefined);

function tankCountDeltas(changes: readonly ListedChange[]): Map<string, number> {
  const deltas = new Map<string, number>();
  for (const { key, delta } of entryChanges(LISTS.tanksOfOwner, changes)) {
    deltas.set(String(key), (deltas.get(String(key)) ?? 0) + delta);
  }
  return new Map([...deltas].filter(([, delta]) => delta !== 0));
}

/** Whether alerts of the tank may open or close, or belong to somebody else. */
function changesAlerts({ before, after }: Change<TankState>): boolean {
  if (before === undefined) return false;
  const fields = ({ tank, deleted, alerts }: TankState) => [deleted, tank.min_fill_alert_percentage, tank.owner_id, alerts];
  return !isDeepStrictEqual(fields(before), fields(after));
}

/** Whether the tank is added to the fleet or removed from it, or has other sort keys or another owner there. */
function changesSortKeys({ before, after }: Change<TankState>): boolean {
  const fields = ({ tank, deleted }: TankState) => [deleted, tank.min_fill_alert_percentage, tank.owner_id];
  return before === undefined || !isDeepStrictEqual(fields(before), fields(after));
}

function changesForecast({ before, after }: Change<TankState>): boolean {
  return before !== undefined && !isDeepStrictEqual(forecastSettings(before.tank), forecastSettings(after.tank));
}

function newOwners(changes: readonly Change<TankState>[]): Map<string, string> {
  const moved = changes.filter(({ before, after }) => before !== undefined && before.tank.owner_id !== after.tank.owner_id);
  return new Map(moved.map(({ id, after }) => [id, after.tank.owner_id]));
}

function changedThresholds(changes: readonly Change<TankState>[]): Map<string, number | null> {
  const thresholdOf = ({ tank, deleted }: TankState): number | null => (deleted ? null : tank.min_fill_alert_percentage);
  const changed = changes.filter(({ before, after }) => before === undefined || thresholdOf(before) !== thresholdOf(after));
  return new Map(changed.map(({ id, after }) => [id, thresholdOf(after)]));
}
