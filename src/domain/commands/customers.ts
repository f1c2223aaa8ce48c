// Commands on customers.

import { type Change, hasSameFields, type TankState } from "../changes.ts";
import {
  CustomerObject,
  type CustomerWithCount,
  DEFAULT_NOTIFICATION_SETTINGS,
  errorInNewCustomerId,
  NotificationSettings,
} from "../customer.ts";
import type { FieldError } from "../errors.ts";
import { type Instant, instantOrNull, nextUpdatedAt } from "../instant.ts";
import { findOne, type Lookups } from "../lookups.ts";
import { customerResource, type ManagedCustomer, type Resource } from "../resource.ts";
import { ADDRESS_PATTERN, NEW_ID_PATTERN, object, partial, type Static } from "../schema.ts";
import { errorsInObject } from "../validate.ts";
import {
  type Command,
  type Commands,
  changeSet,
  commandError,
  existing,
  INCOMPLETE,
  idTaken,
  invalidFields,
  isCommandError,
  type PlanResult,
} from "./command.ts";
import { deviceConflict } from "./tanks.ts";

const { id: existingId, email: existingEmail, name, phone, verified_at, is_verified } = CustomerObject.properties;
const email = { ...existingEmail, pattern: ADDRESS_PATTERN };
const notifications = partial(NotificationSettings, { description: "The mail settings to change" });
const changeable = { email, name, phone, verified_at, is_verified, notifications };
const id = { ...existingId, pattern: NEW_ID_PATTERN };

export const CustomerChange = partial({ properties: changeable }, { description: "The fields to change" });
export const NewCustomer = object({ id, ...changeable }, { description: "A customer to create" }, [
  "id",
  "phone",
  "verified_at",
  "is_verified",
  "notifications",
]);

export type CustomerInput = Partial<Static<typeof NewCustomer>>;

export async function createCustomer(lookups: Lookups, { newId, fields }: Commands["create_customer"], at: Instant): PlanResult {
  const errors = customerErrors(NewCustomer, fields);
  if (errors.length > 0) return invalidFields(errors);
  const after = newCustomer(fields as CustomerInput, newId, at);
  const { id } = after.customer;
  if ((await findOne(lookups.customers, id)) !== undefined) return idTaken("customer", id);
  return changeSet(customerResource(after), { customers: [{ id, before: undefined, after }] });
}

export function newCustomer(input: CustomerInput, newId: string, at: Instant): ManagedCustomer {
  const customer: CustomerWithCount = {
    id: input.id ?? newId,
    created_at: at,
    email: input.email ?? "",
    last_seen_at: null,
    name: input.name ?? "",
    phone: input.phone ?? null,
    updated_at: at,
    verified_at: verifiedAt(input, null, at),
    tank_count: 0,
  };
  return { customer, deleted: false, deletedAt: null, notifications: mergedSettings(DEFAULT_NOTIFICATION_SETTINGS, input) };
}

export async function changeCustomer(
  lookups: Lookups,
  { id, fields, ifMatch, includeDeleted = false }: Commands["change_customer"],
  at: Instant,
): PlanResult {
  const before = existing("customer", await findOne(lookups.customers, id), ifMatch, customerResource);
  if (isCommandError(before)) return before;
  if (before.deleted && !includeDeleted) {
    return commandError("state_conflict", "This customer is deleted. Restore it before you change it.");
  }
  const errors = customerErrors(CustomerChange, fields);
  if (errors.length > 0) return invalidFields(errors);
  const after = changedCustomer(before, fields as CustomerInput, at);
  return changeSet(customerResource(after), after === before ? {} : { customers: [{ id, before, after }] });
}

/**
 * Returns `before` itself if nothing changes. A changed address is unverified and subscribed, unless the same change sets these
 * fields. Settings of mail are not public: changing them leaves `updated_at` as it is.
 */
export function changedCustomer(before: ManagedCustomer, input: CustomerInput, at: Instant): ManagedCustomer {
  const { email = before.customer.email, name = before.customer.name, phone = before.customer.phone } = input;
  const isSameAddress = email === before.customer.email;
  const known = isSameAddress ? before.customer.verified_at : null;
  const changed = { ...before.customer, email, name, phone, verified_at: verifiedAt(input, known, at) };
  const settings = isSameAddress ? before.notifications : { ...before.notifications, unsubscribed_at: null };
  const notifications = mergedSettings(settings, input);
  const isSame = hasSameFields(changed, before.customer);
  if (isSame && hasSameFields(notifications, before.notifications)) return before;
  if (isSame) return { ...before, notifications };
  return { ...before, notifications, customer: { ...changed, updated_at: nextUpdatedAt(before.customer.updated_at, at) } };
}

function mergedSettings(before: NotificationSettings, { notifications = {} }: CustomerInput): NotificationSettings {
  const { language = before.language, unsubscribed_at } = notifications;
  return {
    language,
    unsubscribed_at: unsubscribed_at === undefined ? before.unsubscribed_at : instantOrNull(unsubscribed_at),
  };
}

/** The most tanks that one transaction deletes or restores with their customer. Readings have to wait for each transaction. */
const MAX_TANKS = 250;

/**
 * A live tank never loses its owner: its tanks are deleted too, or the command fails. Many tanks are deleted in parts, the customer in
 * the last one. All get the same `deletedAt`, which the customer has from the first part on, so that a deletion that was interrupted
 * can be repeated or undone.
 */
