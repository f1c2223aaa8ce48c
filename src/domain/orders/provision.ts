// Many customers and tanks at once: all are judged, each on what the ones before it left, before any of them is written.

import { customerDeeds, type Deed, tankDeeds } from "../audit.ts";
import { deviceKey } from "../device.ts";
import type { Fault } from "../errors.ts";
import { isObject } from "../faults.ts";
import { type Change, type CustomerState, isAlike, type ShapedTank, type TankState } from "../fleet.ts";
import { ask, type Inquiry } from "../inquiry.ts";
import { type Instant, laterThan } from "../instant.ts";
import type { ManagedCustomer } from "../managed.ts";
import type { Shape } from "../shape.ts";
import { quoted } from "../text.ts";
import { CustomerChange, changedCustomer, faultsInCustomer, type GivenCustomer, NewCustomer, newCustomer } from "./customers.ts";
import { type Deciding, decision, type Provision, type ProvisionRow, wrongFields } from "./order.ts";
import { faultsInTank, type GivenTank, merged, NewTank, newTank, reshaping, TankChange, withShape } from "./tanks.ts";

/** More than anyone mends at once. */
const FAULTS_TOLD = 1000;

/** More than anyone reads; the rest is counted. */
const CHANGES_TOLD = 100;

type Count = { new: number; changed: number; unchanged: number };
type Known = {
  readonly customers: Map<string, ManagedCustomer>;
  readonly tanks: Map<string, ShapedTank>;
  /** Ids of customers whose own rows have faults. */
  readonly faulty: Set<string>;
  /** The live tank that each device serves, by its key. */
  readonly serves: Map<string, string | null>;
};

export function* provision({ customers, tanks }: Provision, isDry: boolean, at: Instant): Deciding {
  const before = yield* whatIsKnown(customers, tanks);
  const now: Known = {
    customers: new Map(before.customers),
    faulty: new Set(),
    tanks: new Map(before.tanks),
    serves: new Map(before.serves),
  };
  const faults = [...repeated(customers, "customers"), ...repeated(tanks, "tanks")];
  const counts = { customers: noCount(), tanks: noCount() };
  for (const [i, row] of customers.entries()) {
    if (faults.length > FAULTS_TOLD) break;
    const wrong = putCustomer(row, now, counts.customers, at);
    if (wrong.length > 0) now.faulty.add(idIn(row.fields) ?? row.newId);
    faults.push(...placed(wrong, `customers[${i}]`));
  }
  letGo(tanks, now);
  for (const [i, row] of tanks.entries()) {
    if (faults.length > FAULTS_TOLD) break;
    const wrong = putTank(row, now, counts.tanks, at);
    faults.push(...placed(wrong, `tanks[${i}]`));
  }
  if (faults.length > 0) return wrongFields(faults, FAULTS_TOLD);
  const changes = changesOf(before, now);
  const told = { ...counts, ...changesTold({ customers, tanks }, changes) };
  const shown = { object: { object: "provisioning", dry_run: isDry, ...told }, tag: "" };
  return decision(shown, isDry ? {} : changes);
}

/** Of two rows with one id, one would undo the other. */
function repeated(rows: readonly ProvisionRow[], kind: string): Fault[] {
  const places = new Map<string, number>();
  return rows.flatMap(({ fields }, i) => {
    const id = idIn(fields);
    const first = id === undefined ? undefined : places.get(id);
    if (id !== undefined && first === undefined) places.set(id, i);
    if (id === undefined || first === undefined) return [];
    return [{ field: `${kind}[${i}].id`, message: `${quoted(id)} stands in ${kind}[${first}] already` }];
  });
}

function idIn(fields: unknown): string | undefined {
  const id = isObject(fields) ? fields["id"] : undefined;
  return typeof id === "string" ? id : undefined;
}

/** What becomes different in what was there before, in the order of the rows. */
function changesTold(rows: Provision, { customers, tanks, deeds }: ReturnType<typeof changesOf>) {
  const made = new Set(tanks.filter(({ before }) => before === undefined).map(({ id }) => id));
  const reshaped = deeds.filter(({ id }) => !made.has(id));
  const changed = [...customerDeeds(customers), ...tankDeeds(tanks), ...reshaped].filter(({ action }) => action === "changed");
  const byId = Map.groupBy(changed, ({ object, id }) => `${object}s ${id}`);
  const changes = (["customers", "tanks"] as const).flatMap((kind) =>
    rows[kind].flatMap(({ fields }, i) =>
      (byId.get(`${kind} ${idIn(fields)}`) ?? []).flatMap(({ id, changes }) =>
        Object.entries(changes).map(([field, { from, to }]) => ({ row: `${kind}[${i}]`, id, field, from, to })),
      ),
    ),
  );
  return { changes: changes.slice(0, CHANGES_TOLD), more_changes: Math.max(0, changes.length - CHANGES_TOLD) };
}

/** All devices are given up before any is taken, so that tanks may exchange them whatever their order. */
function letGo(rows: readonly ProvisionRow[], { tanks, serves }: Known): void {
  for (const { fields } of rows) {
    const { id = "", assigned_device_id } = (fields ?? {}) as GivenTank;
    const before = tanks.get(id)?.tank;
    if (before === undefined || typeof assigned_device_id !== "string") continue;
    if (deviceKey(assigned_device_id) !== deviceKey(before.assigned_device_id))
      serves.delete(deviceKey(before.assigned_device_id));
  }
}

const noCount = (): Count => ({ new: 0, changed: 0, unchanged: 0 });

