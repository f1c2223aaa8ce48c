// Orders about tanks.

import { differences } from "../audit.ts";
import { faultsInObject } from "../check.ts";
import { deviceKey } from "../device.ts";
import type { Fault } from "../errors.ts";
import { isObject } from "../faults.ts";
import { type Change, isAlike, type ShapedTank, type TankState } from "../fleet.ts";
import { ask, askFor, type Inquiry } from "../inquiry.ts";
import { type Instant, laterThan } from "../instant.ts";
import { shownTank } from "../managed.ts";
import { object, partial, type Static } from "../schema.ts";
import { changedShape, faultsInShape, type Shape, shapeOf } from "../shape.ts";
import { Location, NOWHERE, type Tank, TankObject } from "../tank.ts";
import {
  type Deciding,
  type Decision,
  decision,
  type IfMatch,
  isRefused,
  type Refused,
  refused,
  taken,
  unmatched,
  wrongFields,
} from "./order.ts";
import { takingIn } from "./taken.ts";

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

export type GivenTank = Partial<Omit<Static<typeof NewTank>, "location">> & {
  location?: Partial<Location>;
  shape?: Shape | null;
};

/** Of many devices, as many as can be read at a glance. */
const DEVICES_TOLD = 5;

export function* createTank(newId: string, fields: unknown, at: Instant): Deciding {
  const errors = [...faultsInTank(NewTank, fields), ...(yield* faultsInOwner(fields))];
  if (errors.length > 0) return wrongFields(errors);
  const after = newTank(fields as GivenTank, newId, at);
  const { tank, shape } = after;
  if ((yield* askFor("tanks", tank.id)) !== undefined) return taken("tank", tank.id);
  const inUse = yield* deviceInUse(tank);
  if (inUse !== undefined) return { ...inUse.refusal, detail: `${inUse.refusal.detail}.` };
  return decision(takingIn(shownTank(after)), {
    tanks: [{ id: tank.id, before: undefined, after }],
    ...reshaping(tank.id, null, shape),
  });
}

/** Of fields without faults. */
export function newTank(fields: GivenTank, newId: string, at: Instant): ShapedTank {
  const { shape = null, location, ...given } = fields as GivenTank & Omit<Tank, "location">;
  const tank: Tank = {
    ...given,
    id: given.id ?? newId,
    created_at: at,
    custom_id: given.custom_id ?? null,
    location: { ...NOWHERE, ...location },
    updated_at: at,
    use_case: given.use_case ?? null,
  };
  return { tank, deleted: false, shape: wholeShape(shape) };
}

/** With what was left out. */
export function wholeShape(shape: Shape | null): Shape | null {
  return shape === null ? null : shapeOf(shape);
}

export function* changeTank(tankId: string, fields: unknown, ifMatch: IfMatch, swap: boolean, at: Instant): Deciding {
  const before = yield* knownTank(tankId, ifMatch);
  if (isRefused(before)) return before;
  if (before.deleted) return refused("state_conflict", "This tank is deleted. Restore it before changing it.");
  const whole = withShape(before.shape, fields);
  const errors = [...faultsInTank(TankChange, whole), ...(yield* faultsInOwner(fields))];
  if (errors.length > 0) return wrongFields(errors);
  const { tank, shape } = merged(before, whole as GivenTank);
  return yield* changing(before, tank, shape, swap, at);
}

/** The fields, with the shape as it becomes. */
export function withShape(before: Shape | null, fields: unknown): unknown {
  return isObject(fields) && fields["shape"] !== undefined ? { ...fields, shape: changedShape(before, fields["shape"]) } : fields;
}

/** With what is given in the place of what was. */
export function merged(before: ShapedTank, { shape = before.shape, location, ...given }: GivenTank): ShapedTank {
  return {
    ...before,
    shape: wholeShape(shape),
    tank: { ...before.tank, ...given, location: { ...before.tank.location, ...location } },
  };
}

/** The tank as it shall be; where its new device serves another tank, that one gets the old one, if both shall be swapped. */
export function* changing(before: ShapedTank, wanted: Tank, shape: Shape | null, swap: boolean, at: Instant): Deciding {
  const shapes = reshaping(wanted.id, before.shape, shape);
  if (isAlike(wanted, before.tank)) return decision(takingIn(shownTank({ ...before, shape })), shapes);
  const after = { ...before, shape, tank: { ...wanted, updated_at: laterThan(before.tank.updated_at, at) } };
  const shown = takingIn(shownTank(after));
  const change = { id: wanted.id, before, after };
  const inUse = yield* deviceInUse(wanted);
  if (inUse === undefined) return decision(shown, { tanks: [change], ...shapes });
  if (!swap) {
    const detail = `${inUse.refusal.detail}, or add swap=true: both tanks then exchange their devices.`;
    return { ...inUse.refusal, detail };
  }
  const { other } = inUse;
  const { assigned_device_id } = before.tank;
  const tank = { ...other.tank, assigned_device_id, updated_at: laterThan(other.tank.updated_at, at) };
  return decision(shown, { tanks: [change, { id: tank.id, before: other, after: { ...other, tank } }], ...shapes });
}

