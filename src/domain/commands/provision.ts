// Creates or changes many customers and tanks at once. Every row is checked on what the rows before it left; if one has an
// error, nothing is changed.

import { setImmediate as nextTurn } from "node:timers/promises";
import { type AuditedChange, auditCustomers, auditFields, auditTanks } from "../audit.ts";
import { type Change, changesBetween, deviceChangeGroups, type TankState } from "../changes.ts";
import { DeviceUse, type ProfileChoice } from "../device.ts";
import type { FieldError } from "../errors.ts";
import { deviceKey } from "../id.ts";
import type { Instant } from "../instant.ts";
import type { Lookups } from "../lookups.ts";
import { errorsInProfile } from "../profile.ts";
import type { ManagedCustomer, ManagedDevice, Resource } from "../resource.ts";
import { quoted } from "../text.ts";
import { isObject } from "../validate.ts";
import {
  type ChangeSet,
  type CheckedProvision,
  type CommandError,
  type Commands,
  changeSet,
  customerReferenceErrors,
  invalidFields,
  isCommandError,
  type PlanResult,
  type Provision,
  type ProvisionRow,
} from "./command.ts";
import { CustomerChange, type CustomerInput, changedCustomer, customerErrors, NewCustomer, newCustomer } from "./customers.ts";
import { completeProfile } from "./devices.ts";
import { changedTank, mergeTank, NewTank, newTank, TankChange, type TankInput, tankErrors, withMergedShape } from "./tanks.ts";

/** Customers and tanks in one request. */
export const MAX_PROVISION_ROWS = 50_000;
const MAX_ERRORS = 1000;
const MAX_CHANGES = 100;

type KnownObjects = {
  readonly customers: Map<string, ManagedCustomer>;
  readonly tanks: Map<string, TankState>;
};

export async function provision(lookups: Lookups, command: Commands["provision"], at: Instant): PlanResult {
  const { isDryRun, result } = command;
  const planned = await planRows(lookups, command, at);
  if (isCommandError(planned)) return planned;
  const { changes, profiles, report } = planned;
  return changeSet(
    provisioned(result ?? { dry_run: isDryRun, ...report }),
    isDryRun ? {} : { ...changes, profiles: profiles.map(({ device }) => device), audit: profiles.map(({ audit }) => audit) },
  );
}

export async function checkProvision(lookups: Lookups, rows: Provision, at: Instant): Promise<CheckedProvision | CommandError> {
  const planned = await planRows(lookups, rows, at);
  if (isCommandError(planned)) return planned;
  const rowOf = new Map(rows.tanks.map((row, i) => [idOf(row), i]));
  const groups = deviceChangeGroups(planned.changes.tanks, planned.devices);
  const deviceChanges = groups.map((ids) => ids.flatMap((id) => rowOf.get(id) ?? []));
  return { resource: provisioned({ dry_run: true, ...planned.report }), deviceChanges };
}

const provisioned = (result: object): Resource => ({ object: { object: "provisioning", ...result }, etag: "" });

/** Checked before the thread does something else: it may be the one that serves requests. */
const ROWS_AT_ONCE = 200;

async function planRows(lookups: Lookups, { customers, tanks }: Provision, at: Instant) {
  const before = await loadKnown(lookups, customers, tanks);
  const assigned = Array.from(before.tanks.values(), ({ tank }) => tank.assigned_device_id);
  const devices = await lookups.devices([...textsOf(tanks, "assigned_device_id"), ...assigned].map(deviceKey));
  const plan = new ProvisionPlan(before, new DeviceUse(devices), at);
  const errors = [...repeatedIds(customers, "customers"), ...repeatedIds(tanks, "tanks")];
  for (const [i, row] of customers.entries()) {
    if (errors.length > MAX_ERRORS) break;
    if (i % ROWS_AT_ONCE === ROWS_AT_ONCE - 1) await nextTurn();
    errors.push(...atRow(plan.putCustomer(row), `customers[${i}]`));
  }
  plan.releaseDevices(tanks);
  for (const [i, row] of tanks.entries()) {
    if (errors.length > MAX_ERRORS) break;
    if (i % ROWS_AT_ONCE === ROWS_AT_ONCE - 1) await nextTurn();
    errors.push(...atRow(plan.putTank(row), `tanks[${i}]`));
  }
  if (errors.length > 0) return invalidFields(errors, MAX_ERRORS);
  const changes = {
    customers: changesBetween(before.customers, plan.objects.customers),
    tanks: changesBetween(before.tanks, plan.objects.tanks),
  };
  const profiles = changedProfiles(plan.profiles, devices);
  const counts = { customers: countsOf(customers, changes.customers), tanks: countsOf(tanks, changes.tanks, profiles) };
  return { changes, profiles, devices, report: { ...counts, ...reportedChanges({ customers, tanks }, changes, profiles) } };
}