export async function deleteCustomer(lookups: Lookups, command: Commands["delete_customer"], at: Instant): PlanResult {
  const { id, ifMatch, tanks: withTanks, tanksBefore = Number.POSITIVE_INFINITY } = command;
  const before = existing("customer", await findOne(lookups.customers, id), ifMatch, customerResource);
  if (isCommandError(before)) return before;
  if (before.deleted) return changeSet(customerResource(before), {});
  const tanks = await lookups.tanksOfOwner(id, MAX_TANKS + 1);
  const { tank_count } = before.customer;
  if (tanks.length > 0 && !withTanks) {
    const [owned, them] = tank_count === 1 ? ["1 tank", "it"] : [`${tank_count} tanks`, "them"];
    const hint = `Assign ${them} to another customer, or add tanks=true to delete ${them} too.`;
    return commandError("customer_has_tanks", `This customer still owns ${owned}. ${hint}`);
  }
  if (tank_count >= tanksBefore) {
    const detail = "Tanks of this customer were created or restored while its tanks were deleted. Send the request again.";
    return commandError("state_conflict", detail);
  }
  const deletedAt = before.deletedAt ?? at;
  const changes = tanks.slice(0, MAX_TANKS).map((one) => changeOfTank(one, { ...one, deleted: true, deletedAt }));
  if (tanks.length > MAX_TANKS) {
    return changeSet(partOf(tank_count), { customers: [{ id, before, after: { ...before, deletedAt } }], tanks: changes });
  }
  const after = { ...before, customer: { ...before.customer, tank_count: 0 }, deleted: true, deletedAt };
  return changeSet(customerResource(after), { customers: [{ id, before, after }], tanks: changes });
}

const RESTORE_HINT =
  "Restore the customer with tanks=false, then restore each tank, with another assigned_device_id where its own is in use.";

/**
 * Restores a customer, by default together with the tanks that were deleted with it. Many tanks are restored in parts, the customer in
 * the first one. It keeps its `deletedAt` until the last part.
 */
export async function restoreCustomer(lookups: Lookups, command: Commands["restore_customer"]): PlanResult {
  const { id, ifMatch, tanks: withTanks, tanksBefore } = command;
  const before = existing("customer", await findOne(lookups.customers, id), ifMatch, customerResource);
  if (isCommandError(before)) return before;
  const deletedAt = withTanks ? before.deletedAt : null;
  if (!before.deleted && deletedAt === null) return changeSet(customerResource(before), {});
  const deleted = deletedAt === null ? [] : await lookups.tanksDeletedAt(id, deletedAt, MAX_TANKS + 1);
  const isLastPart = deleted.length <= MAX_TANKS;
  const tanks = deleted.slice(0, MAX_TANKS);
  // Before the first is restored, all are checked.
  const isFirstOfMany = deletedAt !== null && !isLastPart && tanksBefore === undefined;
  const withDeviceInUse = isFirstOfMany ? await lookups.tanksDeletedWithDeviceInUse(id, deletedAt) : [];
  const conflict =
    (await deviceConflict(lookups, withDeviceInUse, RESTORE_HINT)) ?? (await deviceConflict(lookups, tanks, RESTORE_HINT));
  if (conflict !== undefined) return conflict;
  const tank_count = before.customer.tank_count + tanks.length;
  const after = {
    ...before,
    customer: { ...before.customer, tank_count },
    deleted: false,
    deletedAt: isLastPart ? null : deletedAt,
  };
  return changeSet(isLastPart ? customerResource(after) : partOf(tank_count), {
    customers: [{ id, before, after }],
    tanks: tanks.map((one) => changeOfTank(one, { ...one, deleted: false, deletedAt: null })),
  });
}

const changeOfTank = (before: TankState, after: TankState): Change<TankState> => ({ id: after.tank.id, before, after });

/** The result of a part: others follow. */
const partOf = (tanksBefore: number): Resource => ({ object: { ...INCOMPLETE, tanksBefore }, etag: "" });

/** The command that deletes or restores the next tanks; undefined after the last part. */
export function commandOfNextPart(command: Command, { object }: Resource): Command | undefined {
  if (command.type !== "delete_customer" && command.type !== "restore_customer") return undefined;
  const { ifMatch: _checked, ...rest } = command;
  return "is_incomplete" in object ? { ...rest, tanksBefore: Number(object["tanksBefore"]) } : undefined;
}

export function customerErrors(schema: typeof NewCustomer | typeof CustomerChange, fields: unknown): FieldError[] {
  const { id } = (fields ?? {}) as { id?: unknown };
  const message = schema === NewCustomer && typeof id === "string" ? errorInNewCustomerId(id) : undefined;
  const idErrors = message === undefined ? [] : [{ field: "id", message }];
  return [...errorsInObject(schema, fields), ...idErrors, ...verificationErrors(fields)];
}

/** `is_verified` is a short form of `verified_at`; both may be given if they agree. */
function verificationErrors(fields: unknown): FieldError[] {
  const { is_verified: is, verified_at: when } = (fields ?? {}) as { is_verified?: unknown; verified_at?: unknown };
  if (typeof is !== "boolean" || when === undefined || is === (when !== null)) return [];
  return [{ field: "is_verified", message: "must be true exactly when verified_at is set" }];
}

function verifiedAt({ is_verified: is, verified_at: when }: CustomerInput, before: Instant | null, at: Instant): Instant | null {
  if (when !== undefined) return instantOrNull(when);
  if (is === undefined) return before;
  return is ? (before ?? at) : null;
}
