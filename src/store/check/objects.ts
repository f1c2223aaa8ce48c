// Checks customers, tanks, devices, keys and the audit log.

import { errorInTankAlertSettings, type TankAlertSettings } from "../../domain/alerts/tank-alert-settings.ts";
import { errorInCustomer } from "../../domain/customer.ts";
import { isAhead, unknownDevice } from "../../domain/device.ts";
import type { FieldError } from "../../domain/errors.ts";
import { sortKeysOf } from "../../domain/fleet-order.ts";
import { deviceKey } from "../../domain/id.ts";
import { displayInstant, EARLIEST } from "../../domain/instant.ts";
import { errorInKey } from "../../domain/key.ts";
import type { MaybeDamaged } from "../../domain/lookups.ts";
import type { PendingReading } from "../../domain/placement.ts";
import { errorsInProfile } from "../../domain/profile.ts";
import type { Reading } from "../../domain/reading.ts";
import { errorsInShape } from "../../domain/shape.ts";
import { errorInTank } from "../../domain/tank.ts";
import { isObject, parseJson } from "../../domain/validate.ts";
import type { StoreTransaction } from "../core/transaction.ts";
import { type FleetRow, fleetRow } from "../fleet-row.ts";
import { lastReading } from "../packed/block.ts";
import type { BlockRow } from "../packed/checksum.ts";
import type { StoredAlerts } from "./alert-rows.ts";
import { alertErrors } from "./alerts.ts";
import { type CheckResult, Inconsistencies, type Inconsistency, repairable, unrepairable } from "./inconsistency.ts";
import type { CheckOperations, CustomerRow, DeviceRow, TankRow } from "./operations.ts";
import { checkRankIndex, type StoredGroup } from "./rank-index.ts";
import { type CheckedReadings, checkReadings } from "./readings.ts";

const MAX_ENTRIES_LISTED = 5;

const DAMAGED = "what is stored is not what was written (its checksum is wrong)";

export function checkCustomer(row: CustomerRow): CheckResult {
  const { customer, notifications, isDamaged, deletedFlag, ownedTanks } = row;
  const { id, tank_count } = customer;
  const count = tank_count === ownedTanks ? [] : repairable(`it has ${ownedTanks} tanks, tank_count says ${tank_count}`);
  return {
    where: `customer ${id}`,
    found: [...withDamage(isDamaged, objectErrors(errorInCustomer(customer, notifications), deletedFlag)), ...count],
  };
}

/** Damage is reported unless a rule says more about it. */
function withDamage(isDamaged: boolean, errors: readonly Inconsistency[]): readonly Inconsistency[] {
  return isDamaged && errors.length === 0 ? unrepairable(`${DAMAGED}: restore a backup, or import it again`) : errors;
}

/** What the rules of the interface say of a stored object. */
function objectErrors(error: string | undefined, deletedFlag: unknown): Inconsistency[] {
  const flag = isFlag(deletedFlag) ? undefined : `deleted: should be 0 or 1, it is ${deletedFlag}`;
  return [error, flag]
    .filter((message) => message !== undefined)
    .flatMap((message) => unrepairable(`${message}; correct it and import it again`));
}

const isFlag = (value: unknown): boolean => typeof value === "boolean" || value === 0 || value === 1;
export const isLive = ({ deletedFlag }: TankRow): boolean => Number(deletedFlag) === 0;

export type CheckedTank = CheckResult & { readonly row: TankRow; readonly readings: CheckedReadings };

/** `rows` are all tanks from the first to the last of them, by id. */
export async function checkTanks(reads: CheckOperations, rows: readonly TankRow[]): Promise<CheckedTank[]> {
  const ids = rows.map(({ tank }) => tank.id);
  const blocks = await reads.blocksOf(ids[0] ?? "", ids.at(-1) ?? "");
  const groups = await reads.storedGroups("readings", ids);
  const alerts = await reads.alertsOf(ids[0] ?? "", ids.at(-1) ?? "");
  return rows.map((row) => checkTank(row, blocks.get(row.tank.id) ?? [], groups.get(row.tank.id) ?? [], alerts));
}