/** `profile`: of the device that is assigned to the tank. */
type TankRowInput = TankInput & { readonly profile?: ProfileChoice | null };
type NewProfile = { readonly tankId: string; readonly profile: ProfileChoice | null };
type ChangedProfile = {
  readonly tankId: string;
  readonly device: { readonly id: string; readonly profile: ProfileChoice | null };
  readonly audit: AuditedChange;
};

function changedProfiles(
  profiles: ReadonlyMap<string, NewProfile>,
  devices: ReadonlyMap<string, ManagedDevice>,
): ChangedProfile[] {
  return [...profiles].flatMap(([id, { tankId, profile }]) => {
    const before = devices.get(id)?.device.profile ?? null;
    return auditFields("device", id, { profile: before }, { profile }).map((audit) => ({
      tankId,
      device: { id, profile },
      audit,
    }));
  });
}

class ProvisionPlan {
  readonly objects: KnownObjects;
  /** Keyed by device. */
  readonly profiles = new Map<string, NewProfile>();
  readonly #use: DeviceUse;
  readonly #at: Instant;
  /** Ids of customers whose own rows have errors: tanks that refer to them are not reported again. */
  readonly #invalidCustomers = new Set<string>();

  constructor({ customers, tanks }: KnownObjects, use: DeviceUse, at: Instant) {
    this.objects = { customers: new Map(customers), tanks: new Map(tanks) };
    this.#use = use;
    this.#at = at;
  }

