// Commands on devices: which tank one is assigned to, and how its payloads are interpreted.

import { auditFields, differences } from "../audit.ts";
import type { TankState } from "../changes.ts";
import { type Device, type ProfileChoice, unknownDevice } from "../device.ts";
import type { FieldError } from "../errors.ts";
import { deviceKey, isDotSegment, isPossibleId } from "../id.ts";
import { formatInstant, type Instant } from "../instant.ts";
import { findOne, type Lookups } from "../lookups.ts";
import { errorsInProfile, profileOf } from "../profile.ts";
import { deviceResource } from "../resource.ts";
import { idField, object } from "../schema.ts";
import { errorsInShape, type Shape } from "../shape.ts";
import { errorsInObject, isObject } from "../validate.ts";
import {
  type Commands,
  changeSet,
  commandError,
  existing,
  invalidFields,
  isCommandError,
  type PlanResult,
  preconditionError,
  withReleasedField,
} from "./command.ts";
import { completeShape, tankChangeSet, withMergedShape } from "./tanks.ts";

const tank_id = idField("The tank that the device is assigned to", "tank_01kxa8w5s0b6h1k3p5x9z2f4g7");
export const DeviceChange = object({ tank_id }, {}, ["tank_id"]);

/** Matches no ETag. */
const NO_ETAG = "";

type DeviceInput = { readonly tank_id?: string; readonly profile?: ProfileChoice | null; readonly shape?: Shape | null };

/** Fields that are left out stay as they are. `shape` is that of the tank to which the device is assigned afterwards. */
export async function putDevice(
  lookups: Lookups,
  { id, fields, ifMatch, swap }: Commands["put_device"],
  at: Instant,
): PlanResult {
  const key = deviceKey(id);
  const known = isPossibleId(key) ? await findOne(lookups.devices, key) : undefined;
  if (known === undefined && (!isPossibleId(key) || isDotSegment(key))) {
    return commandError("device_unknown", "No device can have this id.");
  }
  const { device: before, pending } = known ?? { device: unknownDevice(key), pending: 0 };
  // An unknown device has no version that the client could have read.
  const expected = known === undefined && ifMatch !== undefined ? NO_ETAG : ifMatch;
  const precondition = preconditionError(expected, deviceResource({ device: before, pending: 0, dropped: 0 }));
  if (precondition !== undefined) return precondition;
  const tank = await tankFor(lookups, before, fields);
  const complete = withMergedShape(tank?.shape ?? null, fields);
  const errors = [...deviceErrors(complete), ...tankReferenceErrors(fields, tank)];
  if (errors.length > 0) return invalidFields(errors);
  const input = complete as DeviceInput;
  const profile = input.profile === undefined ? before.profile : completeProfile(input.profile);
  const move = tank && (await tankChangeSet(lookups, tank, withDevice(tank, id, key, input.shape), swap, at));
  if (move !== undefined && isCommandError(move)) return move;
  const device: Device = { ...before, tank_id: tank?.tank.id ?? before.tank_id, profile };
  const { object, etag } = withReleasedField(deviceResource({ device, pending, dropped: 0 }));
  const resource = { object: { ...object, replaced_device_id: replacedDevice(key, tank) }, etag };
  const audit = auditFields("device", key, { profile: before.profile }, { profile });
  const isNew = known === undefined && move === undefined;
  return {
    ...(move ?? changeSet(resource, {})),
    resource,
    profiles: audit.length > 0 || isNew ? [{ id: key, profile }] : [],
    audit,
  };
}

/** A built-in profile is stored by its name, so that corrections of it take effect. */
export function completeProfile(profile: ProfileChoice | null): ProfileChoice | null {
  return typeof profile === "string" || profile === null ? profile : profileOf(profile);
}

/** A tank that has the device already keeps the spelling of its id. */
function withDevice(before: TankState, id: string, key: string, shape = before.shape): TankState {
  const isSame = deviceKey(before.tank.assigned_device_id) === key;
  return { ...before, shape: completeShape(shape), tank: isSame ? before.tank : { ...before.tank, assigned_device_id: id } };
}

function replacedDevice(key: string, tank: TankState | undefined): string | null {
  const old = tank?.tank.assigned_device_id ?? key;
  return deviceKey(old) === key ? null : old;
}

/** The tank that is named, or else the one that the device is assigned to. */
async function tankFor(lookups: Lookups, { tank_id }: Device, fields: unknown): Promise<TankState | undefined> {
  const { tank_id: given = tank_id } = (fields ?? {}) as { tank_id?: unknown };
  return typeof given === "string" && isPossibleId(given) ? findOne(lookups.tanks, given) : undefined;
}

function deviceErrors(fields: unknown): FieldError[] {
  if (!isObject(fields)) return errorsInObject(DeviceChange, fields);
  const { profile = null, shape = null, ...rest } = fields;
  return [
    ...errorsInObject(DeviceChange, rest),
    ...(profile === null ? [] : errorsInProfile(profile)),
    ...(shape === null ? [] : errorsInShape(shape)),
  ];
}

function tankReferenceErrors(fields: unknown, tank: TankState | undefined): FieldError[] {
  const { tank_id: given, shape } = (fields ?? {}) as { tank_id?: unknown; shape?: unknown };
  if (typeof given === "string" && tank === undefined) return [{ field: "tank_id", message: "no such tank" }];
  if (typeof given === "string" && tank?.deleted === true) return [{ field: "tank_id", message: "this tank is deleted" }];
  if (shape === undefined || tank !== undefined) return [];
  return [{ field: "shape", message: "belongs to the tank that the device is assigned to: give its tank_id too" }];
}

/** Past assignments stay: readings of that time may still arrive. */
export async function removeDevice(lookups: Lookups, { id, ifMatch }: Commands["remove_device"]): PlanResult {
  const key = deviceKey(id);
  const known = existing("device", await findOne(lookups.devices, key), ifMatch, deviceResource);
  if (isCommandError(known)) return known;
  const { device, pending: removed } = known;
  if (device.tank_id !== null) {
    return commandError("device_in_use", `This device is assigned to tank ${device.tank_id}. Assign another device to it first.`);
  }
  const before = { profile: device.profile, pending: removed === 0 ? null : removed };
  const last = (await lookups.assignments([key])).at(-1);
  const last_assignment = last === undefined ? null : { tank_id: last.tankId, until: formatInstant(last.until) };
  return changeSet(
    { object: { id: key, object: "device", deleted: true, removed, last_assignment }, etag: "" },
    {
      pendingRemoved: [key],
      audit: [{ object: "device", id: key, action: "deleted", changes: differences(before, {}) }],
      ...(last === undefined ? { devicesRemoved: [key] } : { profiles: [{ id: key, profile: null }] }),
    },
  );
}
