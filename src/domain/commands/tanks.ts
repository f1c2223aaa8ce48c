// Commands on tanks.

import { isDeepStrictEqual } from "node:util";
import {
  DEFAULT_TANK_ALERT_SETTINGS,
  errorsInTankAlertSettings,
  mergeTankAlertSettings,
  type TankAlertSettingsInput,
} from "../alerts/tank-alert-settings.ts";
import { hasSameFields, type TankState } from "../changes.ts";
import { DeviceUse } from "../device.ts";
import type { FieldError } from "../errors.ts";
import { deviceKey } from "../id.ts";
import { type Instant, nextUpdatedAt } from "../instant.ts";
import { findOne, type Lookups } from "../lookups.ts";
import { tankResource } from "../resource.ts";
import { NEW_ID_PATTERN, object, partial, type Static } from "../schema.ts";
import { errorsInShape, mergeShape, type Shape, shapeOf } from "../shape.ts";
import { Location, NO_LOCATION, type Tank, TankObject } from "../tank.ts";
import { errorsInObject, isObject } from "../validate.ts";
import {
  type CommandError,
  type Commands,
  changeSet,
  commandError,
  customerReferenceErrors,
  existing,
  idTaken,
  invalidFields,
  isCommandError,
  type PlanResult,
  withReleasedField,
} from "./command.ts";

const { id: existingId, object: _object, created_at: _created, updated_at: _updated, ...rest } = TankObject.properties;
const LocationChange = partial(Location, { description: "The fields of the location to change" });
const id = { ...existingId, pattern: NEW_ID_PATTERN };
const changeable = {
  ...rest,
  assigned_device_id: { ...rest.assigned_device_id, pattern: NEW_ID_PATTERN },
  location: LocationChange,
};

export const TankChange = partial({ properties: changeable }, { description: "The fields to change" });
export const NewTank = object({ id, ...changeable }, { description: "A tank to create" }, [
  "id",
  "custom_id",
  "location",
  "use_case",
]);
export const TankRestoring = object({ assigned_device_id: changeable.assigned_device_id }, {}, ["assigned_device_id"]);

export type TankInput = Partial<Omit<Static<typeof NewTank>, "location">> & {
  location?: Partial<Location>;
  shape?: Shape | null;
  alerts?: TankAlertSettingsInput;
};

const MAX_DEVICES_LISTED = 5;

export async function createTank(lookups: Lookups, { newId, fields }: Commands["create_tank"], at: Instant): PlanResult {
  const errors = [...tankErrors(NewTank, fields), ...(await ownerErrors(lookups, fields))];
  if (errors.length > 0) return invalidFields(errors);
  const after = newTank(fields as TankInput, newId, at);
  const { id } = after.tank;
  if ((await findOne(lookups.tanks, id)) !== undefined) return idTaken("tank", id);
  const other = await otherTankOfDevice(lookups, after.tank);
  if (other !== undefined) return deviceInUse(after.tank, other, "Assign another device to that tank first.");
  return changeSet(withReleasedField(tankResource(after)), { tanks: [{ id, before: undefined, after }] });
}

/** `fields` have been validated. */
export function newTank(fields: TankInput, newId: string, at: Instant): TankState {
  const { shape = null, alerts, location, ...input } = fields as TankInput & Omit<Tank, "location">;
  const tank: Tank = {
    ...input,
    id: input.id ?? newId,
    created_at: at,
    custom_id: input.custom_id ?? null,
    location: { ...NO_LOCATION, ...location },
    updated_at: at,
    use_case: input.use_case ?? null,
  };
  return {
    tank,
    deleted: false,
    deletedAt: null,
    shape: completeShape(shape),
    alerts: mergeTankAlertSettings(DEFAULT_TANK_ALERT_SETTINGS, alerts),
  };
}

/** The shape with its defaults. */
export function completeShape(shape: Shape | null): Shape | null {
  return shape === null ? null : shapeOf(shape);
}

export async function changeTank(
  lookups: Lookups,
  { id, fields, ifMatch, swap }: Commands["change_tank"],
  at: Instant,
): PlanResult {
  const before = existing("tank", await findOne(lookups.tanks, id), ifMatch, tankResource);
  if (isCommandError(before)) return before;
  if (before.deleted) return commandError("state_conflict", "This tank is deleted. Restore it before you change it.");
  const complete = withMergedShape(before.shape, fields);
  const errors = [...tankErrors(TankChange, complete), ...(await ownerErrors(lookups, fields))];
  if (errors.length > 0) return invalidFields(errors);
  return tankChangeSet(lookups, before, mergeTank(before, complete as TankInput), swap, at);
}

/** The fields, with a partial shape completed from the current one. */
export function withMergedShape(before: Shape | null, fields: unknown): unknown {
  return isObject(fields) && fields["shape"] !== undefined ? { ...fields, shape: mergeShape(before, fields["shape"]) } : fields;
}

export function mergeTank(before: TankState, { shape = before.shape, alerts, location, ...input }: TankInput): TankState {
  return {
    ...before,
    shape: completeShape(shape),
    alerts: mergeTankAlertSettings(before.alerts, alerts),
    tank: { ...before.tank, ...input, location: { ...before.tank.location, ...location } },
  };
}