function checkTank(
  row: TankRow,
  blocks: readonly BlockRow[],
  groups: readonly StoredGroup[],
  { of: alertsOf, settings }: StoredAlerts,
): CheckedTank {
  const { tank, head, deletedFlag, hasOwner, isDamaged } = row;
  const readings = checkReadings(tank.id, head, blocks);
  const { segments } = readings;
  const inBlocks = segments?.reduce((sum, { count }) => sum + count, 0);
  const wrongInBlocks = head != null && head.inBlocks !== null && inBlocks !== undefined && head.inBlocks !== inBlocks;
  const latest = readings.head && lastReading(readings.head);
  const alerts = isHeadDamaged(row, readings) ? [] : alertErrors(row, isLive(row), latest, alertsOf(tank.id), settings);
  const found = [
    ...withDamage(isDamaged, [
      ...(hasOwner
        ? []
        : unrepairable(`owner_id: there is no customer ${tank.owner_id}: import that customer, or restore a backup`)),
      ...objectErrors(errorInTank(tank), deletedFlag),
      ...settingErrors("shape", row.shape, errorsInShape),
      ...alertSettingErrors(row.alerts),
    ]),
    ...readings.found,
    ...(wrongInBlocks ? repairable(`it has ${inBlocks} readings in blocks, the head says ${head?.inBlocks}`) : []),
    ...(segments === undefined ? [] : checkRankIndex(groups, segments, [EARLIEST])),
    // Of a damaged tank it is unknown whether it belongs to the fleet, and which device is assigned to it.
    ...(isFlag(deletedFlag) && !isDamaged
      ? [...fleetErrors(row, readings), ...sortKeyErrors(row), ...assignmentErrors(row), ...alerts]
      : []),
  ];
  return { where: `tank ${tank.id}`, found, row, readings };
}

/** Whether the latest reading and the threshold that the fleet has are those of the tank. */
function fleetErrors(row: TankRow, readings: CheckedReadings): Inconsistency[] {
  const { tank, head, fleet } = row;
  if (isHeadDamaged(row, readings)) return [];
  const latest = readings.head && lastReading(readings.head);
  if (!isLive(row)) {
    if (fleet !== undefined) return repairable("it is deleted, but still in the fleet");
    const isStored = row.latest === undefined || head === undefined || hasReading(row.latest, latest);
    return isStored ? [] : repairable("the latest reading stored beside its head is another one");
  }
  if (fleet === undefined) return repairable("it is not in the fleet");
  const threshold = tank.min_fill_alert_percentage;
  const expected = fleetRow(latest);
  if (fleet.at === expected.at && fleet.fill === expected.fill && fleet.threshold === threshold) return [];
  const display = ({ at, fill }: FleetRow): string => (fill === null ? "none" : `${fill} at ${displayInstant(at)}`);
  return repairable(
    `its latest reading is ${display(expected)} with threshold ${threshold}, the fleet says ${display(fleet)} with ${fleet.threshold}`,
  );
}

/** Whether the sort keys fit the reading and the forecast beside them. These may be older than the latest reading: the job updates them. */
export function sortKeyErrors(row: TankRow): Inconsistency[] {
  const { tank, forecast } = row;
  if (!isLive(row)) return forecast === undefined ? [] : repairable("it is deleted, but still in the fleet order");
  if (forecast === undefined) return repairable("it is not in the fleet order");
  if (!forecast.isReadable) return repairable("its forecast cannot be read");
  const { at, fill } = forecast;
  const latest = fill === null ? null : { created_at: at, fill_percentage: fill };
  const { margin, urgency } = sortKeysOf(tank.min_fill_alert_percentage, latest, forecast.forecast);
  const isRight =
    forecast.margin === margin &&
    forecast.urgency === urgency &&
    forecast.owner_id === tank.owner_id &&
    (latest !== null || at === EARLIEST);
  return isRight ? [] : repairable("its sort keys in the fleet order are wrong");
}

