// Orders about devices: which tank one serves, and how its payloads are read.

import { differences } from "../audit.ts";
import type { TankWithShape } from "../changes.ts";
import { type Device, deviceKey, type ProfileChoice, unknownDevice } from "../device.ts";
import type { FieldError } from "../errors.ts";
import { isPossibleId } from "../id.ts";
import { ask, askFor, type Inquiry } from "../inquiry.ts";
import { formatInstant, type Instant } from "../instant.ts";
import { errorsInProfile, profileOf } from "../profile.ts";
import { deviceResource } from "../resource.ts";
import { idField, object } from "../schema.ts";
import { errorsInShape, type Shape } from "../shape.ts";
import { errorsInObject, isObject } from "../validate.ts";
import {
  type ChangeSet,
  changeSet,
  commandError,
  type IfMatch,
  invalidFields,
  isCommandError,
  type Planning,
  preconditionError,
} from "./command.ts";
import { withReleasedField } from "./released.ts";
import { completeShape, tankChangeSet, withShape } from "./tanks.ts";

const tank_id = idField("The tank that the device serves", "tank_01kxa8w5s0b6h1k3p5x9z2f4g7");
export const DeviceChange = object({ tank_id }, {}, ["tank_id"]);

/** No tag is empty. */
const NO_ETAG = "";

type DeviceInput = { readonly tank_id?: string; readonly profile?: ProfileChoice | null; readonly shape?: Shape | null };

/** What is not named stays. The shape is that of the tank which the device serves then. */
export function* putDevice(id: string, fields: unknown, ifMatch: IfMatch, swap: boolean, at: Instant): Planning {
  const key = deviceKey(id);
  if (!isPossibleId(key)) return commandError("device_unknown", "No device can have this id.");
  const known = yield* askFor("devices", key);
  const before = known ?? unknownDevice(key);
  // Of what is not there, no state can have been seen.
  const wrong = preconditionError(
    known === undefined && ifMatch !== undefined ? NO_ETAG : ifMatch,
    deviceResource({ device: before, waiting: 0, dropped: 0 }),
  );
  if (wrong !== undefined) return wrong;
  const tank = yield* tankFor(before, fields);
  const whole = withShape(tank?.shape ?? null, fields);
  const errors = [...deviceErrors(whole), ...tankErrors(fields, tank)];
  if (errors.length > 0) return invalidFields(errors);
  const given = whole as DeviceInput;
  const profile = given.profile === undefined ? before.profile : completeProfile(given.profile);
  const shape = given.shape === undefined ? (tank?.shape ?? null) : completeShape(given.shape);
  const moves = tank === undefined ? undefined : yield* tankChangeSet(tank, withDevice(tank, id, key), shape, swap, at);
  if (moves !== undefined && isCommandError(moves)) return moves;
  const device: Device = { ...before, tank_id: tank?.tank.id ?? before.tank_id, profile };
  return yield* deviceChangeSet(known, device, moves, replacedBy(key, tank));
}

/** A name stays one, so that what comes with the program can be put right. */
function completeProfile(profile: ProfileChoice | null): ProfileChoice | null {
  return typeof profile === "string" || profile === null ? profile : profileOf(profile);
}

/** A tank that has the device already keeps the id as it has it, in whatever case that is. */
function withDevice({ tank }: TankWithShape, id: string, key: string) {
  return deviceKey(tank.assigned_device_id) === key ? tank : { ...tank, assigned_device_id: id };
}

/** The device that the tank has had until now. */
function replacedBy(key: string, tank: TankWithShape | undefined): string | null {
  const had = tank?.tank.assigned_device_id ?? key;
  return deviceKey(had) === key ? null : had;
}

/** The tank that is named, or else the one it serves already. */
function* tankFor({ tank_id }: Device, fields: unknown): Inquiry<TankWithShape | undefined> {
  const { tank_id: given } = (fields ?? {}) as { tank_id?: unknown };
  const wanted = given === undefined ? tank_id : given;
  return typeof wanted === "string" && isPossibleId(wanted) ? yield* askFor("tanks", wanted) : undefined;
}

function deviceErrors(fields: unknown): FieldError[] {
  if (!isObject(fields)) return errorsInObject(DeviceChange, fields);
  const { profile = null, shape = null, ...rest } = fields;
  return [
    ...errorsInObject(DeviceChange, rest),
    ...(profile === null ? [] : errorsInProfile(profile, "profile")),
    ...(shape === null ? [] : errorsInShape(shape, "shape")),
  ];
}

function tankErrors(fields: unknown, tank: TankWithShape | undefined): FieldError[] {
  const { tank_id: given, shape } = (fields ?? {}) as { tank_id?: unknown; shape?: unknown };
  if (typeof given === "string" && tank === undefined) return [{ field: "tank_id", message: "names no tank" }];
  if (typeof given === "string" && tank?.deleted === true) return [{ field: "tank_id", message: "names a tank that is deleted" }];
  if (shape === undefined || tank !== undefined) return [];
  return [{ field: "shape", message: "is that of the tank which the device serves: name its tank_id too" }];
}

function* deviceChangeSet(
  known: Device | undefined,
  device: Device,
  moves: ChangeSet | undefined,
  replaced_device_id: string | null,
): Planning {
  const waiting = (yield* ask("waiting", [device.id])).get(device.id) ?? 0;
  const changes = differences({ profile: known?.profile ?? null }, { profile: device.profile });
  const isChanged = Object.keys(changes).length > 0;
  const deeds = isChanged ? [{ object: "device", id: device.id, action: "changed", changes } as const] : [];
  const isNew = known === undefined && moves === undefined;
  const devices = isChanged || isNew ? [{ id: device.id, profile: device.profile }] : [];
  const { object, etag: tag } = withReleasedField(deviceResource({ device, waiting, dropped: 0 }));
  const shown = { object: { ...object, replaced_device_id }, etag: tag };
  return { ...(moves ?? changeSet(shown, {})), resource: shown, devices, audit: [...(moves?.audit ?? []), ...deeds] };
}

/** Its profile and all that waits of it go. Where it has served stays known: what it measured then may still be on its way. */
export function* removeDevice(id: string, ifMatch: IfMatch): Planning {
  const key = deviceKey(id);
  const device = yield* askFor("devices", key);
  if (device === undefined) return commandError("device_unknown", "There is no device with this id.");
  const wrong = preconditionError(ifMatch, deviceResource({ device, waiting: 0, dropped: 0 }));
  if (wrong !== undefined) return wrong;
  if (device.tank_id !== null) {
    return commandError("device_in_use", `This device serves tank ${device.tank_id}. Give that tank another device first.`);
  }
  const removed = (yield* ask("waiting", [key])).get(key) ?? 0;
  const had = { profile: device.profile, waiting: removed === 0 ? null : removed };
  const deed = { object: "device", id: key, action: "deleted", changes: differences(had, {}) } as const;
  const last = (yield* ask("services", [key])).at(-1);
  const served = last === undefined ? null : { tank_id: last.tankId, until: formatInstant(last.until) };
  const gone = last === undefined ? { devicesRemoved: [key] } : { devices: [{ id: key, profile: null }] };
  const shown = { object: { id: key, object: "device", deleted: true, removed, served }, etag: "" };
  return changeSet(shown, { pendingRemoved: [key], audit: [deed], ...gone });
}