/** Returns `before` itself if nothing changes. Shape and alerts are not public fields: changing them leaves `updated_at` as it is. */
export function changedTank(before: TankState, wanted: TankState, at: Instant): TankState {
  const isSame = hasSameFields(wanted.tank, before.tank);
  const hasSameSettings = isDeepStrictEqual([wanted.shape, wanted.alerts], [before.shape, before.alerts]);
  if (isSame && hasSameSettings) return before;
  return isSame ? wanted : { ...wanted, tank: { ...wanted.tank, updated_at: nextUpdatedAt(before.tank.updated_at, at) } };
}

/** If the new device is in use and `swap` is set, both tanks swap their devices. */
export async function tankChangeSet(
  lookups: Lookups,
  before: TankState,
  wanted: TankState,
  swap: boolean,
  at: Instant,
): PlanResult {
  const after = changedTank(before, wanted, at);
  const resource = withReleasedField(tankResource(after));
  if (after === before) return changeSet(resource, {});
  const change = { id: after.tank.id, before, after };
  const other = await otherTankOfDevice(lookups, after.tank);
  if (other === undefined) return changeSet(resource, { tanks: [change] });
  if (!swap) {
    const hint = "Assign another device to that tank first, or add swap=true: both tanks then swap their devices.";
    return deviceInUse(after.tank, other, hint);
  }
  const { assigned_device_id } = before.tank;
  const tank = { ...other.tank, assigned_device_id, updated_at: nextUpdatedAt(other.tank.updated_at, at) };
  return changeSet(resource, { tanks: [change, { id: tank.id, before: other, after: { ...other, tank } }] });
}

export async function deleteTank(lookups: Lookups, { id, ifMatch }: Commands["delete_tank"], at: Instant): PlanResult {
  const before = existing("tank", await findOne(lookups.tanks, id), ifMatch, tankResource);
  if (isCommandError(before)) return before;
  const after = before.deleted ? before : { ...before, deleted: true, deletedAt: at };
  return changeSet(tankResource(after), before.deleted ? {} : { tanks: [{ id, before, after }] });
}

export async function restoreTank(lookups: Lookups, command: Commands["restore_tank"], at: Instant): PlanResult {
  const { id, fields = {}, ifMatch } = command;
  const before = existing("tank", await findOne(lookups.tanks, id), ifMatch, tankResource);
  if (isCommandError(before)) return before;
  const errors = errorsInObject(TankRestoring, fields);
  if (errors.length > 0) return invalidFields(errors);
  if (!before.deleted) return changeSet(withReleasedField(tankResource(before)), {});
  const owner = await findOne(lookups.customers, before.tank.owner_id);
  if (owner?.deleted === true) {
    const hint = "Restore that customer first; with tanks=false, without its tanks.";
    return commandError("state_conflict", `The owner of this tank, ${owner.customer.id}, is deleted. ${hint}`);
  }
  const after = { ...changedTank(before, mergeTank(before, fields as TankInput), at), deleted: false, deletedAt: null };
  const hint = "Restore with another assigned_device_id, or assign another device to that tank first.";
  const conflict = await deviceConflict(lookups, [after], hint);
  return conflict ?? changeSet(withReleasedField(tankResource(after)), { tanks: [{ id, before, after }] });
}

/** An error if devices of tanks to restore are in use; `hint` says what to do then. */
export async function deviceConflict(
  lookups: Lookups,
  tanks: readonly TankState[],
  hint: string,
): Promise<CommandError | undefined> {
  const use = await deviceUseOf(lookups, tanks);
  const inUse = tanks.flatMap(({ tank }) => {
    const other = use.conflictOf(tank);
    if (other !== undefined) return [`${tank.assigned_device_id} of tank ${tank.id} (now assigned to tank ${other})`];
    use.assign(tank);
    return [];
  });
  if (inUse.length === 0) return undefined;
  const more = inUse.length > MAX_DEVICES_LISTED ? ` and ${inUse.length - MAX_DEVICES_LISTED} more` : "";
  const devices = `${inUse.slice(0, MAX_DEVICES_LISTED).join(", ")}${more}`;
  return commandError("device_in_use", `${inUse.length === 1 ? "Device" : "Devices"} in use: ${devices}. ${hint}`);
}

export function tankErrors(schema: typeof NewTank | typeof TankChange, fields: unknown): FieldError[] {
  if (!isObject(fields)) return errorsInObject(schema, fields);
  const { shape = null, alerts, ...rest } = fields;
  return [
    ...errorsInObject(schema, rest),
    ...(shape === null ? [] : errorsInShape(shape)),
    ...(alerts === undefined ? [] : errorsInTankAlertSettings(alerts)),
  ];
}

async function ownerErrors(lookups: Lookups, fields: unknown): Promise<FieldError[]> {
  const { owner_id } = (fields ?? {}) as { owner_id?: unknown };
  return typeof owner_id === "string" ? customerReferenceErrors("owner_id", await findOne(lookups.customers, owner_id)) : [];
}

async function deviceUseOf(lookups: Lookups, tanks: readonly { readonly tank: Tank }[]): Promise<DeviceUse> {
  return new DeviceUse(await lookups.devices(tanks.map(({ tank }) => deviceKey(tank.assigned_device_id))));
}

/** The other live tank that the tank's device is assigned to. */
async function otherTankOfDevice(lookups: Lookups, tank: Tank): Promise<TankState | undefined> {
  const otherId = (await deviceUseOf(lookups, [{ tank }])).conflictOf(tank);
  return otherId === undefined ? undefined : findOne(lookups.tanks, otherId);
}

function deviceInUse({ assigned_device_id }: Tank, { tank }: TankState, hint: string): CommandError {
  return commandError("device_in_use", `Device ${assigned_device_id} is assigned to tank ${tank.id}. ${hint}`);
}