function hasReading({ at, fill }: Pick<FleetRow, "at" | "fill">, latest: Reading | undefined): boolean {
  return at === (latest?.created_at ?? EARLIEST) && fill === (latest?.fill_percentage ?? null);
}

export function isHeadDamaged({ head }: TankRow, readings: CheckedReadings): boolean {
  return head !== undefined && readings.head === undefined;
}

function assignmentErrors(row: TankRow): Inconsistency[] {
  const { tank, deviceTank, isDeviceElsewhere } = row;
  // A device that two live tanks name is reported once, with the device.
  if (!isLive(row) || deviceTank === tank.id || isDeviceElsewhere) return [];
  const actual =
    deviceTank === undefined ? "is unknown" : deviceTank === null ? "is assigned to none" : `is assigned to ${deviceTank}`;
  return repairable(`its device ${deviceKey(tank.assigned_device_id)} should be assigned to it, but ${actual}`);
}

/** `name`: of the setting, such as "shape". */
function settingErrors(name: string, json: string | null, errorsIn: (value: unknown) => FieldError[]): Inconsistency[] {
  if (json === null) return [];
  const parsed = parseJson(json);
  if (parsed === undefined) return unrepairable(`its ${name} cannot be read: set it again`);
  const [error] = errorsIn(parsed.value);
  return error === undefined ? [] : unrepairable(`${error.field}: ${error.message}; set its ${name} again`);
}

function alertSettingErrors(alerts: TankAlertSettings): Inconsistency[] {
  const error = errorInTankAlertSettings(alerts);
  return error === undefined ? [] : unrepairable(`${error}; set it again`);
}

export async function checkDevices(reads: CheckOperations): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  const report = (device: string, found: Inconsistency[]): void => {
    if (found.length > 0) results.push({ where: `device ${device}`, found });
  };
  for (const { device, tanks } of await reads.sharedDevices()) {
    report(device, unrepairable(`it should be assigned to one tank, but ${tanks} name it: assign another device to one of them`));
  }
  for await (const device of reads.devices()) {
    report(device.id, deviceErrors(device, isMisassigned(device) && !(await isTankDamaged(reads, device))));
  }
  for await (const { assignment, hasTank } of reads.assignments()) {
    const { device, tankId, until, damage } = assignment;
    const problem = damage === undefined ? "which does not exist" : `but ${DAMAGED}`;
    const message = `it was assigned to tank ${tankId} until ${displayInstant(until)}, ${problem}: restore a backup`;
    if (!hasTank || damage !== undefined) report(device, unrepairable(message));
  }
  const pending = new Map<string, Inconsistencies>();
  for await (const { reading, isKnown } of reads.pendingReadings()) {
    const message = pendingError(reading);
    if (isKnown && message === undefined) continue;
    const found = pending.get(reading.device) ?? new Inconsistencies();
    if (!isKnown && !pending.has(reading.device)) found.add("unknown", true, () => "it has pending readings, but is unknown");
    if (message !== undefined) found.add("pending", false, () => message);
    pending.set(reading.device, found);
  }
  for (const [device, found] of pending) report(device, found.list());
  return results;
}

const isMisassigned = ({ id, tank, tankDevice }: DeviceRow): boolean =>
  tank !== null && (tankDevice === null || deviceKey(tankDevice) !== id);

/** If the tank row is damaged, the error is not in the device. */
async function isTankDamaged(reads: CheckOperations, { tank }: DeviceRow): Promise<boolean> {
  return (await reads.tank(String(tank))).some(({ isDamaged }) => isDamaged);
}

/** Devices that are assigned to the wrong tank are released; moves in the future become moves of now. */
export async function repairDevices(operations: CheckOperations, tx: StoreTransaction): Promise<void> {
  const devices = await Array.fromAsync(operations.devices());
  for (const device of devices) {
    if (isMisassigned(device) && !(await isTankDamaged(operations, device))) await operations.releaseDevice(device.id);
    if (isMovedAhead(device)) await moveToNow(operations, tx, device.id);
  }
  await operations.recountPending();
}