  putCustomer({ newId, fields }: ProvisionRow): readonly FieldError[] {
    const { id = newId, ...change } = (fields ?? {}) as CustomerInput;
    const before = this.objects.customers.get(id);
    const isDeleted = before?.deleted === true;
    const errors = before === undefined ? customerErrors(NewCustomer, fields) : customerErrors(CustomerChange, change);
    if (isDeleted || errors.length > 0) {
      this.#invalidCustomers.add(id);
      return isDeleted ? [{ field: "id", message: "this customer is deleted: restore it first" }] : errors;
    }
    const after = before === undefined ? newCustomer(change, id, this.#at) : changedCustomer(before, change, this.#at);
    this.objects.customers.set(id, after);
    return [];
  }

  /** Devices are released before any is assigned, so that tanks can swap them in any order of rows. */
  releaseDevices(rows: readonly ProvisionRow[]): void {
    for (const row of rows) {
      const { assigned_device_id } = (row.fields ?? {}) as TankInput;
      const before = this.objects.tanks.get(idOf(row))?.tank;
      if (before === undefined || typeof assigned_device_id !== "string") continue;
      if (deviceKey(assigned_device_id) !== deviceKey(before.assigned_device_id)) this.#use.release(before);
    }
  }

  putTank({ newId, fields }: ProvisionRow): readonly FieldError[] {
    const { tanks } = this.objects;
    if (!isObject(fields)) return tankErrors(NewTank, fields);
    const { profile, ...input } = fields as TankRowInput;
    const before = tanks.get(input.id ?? newId);
    if (before?.deleted === true) return [{ field: "id", message: "this tank is deleted: restore it first" }];
    const { id: _, ...change } = withMergedShape(before?.shape ?? null, input) as TankInput;
    const errors = before === undefined ? tankErrors(NewTank, input) : tankErrors(TankChange, change);
    if (profile !== undefined && profile !== null) errors.push(...errorsInProfile(profile));
    errors.push(...this.#referenceErrors(before?.tank.id ?? input.id ?? newId, { ...before?.tank, ...change }));
    if (errors.length > 0) return errors;
    const after =
      before === undefined ? newTank(input, newId, this.#at) : changedTank(before, mergeTank(before, change), this.#at);
    if (before !== undefined) this.#use.release(before.tank);
    this.#use.assign(after.tank);
    tanks.set(after.tank.id, after);
    const device = deviceKey(after.tank.assigned_device_id);
    if (profile !== undefined) this.profiles.set(device, { tankId: after.tank.id, profile: completeProfile(profile) });
    return [];
  }

  /** Fields that are not strings have errors of their own. */
  #referenceErrors(id: string, { owner_id, assigned_device_id }: TankInput): FieldError[] {
    const errors: FieldError[] = [];
    if (typeof owner_id === "string" && !this.#invalidCustomers.has(owner_id)) {
      errors.push(...customerReferenceErrors("owner_id", this.objects.customers.get(owner_id)));
    }
    const other = typeof assigned_device_id === "string" ? this.#use.conflictOf({ id, assigned_device_id }) : undefined;
    if (other !== undefined) errors.push({ field: "assigned_device_id", message: `is already assigned to tank ${other}` });
    return errors;
  }
}

/** No two rows have one id, so that each of them is one change or none. */
function countsOf(rows: readonly ProvisionRow[], changes: readonly Change<unknown>[], profiles: readonly ChangedProfile[] = []) {
  const created = changes.filter(({ before }) => before === undefined).length;
  const all = new Set([...changes.map(({ id }) => id), ...profiles.map(({ tankId }) => tankId)]).size;
  return { new: created, changed: all - created, unchanged: rows.length - all };
}

/** Rejects rows with the same id: one would overwrite the other. */
function repeatedIds(rows: readonly ProvisionRow[], kind: string): FieldError[] {
  const positions = new Map<string, number>();
  return rows.flatMap(({ fields }, i) => {
    const id = idIn(fields);
    const first = id === undefined ? undefined : positions.get(id);
    if (id !== undefined && first === undefined) positions.set(id, i);
    if (id === undefined || first === undefined) return [];
    return [{ field: `${kind}[${i}].id`, message: `${quoted(id)} is already used in ${kind}[${first}]` }];
  });
}

/** A request that is repeated with its idempotency key has the same new ids: their objects may exist. */
const idOf = ({ newId, fields }: ProvisionRow): string => idIn(fields) ?? newId;

function idIn(fields: unknown): string | undefined {
  const id = isObject(fields) ? fields["id"] : undefined;
  return typeof id === "string" ? id : undefined;
}

function atRow(errors: readonly FieldError[], row: string): FieldError[] {
  return errors.map(({ field, message }) => ({ field: field === "" ? row : `${row}.${field}`, message }));
}

/** Field by field, for objects that existed before, in the order of the rows. */
function reportedChanges(
  rows: Provision,
  { customers, tanks }: Pick<ChangeSet, "customers" | "tanks">,
  profiles: readonly ChangedProfile[],
) {
  const created = new Set(tanks.filter(({ before }) => before === undefined).map(({ id }) => id));
  const ofTanks = [
    ...auditTanks(tanks),
    ...profiles.map(({ tankId, audit }): AuditedChange => ({ ...audit, object: "tank", id: tankId })),
  ].filter(({ id }) => !created.has(id));
  const changed = [...auditCustomers(customers), ...ofTanks].filter(({ action }) => action === "changed");
  const byId = Map.groupBy(changed, ({ object, id }) => `${object}s ${id}`);
  const changes = (["customers", "tanks"] as const).flatMap((kind) =>
    rows[kind].flatMap((row, i) =>
      (byId.get(`${kind} ${idOf(row)}`) ?? []).flatMap(({ id, changes }) =>
        Object.entries(changes).map(([field, { from, to }]) => ({ row: `${kind}[${i}]`, id, field, from, to })),
      ),
    ),
  );
  return { changes: changes.slice(0, MAX_CHANGES), more_changes: Math.max(0, changes.length - MAX_CHANGES) };
}

function textsOf(rows: readonly ProvisionRow[], field: string): string[] {
  return rows
    .map(({ fields }) => (fields as Record<string, unknown> | null)?.[field])
    .filter((value) => typeof value === "string");
}

async function loadKnown(
  lookups: Lookups,
  customers: readonly ProvisionRow[],
  tanks: readonly ProvisionRow[],
): Promise<KnownObjects> {
  const known = await lookups.tanks(tanks.map(idOf));
  const owners = Array.from(known.values(), ({ tank }) => tank.owner_id);
  const ids = [...customers.map(idOf), ...textsOf(tanks, "owner_id"), ...owners];
  return { customers: new Map(await lookups.customers(ids)), tanks: new Map(known) };
}