function placed(faults: readonly Fault[], row: string): Fault[] {
  return faults.map(({ field, message }) => ({ field: field === "" ? row : `${row}.${field}`, message }));
}

function* whatIsKnown(customers: readonly ProvisionRow[], tanks: readonly ProvisionRow[]): Inquiry<Known> {
  const texts = (rows: readonly ProvisionRow[], field: string): string[] =>
    rows.map(({ fields }) => (fields as Record<string, unknown> | null)?.[field]).filter((value) => typeof value === "string");
  const known = yield* ask("tanks", texts(tanks, "id"));
  const owned = Array.from(known.values(), ({ tank }) => tank.owner_id);
  const owners = [...texts(customers, "id"), ...texts(tanks, "owner_id"), ...owned];
  const keys = texts(tanks, "assigned_device_id").map(deviceKey);
  const devices = yield* ask("devices", keys);
  return {
    customers: new Map(yield* ask("customers", owners)),
    faulty: new Set(),
    tanks: new Map(known),
    serves: new Map(Array.from(devices, ([key, { tank_id }]) => [key, tank_id])),
  };
}

function putCustomer({ newId, fields }: ProvisionRow, now: Known, count: Count, at: Instant): readonly Fault[] {
  const given = fields as GivenCustomer;
  const before = now.customers.get(given?.id ?? newId);
  if (before === undefined) {
    const faults = faultsInCustomer(NewCustomer, fields);
    if (faults.length > 0) return faults;
    const customer = newCustomer(given, newId, at);
    now.customers.set(customer.id, { customer, deleted: false });
    count.new++;
    return [];
  }
  if (before.deleted) return [{ field: "id", message: "names a customer that is deleted: restore it first" }];
  const { id, ...change } = given;
  const faults = faultsInCustomer(CustomerChange, change);
  if (faults.length > 0) return faults;
  const after = changedCustomer(before, change, at);
  count[after === before ? "unchanged" : "changed"]++;
  now.customers.set(before.customer.id, after);
  return [];
}

function putTank({ newId, fields }: ProvisionRow, now: Known, count: Count, at: Instant): readonly Fault[] {
  const given = fields as GivenTank;
  const before = now.tanks.get(given?.id ?? newId);
  if (before?.deleted === true) return [{ field: "id", message: "names a tank that is deleted: restore it first" }];
  const { id: _, ...change } = (withShape(before?.shape ?? null, given) ?? {}) as GivenTank;
  const faults = before === undefined ? faultsInTank(NewTank, fields) : faultsInTank(TankChange, change);
  faults.push(...faultsAmong(before?.tank.id ?? given?.id ?? newId, { ...before?.tank, ...change }, now));
  if (faults.length > 0) return faults;
  const after = before === undefined ? newTank(given, newId, at) : changedTank(before, change, at);
  const old = before === undefined ? undefined : deviceKey(before.tank.assigned_device_id);
  if (old !== undefined && now.serves.get(old) === before?.tank.id) now.serves.set(old, null);
  now.serves.set(deviceKey(after.tank.assigned_device_id), after.tank.id);
  now.tanks.set(after.tank.id, after);
  count[before === undefined ? "new" : after === before ? "unchanged" : "changed"]++;
  return [];
}

function changedTank(before: ShapedTank, given: GivenTank, at: Instant): ShapedTank {
  const { tank, shape } = merged(before, given);
  const isSame = isAlike(tank, before.tank);
  if (isSame && JSON.stringify(shape) === JSON.stringify(before.shape)) return before;
  return { ...before, shape, tank: isSame ? tank : { ...tank, updated_at: laterThan(before.tank.updated_at, at) } };
}

/** Of fields as they were given: those that are no texts have faults of their own. */
function faultsAmong(id: string, { owner_id, assigned_device_id }: GivenTank, { customers, faulty, serves }: Known): Fault[] {
  const faults: Fault[] = [];
  if (typeof owner_id === "string" && !faulty.has(owner_id)) {
    const owner = customers.get(owner_id);
    if (owner === undefined) faults.push({ field: "owner_id", message: "names no customer" });
    else if (owner.deleted) faults.push({ field: "owner_id", message: "names a customer that is deleted" });
  }
  const other = typeof assigned_device_id === "string" ? (serves.get(deviceKey(assigned_device_id)) ?? null) : null;
  if (other !== null && other !== id) {
    faults.push({ field: "assigned_device_id", message: `serves tank ${other} already` });
  }
  return faults;
}

function changesOf(before: Known, now: Known) {
  const customers: Change<CustomerState>[] = changed(before.customers, now.customers);
  const tanks: (Change<TankState> & { readonly after: ShapedTank })[] = changed(before.tanks, now.tanks);
  const shapes = new Map<string, Shape | null>();
  const deeds: Deed[] = [];
  for (const { id, after } of tanks) {
    const anew = reshaping(id, before.tanks.get(id)?.shape ?? null, after.shape);
    for (const [tankId, shape] of anew.shapes ?? []) shapes.set(tankId, shape);
    deeds.push(...(anew.deeds ?? []));
  }
  return { customers, tanks, shapes, deeds };
}

function changed<S>(
  before: ReadonlyMap<string, S>,
  now: ReadonlyMap<string, S>,
): { id: string; before: S | undefined; after: S }[] {
  const changes: { id: string; before: S | undefined; after: S }[] = [];
  for (const [id, after] of now) if (before.get(id) !== after) changes.push({ id, before: before.get(id), after });
  return changes;
}
