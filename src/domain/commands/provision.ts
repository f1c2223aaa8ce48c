// Many customers and tanks at once: all are judged, each on what the ones before it left, before any of them is written.

import { type AuditedChange, auditCustomers, auditTanks } from "../audit.ts";
import { type Change, type CustomerState, hasSameFields, type TankState, type TankWithShape } from "../changes.ts";
import { deviceKey } from "../device.ts";
import type { FieldError } from "../errors.ts";
import { ask, type Inquiry } from "../inquiry.ts";
import { type Instant, laterThan } from "../instant.ts";
import type { ManagedCustomer } from "../resource.ts";
import type { Shape } from "../shape.ts";
import { quoted } from "../text.ts";
import { isObject } from "../validate.ts";
import { changeSet, invalidFields, type Planning, type Provision, type ProvisionRow } from "./command.ts";
import { CustomerChange, type CustomerInput, changedCustomer, customerErrors, NewCustomer, newCustomer } from "./customers.ts";
import { merged, NewTank, newTank, shapeChange, TankChange, type TankInput, tankErrors, withShape } from "./tanks.ts";

/** More than anyone mends at once. */
const MAX_ERRORS = 1000;

/** More than anyone reads; the rest is counted. */
const MAX_CHANGES = 100;

type Count = { new: number; changed: number; unchanged: number };
type Fleet = {
  readonly customers: Map<string, ManagedCustomer>;
  readonly tanks: Map<string, TankWithShape>;
  /** Ids of customers whose own rows have faults. */
  readonly invalid: Set<string>;
  /** The live tank that each device serves, by its key. */
  readonly serves: Map<string, string | null>;
};

export function* provision({ customers, tanks }: Provision, isDry: boolean, at: Instant): Planning {
  const before = yield* loadFleet(customers, tanks);
  const now: Fleet = {
    customers: new Map(before.customers),
    invalid: new Set(),
    tanks: new Map(before.tanks),
    serves: new Map(before.serves),
  };
  const faults = [...repeatedIds(customers, "customers"), ...repeatedIds(tanks, "tanks")];
  const counts = { customers: noCount(), tanks: noCount() };
  for (const [i, row] of customers.entries()) {
    if (faults.length > MAX_ERRORS) break;
    const wrong = putCustomer(row, now, counts.customers, at);
    if (wrong.length > 0) now.invalid.add(idIn(row.fields) ?? row.newId);
    faults.push(...atRow(wrong, `customers[${i}]`));
  }
  releaseDevices(tanks, now);
  for (const [i, row] of tanks.entries()) {
    if (faults.length > MAX_ERRORS) break;
    const wrong = putTank(row, now, counts.tanks, at);
    faults.push(...atRow(wrong, `tanks[${i}]`));
  }
  if (faults.length > 0) return invalidFields(faults, MAX_ERRORS);
  const changes = changesOf(before, now);
  const told = { ...counts, ...reportedChanges({ customers, tanks }, changes) };
  const shown = { object: { object: "provisioning", dry_run: isDry, ...told }, etag: "" };
  return changeSet(shown, isDry ? {} : changes);
}