const isMovedAhead = ({ since, isDamaged }: DeviceRow): boolean => !isDamaged && isAhead(since, Date.now());

/** The first move in the future is between what was and what is. */
async function moveToNow(operations: CheckOperations, tx: StoreTransaction, id: string): Promise<void> {
  const now = Date.now();
  const { device, dropped } = (await tx.devices([id])).get(id) ?? { device: unknownDevice(id), dropped: 0 };
  const past = await tx.assignments([id]);
  if (past.some(({ damage }) => damage !== undefined)) return;
  const [first] = past.filter(({ until }) => isAhead(until, now));
  if (first !== undefined) {
    await operations.removeAssignments(id, first.until);
    await tx.putAssignments([{ ...first, until: now }]);
  }
  await tx.putDevices([{ device: { ...device, since: now }, dropped }]);
}

function deviceErrors(device: DeviceRow, isWrongTank: boolean): Inconsistency[] {
  const { tank, tankDevice, pending, counted, profile, since, isDamaged } = device;
  const actual = tankDevice === null ? "which is not a live tank" : `which has device ${tankDevice}`;
  return [
    ...(isWrongTank ? repairable(`it is assigned to tank ${tank}, ${actual}`) : []),
    ...(pending === counted ? [] : repairable(`it has ${counted} pending readings, its count says ${pending}`)),
    ...(isMovedAhead(device)
      ? repairable(`it was moved at ${displayInstant(since)}, which is in the future: the clock was ahead`)
      : []),
    ...withDamage(isDamaged, settingErrors("profile", profile, errorsInProfile)),
  ];
}

function pendingError({ created_at, fill, payload, damage }: MaybeDamaged<PendingReading>): string | undefined {
  const isReadable = payload === null ? fill !== null : isObject(parseJson(payload)?.value);
  if (isReadable && damage === undefined) return undefined;
  const unreadable = payload === null ? "has neither a fill nor a payload" : "has a payload that cannot be read";
  const problem = isReadable ? "is damaged: its checksum is wrong" : unreadable;
  return `its pending reading of ${displayInstant(created_at)} ${problem}: restore a backup, or delete the device with its pending readings`;
}

export async function checkKeys(reads: CheckOperations): Promise<CheckResult[]> {
  const keys = await reads.allKeys();
  const ids = new Set(keys.map(({ key }) => key.id));
  return keys.flatMap(({ key, hasCustomer }) => {
    const isLost = key.replaced_by !== null && !ids.has(key.replaced_by);
    const error = errorInKey(key) ?? (isLost ? `its successor ${key.replaced_by} does not exist` : undefined);
    const found = [
      ...(error === undefined ? [] : unrepairable(`${error}; revoke it and create another`)),
      ...(hasCustomer
        ? []
        : unrepairable(`customer_id: there is no customer ${key.customer_id}: import that customer, or revoke the key`)),
    ];
    return found.length === 0 ? [] : [{ where: `key ${key.id}`, found }];
  });
}

/** Entries are numbered from 1 without gaps. */
export async function checkAudit(reads: CheckOperations): Promise<CheckResult> {
  const { count, first, last } = await reads.auditNumbers();
  const isComplete = count === 0 || (first === 1 && last === count);
  const unreadable: number[] = [];
  for await (const [number, changes] of reads.auditChanges()) {
    if (!isObject(parseJson(changes)?.value)) unreadable.push(number);
    if (unreadable.length === MAX_ENTRIES_LISTED) break;
  }
  return {
    where: "the audit log",
    found: [
      ...(isComplete ? [] : unrepairable(`it has ${count} entries, numbered ${first} to ${last}: some are missing`)),
      ...(unreadable.length === 0
        ? []
        : unrepairable(`the changes of entry ${unreadable.join(", ")} cannot be read: restore a backup`)),
    ],
  };
}
