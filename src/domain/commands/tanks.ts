// Orders about tanks.

import { differences } from "../audit.ts";
import { type Change, hasSameFields, type TankState, type TankWithShape } from "../changes.ts";
import { deviceKey } from "../device.ts";
import type { FieldError } from "../errors.ts";
import { ask, askFor, type Inquiry } from "../inquiry.ts";
import { type Instant, laterThan } from "../instant.ts";
import { tankResource } from "../resource.ts";
import { object, partial, type Static } from "../schema.ts";
import { errorsInShape, mergeShape, type Shape, shapeOf } from "../shape.ts";
import { Location, NO_LOCATION, type Tank, TankObject } from "../tank.ts";
import { errorsInObject, isObject } from "../validate.ts";
import {
  type ChangeSet,
  type CommandError,
  changeSet,
  commandError,
  type IfMatch,
  idTaken,
  invalidFields,
  isCommandError,
  type Planning,
  preconditionError,
} from "./command.ts";
import { withReleasedField } from "./released.ts";

const { id, object: _object, created_at: _created, updated_at: _updated, ...fields } = TankObject.properties;
const SomeOfLocation = partial(Location, { description: "Of the location, what is to be set" });
const changeable = { ...fields, location: SomeOfLocation };

export const TankChange = partial({ properties: changeable }, { description: "What is to change; the rest stays" });
export const NewTank = object({ id, ...changeable }, { description: "A tank to be made" }, [
  "id",
  "custom_id",
  "location",
  "use_case",
]);
export const TankRestoring = object({ assigned_device_id: changeable.assigned_device_id }, {}, ["assigned_device_id"]);

export type TankInput = Partial<Omit<Static<typeof NewTank>, "location">> & {
  location?: Partial<Location>;
  shape?: Shape | null;
};

/** Of many devices, as many as can be read at a glance. */
const MAX_DEVICES_LISTED = 5;

export function* createTank(newId: string, fields: unknown, at: Instant): Planning {
  const errors = [...tankErrors(NewTank, fields), ...(yield* ownerErrors(fields))];
  if (errors.length > 0) return invalidFields(errors);
  const after = newTank(fields as TankInput, newId, at);
  const { tank, shape } = after;
  if ((yield* askFor("tanks", tank.id)) !== undefined) return idTaken("tank", tank.id);
  const inUse = yield* deviceInUse(tank);
  if (inUse !== undefined) return { ...inUse.error, detail: `${inUse.error.detail}.` };
  return changeSet(withReleasedField(tankResource(after)), {
    tanks: [{ id: tank.id, before: undefined, after }],
    ...shapeChange(tank.id, null, shape),
  });
}

/** Of fields without faults. */
export function newTank(fields: TankInput, newId: string, at: Instant): TankWithShape {
  const { shape = null, location, ...given } = fields as TankInput & Omit<Tank, "location">;
  const tank: Tank = {
    ...given,
    id: given.id ?? newId,
    created_at: at,
    custom_id: given.custom_id ?? null,
    location: { ...NO_LOCATION, ...location },
    updated_at: at,
    use_case: given.use_case ?? null,
  };
  return { tank, deleted: false, shape: completeShape(shape) };
}

/** With what was left out. */
export function completeShape(shape: Shape | null): Shape | null {
  return shape === null ? null : shapeOf(shape);
}

export function* changeTank(tankId: string, fields: unknown, ifMatch: IfMatch, swap: boolean, at: Instant): Planning {
  const before = yield* loadTank(tankId, ifMatch);
  if (isCommandError(before)) return before;
  if (before.deleted) return commandError("state_conflict", "This tank is deleted. Restore it before changing it.");
  const whole = withShape(before.shape, fields);
  const errors = [...tankErrors(TankChange, whole), ...(yield* ownerErrors(fields))];
  if (errors.length > 0) return invalidFields(errors);
  const { tank, shape } = merged(before, whole as TankInput);
  return yield* tankChangeSet(before, tank, shape, swap, at);
}

/** The fields, with the shape as it becomes. */
export function withShape(before: Shape | null, fields: unknown): unknown {
  return isObject(fields) && fields["shape"] !== undefined ? { ...fields, shape: mergeShape(before, fields["shape"]) } : fields;
}

/** With what is given in the place of what was. */
export function merged(before: TankWithShape, { shape = before.shape, location, ...given }: TankInput): TankWithShape {
  return {
    ...before,
    shape: completeShape(shape),
    tank: { ...before.tank, ...given, location: { ...before.tank.location, ...location } },
  };
}

/** The tank as it shall be; where its new device serves another tank, that one gets the old one, if both shall be swapped. */
export function* tankChangeSet(before: TankWithShape, wanted: Tank, shape: Shape | null, swap: boolean, at: Instant): Planning {
  const shapes = shapeChange(wanted.id, before.shape, shape);
  if (hasSameFields(wanted, before.tank)) return changeSet(withReleasedField(tankResource({ ...before, shape })), shapes);
  const after = { ...before, shape, tank: { ...wanted, updated_at: laterThan(before.tank.updated_at, at) } };
  const shown = withReleasedField(tankResource(after));
  const change = { id: wanted.id, before, after };
  const inUse = yield* deviceInUse(wanted);
  if (inUse === undefined) return changeSet(shown, { tanks: [change], ...shapes });
  if (!swap) {
    const detail = `${inUse.error.detail}, or add swap=true: both tanks then exchange their devices.`;
    return { ...inUse.error, detail };
  }
  const { other } = inUse;
  const { assigned_device_id } = before.tank;
  const tank = { ...other.tank, assigned_device_id, updated_at: laterThan(other.tank.updated_at, at) };
  return changeSet(shown, { tanks: [change, { id: tank.id, before: other, after: { ...other, tank } }], ...shapes });
}