/** The shape is no data field of the interface: it changes without `updated_at`. */
export function reshaping(tankId: string, from: Shape | null, to: Shape | null): Partial<Decision> {
  const changes = differences({ shape: from }, { shape: to });
  if (Object.keys(changes).length === 0) return {};
  return { shapes: new Map([[tankId, to]]), deeds: [{ object: "tank", id: tankId, action: "changed", changes }] };
}

export function* deleteTank(tankId: string, ifMatch: IfMatch): Deciding {
  const before = yield* knownTank(tankId, ifMatch);
  if (isRefused(before)) return before;
  const after = { ...before, deleted: true };
  return decision(shownTank(after), before.deleted ? {} : { tanks: [{ id: tankId, before, after }] });
}

export function* restoreTank(tankId: string, fields: unknown, ifMatch: IfMatch, at: Instant): Deciding {
  const before = yield* knownTank(tankId, ifMatch);
  if (isRefused(before)) return before;
  if (!before.deleted) return decision(takingIn(shownTank(before)), {});
  const errors = faultsInObject(TankRestoring, fields ?? {});
  if (errors.length > 0) return wrongFields(errors);
  const owner = yield* askFor("customers", before.tank.owner_id);
  if (owner?.deleted === true) {
    return refused(
      "state_conflict",
      `The owner of this tank, ${owner.customer.id}, is deleted. Restore that customer first; with tanks=false, without its tanks.`,
    );
  }
  const { assigned_device_id = before.tank.assigned_device_id } = (fields ?? {}) as GivenTank;
  const isSame = assigned_device_id === before.tank.assigned_device_id;
  const updated_at = isSame ? before.tank.updated_at : laterThan(before.tank.updated_at, at);
  const tanks = yield* restoring(
    [{ ...before, tank: { ...before.tank, assigned_device_id, updated_at } }],
    "Restore with another assigned_device_id, or give that tank another device first.",
  );
  if (isRefused(tanks)) return tanks;
  const [change] = tanks;
  return decision(takingIn(shownTank({ ...before, ...change?.after })), {
    tanks: [{ id: tankId, before, after: change?.after ?? before }],
  });
}

/** Deleted tanks that come back, each with its device; refused where one of these has gone to another tank: `wayOut` says what helps. */
export function* restoring(tanks: readonly ShapedTank[], wayOut: string): Inquiry<Change<TankState>[] | Refused> {
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
    const more = used.length > DEVICES_TOLD ? ` and ${used.length - DEVICES_TOLD} more` : "";
    const who = `${used.length === 1 ? "The device" : "The devices"} ${list.slice(0, DEVICES_TOLD).join(", ")}${more}`;
    return refused("device_in_use", `${who} ${used.length === 1 ? "has" : "have"} gone to another tank. ${wayOut}`);
  }
  return tanks.map((before) => ({ id: before.tank.id, before, after: { ...before, deleted: false } }));
}

function* knownTank(tankId: string, ifMatch: IfMatch): Inquiry<ShapedTank | Refused> {
  const tank = yield* askFor("tanks", tankId);
  if (tank === undefined) return refused("tank_unknown", "There is no tank with this id.");
  return unmatched(ifMatch, shownTank(tank)) ?? tank;
}

/** The shape has rules of its own. */
export function faultsInTank(schema: typeof NewTank | typeof TankChange, fields: unknown): Fault[] {
  if (!isObject(fields)) return faultsInObject(schema, fields);
  const { shape = null, ...rest } = fields;
  return [...faultsInObject(schema, rest), ...(shape === null ? [] : faultsInShape(shape, "shape"))];
}

function* faultsInOwner(fields: unknown): Inquiry<Fault[]> {
  const { owner_id } = (fields ?? {}) as { owner_id?: unknown };
  if (typeof owner_id !== "string") return [];
  const owner = yield* askFor("customers", owner_id);
  if (owner === undefined) return [{ field: "owner_id", message: "names no customer" }];
  return owner.deleted ? [{ field: "owner_id", message: "names a customer that is deleted" }] : [];
}

/** The refusal's last sentence is left open. */
type InUse = { readonly other: ShapedTank; readonly refusal: Refused };

/** The live tank beside this one that the device serves. */
function* deviceInUse({ id: tankId, assigned_device_id }: Tank): Inquiry<InUse | undefined> {
  const device = yield* askFor("devices", deviceKey(assigned_device_id));
  const otherId = device?.tank_id ?? null;
  if (otherId === null || otherId === tankId) return undefined;
  const other = yield* askFor("tanks", otherId);
  if (other === undefined) return undefined;
  const detail = `Device ${assigned_device_id} serves tank ${otherId}. Give that tank another device first`;
  return { other, refusal: refused("device_in_use", detail) };
}