/** Of two rows with one id, one would undo the other. */
function repeatedIds(rows: readonly ProvisionRow[], kind: string): FieldError[] {
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
function reportedChanges(rows: Provision, { customers, tanks, deeds }: ReturnType<typeof changesOf>) {
  const made = new Set(tanks.filter(({ before }) => before === undefined).map(({ id }) => id));
  const reshaped = deeds.filter(({ id }) => !made.has(id));
  const changed = [...auditCustomers(customers), ...auditTanks(tanks), ...reshaped].filter(({ action }) => action === "changed");
  const byId = Map.groupBy(changed, ({ object, id }) => `${object}s ${id}`);
  const changes = (["customers", "tanks"] as const).flatMap((kind) =>
    rows[kind].flatMap(({ fields }, i) =>
      (byId.get(`${kind} ${idIn(fields)}`) ?? []).flatMap(({ id, changes }) =>
        Object.entries(changes).map(([field, { from, to }]) => ({ row: `${kind}[${i}]`, id, field, from, to })),
      ),
    ),
  );
  return { changes: changes.slice(0, MAX_CHANGES), more_changes: Math.max(0, changes.length - MAX_CHANGES) };
}

/** All devices are given up before any is taken, so that tanks may exchange them whatever their order. */
function releaseDevices(rows: readonly ProvisionRow[], { tanks, serves }: Fleet): void {
  for (const { fields } of rows) {
    const { id = "", assigned_device_id } = (fields ?? {}) as TankInput;
    const before = tanks.get(id)?.tank;
    if (before === undefined || typeof assigned_device_id !== "string") continue;
    if (deviceKey(assigned_device_id) !== deviceKey(before.assigned_device_id))
      serves.delete(deviceKey(before.assigned_device_id));
  }
}

const noCount = (): Count => ({ new: 0, changed: 0, unchanged: 0 });

function atRow(faults: readonly FieldError[], row: string): FieldError[] {
  return faults.map(({ field, message }) => ({ field: field === "" ? row : `${row}.${field}`, message }));
}

function* loadFleet(customers: readonly ProvisionRow[], tanks: readonly ProvisionRow[]): Inquiry<Fleet> {
  const texts = (rows: readonly ProvisionRow[], field: string): string[] =>
    rows.map(({ fields }) => (fields as Record<string, unknown> | null)?.[field]).filter((value) => typeof value === "string");
  const known = yield* ask("tanks", texts(tanks, "id"));
  const owned = Array.from(known.values(), ({ tank }) => tank.owner_id);
  const owners = [...texts(customers, "id"), ...texts(tanks, "owner_id"), ...owned];
  const keys = texts(tanks, "assigned_device_id").map(deviceKey);
  const devices = yield* ask("devices", keys);
  return {
    customers: new Map(yield* ask("customers", owners)),
    invalid: new Set(),
    tanks: new Map(known),
    serves: new Map(Array.from(devices, ([key, { tank_id }]) => [key, tank_id])),
  };
}

function putCustomer({ newId, fields }: ProvisionRow, now: Fleet, count: Count, at: Instant): readonly FieldError[] {
  const given = fields as CustomerInput;
  const before = now.customers.get(given?.id ?? newId);
  if (before === undefined) {
    const faults = customerErrors(NewCustomer, fields);
    if (faults.length > 0) return faults;
    const customer = newCustomer(given, newId, at);
    now.customers.set(customer.id, { customer, deleted: false });
    count.new++;
    return [];
  }
  if (before.deleted) return [{ field: "id", message: "names a customer that is deleted: restore it first" }];
  const { id, ...change } = given;
  const faults = customerErrors(CustomerChange, change);
  if (faults.length > 0) return faults;
  const after = changedCustomer(before, change, at);
  count[after === before ? "unchanged" : "changed"]++;
  now.customers.set(before.customer.id, after);
  return [];
}

function putTank({ newId, fields }: ProvisionRow, now: Fleet, count: Count, at: Instant): readonly FieldError[] {
  const given = fields as TankInput;
  const before = now.tanks.get(given?.id ?? newId);
  if (before?.deleted === true) return [{ field: "id", message: "names a tank that is deleted: restore it first" }];
  const { id: _, ...change } = (withShape(before?.shape ?? null, given) ?? {}) as TankInput;
  const faults = before === undefined ? tankErrors(NewTank, fields) : tankErrors(TankChange, change);
  faults.push(...referenceErrors(before?.tank.id ?? given?.id ?? newId, { ...before?.tank, ...change }, now));
  if (faults.length > 0) return faults;
  const after = before === undefined ? newTank(given, newId, at) : changedTank(before, change, at);
  const old = before === undefined ? undefined : deviceKey(before.tank.assigned_device_id);
  if (old !== undefined && now.serves.get(old) === before?.tank.id) now.serves.set(old, null);
  now.serves.set(deviceKey(after.tank.assigned_device_id), after.tank.id);
  now.tanks.set(after.tank.id, after);
  count[before === undefined ? "new" : after === before ? "unchanged" : "changed"]++;
  return [];
}

function changedTank(before: TankWithShape, given: TankInput, at: Instant): TankWithShape {
  const { tank, shape } = merged(before, given);
  const isSame = hasSameFields(tank, before.tank);
  if (isSame && JSON.stringify(shape) === JSON.stringify(before.shape)) return before;
  return { ...before, shape, tank: isSame ? tank : { ...tank, updated_at: laterThan(before.tank.updated_at, at) } };
}

/** Of fields as they were given: those that are no texts have faults of their own. */
function referenceErrors(
  id: string,
  { owner_id, assigned_device_id }: TankInput,
  { customers, invalid: faulty, serves }: Fleet,
): FieldError[] {
  const faults: FieldError[] = [];
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

function changesOf(before: Fleet, now: Fleet) {
  const customers: Change<CustomerState>[] = changed(before.customers, now.customers);
  const tanks: (Change<TankState> & { readonly after: TankWithShape })[] = changed(before.tanks, now.tanks);
  const shapes = new Map<string, Shape | null>();
  const deeds: AuditedChange[] = [];
  for (const { id, after } of tanks) {
    const anew = shapeChange(id, before.tanks.get(id)?.shape ?? null, after.shape);
    for (const [tankId, shape] of anew.shapes ?? []) shapes.set(tankId, shape);
    deeds.push(...(anew.audit ?? []));
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