/** The shape is no data field of the interface: it changes without `updated_at`. */
export function shapeChange(tankId: string, from: Shape | null, to: Shape | null): Partial<ChangeSet> {
  const changes = differences({ shape: from }, { shape: to });
  if (Object.keys(changes).length === 0) return {};
  return { shapes: new Map([[tankId, to]]), audit: [{ object: "tank", id: tankId, action: "changed", changes }] };
}

export function* deleteTank(tankId: string, ifMatch: IfMatch): Planning {
  const before = yield* loadTank(tankId, ifMatch);
  if (isCommandError(before)) return before;
  const after = { ...before, deleted: true };
  return changeSet(tankResource(after), before.deleted ? {} : { tanks: [{ id: tankId, before, after }] });
}

export function* restoreTank(tankId: string, fields: unknown, ifMatch: IfMatch, at: Instant): Planning {
  const before = yield* loadTank(tankId, ifMatch);
  if (isCommandError(before)) return before;
  if (!before.deleted) return changeSet(withReleasedField(tankResource(before)), {});
  const errors = errorsInObject(TankRestoring, fields ?? {});
  if (errors.length > 0) return invalidFields(errors);
  const owner = yield* askFor("customers", before.tank.owner_id);
  if (owner?.deleted === true) {
    return commandError(
      "state_conflict",
      `The owner of this tank, ${owner.customer.id}, is deleted. Restore that customer first; with tanks=false, without its tanks.`,
    );
  }
  const { assigned_device_id = before.tank.assigned_device_id } = (fields ?? {}) as TankInput;
  const isSame = assigned_device_id === before.tank.assigned_device_id;
  const updated_at = isSame ? before.tank.updated_at : laterThan(before.tank.updated_at, at);
  const tanks = yield* restoreTanks(
    [{ ...before, tank: { ...before.tank, assigned_device_id, updated_at } }],
    "Restore with another assigned_device_id, or give that tank another device first.",
  );
  if (isCommandError(tanks)) return tanks;
  const [change] = tanks;
  return changeSet(withReleasedField(tankResource({ ...before, ...change?.after })), {
    tanks: [{ id: tankId, before, after: change?.after ?? before }],
  });
}

/** Deleted tanks that come back, each with its device; refused where one of these has gone to another tank: `wayOut` says what helps. */
export function* restoreTanks(tanks: readonly TankWithShape[], wayOut: string): Inquiry<Change<TankState>[] | CommandError> {
  const devices = yield* ask(
    "devices",
    tanks.map(({ tank }) => deviceKey(tank.assigned_device_id)),
  );
  const used = tanks.filter(({ tank }) => (devices.get(deviceKey(tank.assigned_device_id))?.tank_id ?? null) !== null);
  if (used.length > 0) {
    const list = used.map(({ tank }) => {
      const key = deviceKey(tank.assigned_device_id);
      return `${tank.assigned_device_id} of tank ${tank.id} (serves tank ${devices.get(key)?.tank_id} now)`;
    });
    const more = used.length > MAX_DEVICES_LISTED ? ` and ${used.length - MAX_DEVICES_LISTED} more` : "";
    const who = `${used.length === 1 ? "The device" : "The devices"} ${list.slice(0, MAX_DEVICES_LISTED).join(", ")}${more}`;
    return commandError("device_in_use", `${who} ${used.length === 1 ? "has" : "have"} gone to another tank. ${wayOut}`);
  }
  return tanks.map((before) => ({ id: before.tank.id, before, after: { ...before, deleted: false } }));
}

function* loadTank(tankId: string, ifMatch: IfMatch): Inquiry<TankWithShape | CommandError> {
  const tank = yield* askFor("tanks", tankId);
  if (tank === undefined) return commandError("tank_unknown", "There is no tank with this id.");
  return preconditionError(ifMatch, tankResource(tank)) ?? tank;
}

/** The shape has rules of its own. */
export function tankErrors(schema: typeof NewTank | typeof TankChange, fields: unknown): FieldError[] {
  if (!isObject(fields)) return errorsInObject(schema, fields);
  const { shape = null, ...rest } = fields;
  return [...errorsInObject(schema, rest), ...(shape === null ? [] : errorsInShape(shape, "shape"))];
}

function* ownerErrors(fields: unknown): Inquiry<FieldError[]> {
  const { owner_id } = (fields ?? {}) as { owner_id?: unknown };
  if (typeof owner_id !== "string") return [];
  const owner = yield* askFor("customers", owner_id);
  if (owner === undefined) return [{ field: "owner_id", message: "names no customer" }];
  return owner.deleted ? [{ field: "owner_id", message: "names a customer that is deleted" }] : [];
}

/** The refusal's last sentence is left open. */
type InUse = { readonly other: TankWithShape; readonly error: CommandError };

/** The live tank beside this one that the device serves. */
function* deviceInUse({ id: tankId, assigned_device_id }: Tank): Inquiry<InUse | undefined> {
  const device = yield* askFor("devices", deviceKey(assigned_device_id));
  const otherId = device?.tank_id ?? null;
  if (otherId === null || otherId === tankId) return undefined;
  const other = yield* askFor("tanks", otherId);
  if (other === undefined) return undefined;
  const detail = `Device ${assigned_device_id} serves tank ${otherId}. Give that tank another device first`;
  return { other, error: commandError("device_in_use", detail) };
}
