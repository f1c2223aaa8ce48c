// Orders about customers.

import { hasSameFields } from "../changes.ts";
import { CustomerObject, type CustomerWithCount } from "../customer.ts";
import type { FieldError } from "../errors.ts";
import { ask, askFor, type Inquiry } from "../inquiry.ts";
import { type Instant, instantOrNull, laterThan } from "../instant.ts";
import { customerResource, type ManagedCustomer } from "../resource.ts";
import { object, partial, type Static } from "../schema.ts";
import { errorsInObject } from "../validate.ts";
import {
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
import { restoreTanks } from "./tanks.ts";

const { id, email, name, phone, verified_at, is_verified } = CustomerObject.properties;
const changeable = { email, name, phone, verified_at, is_verified };

export const CustomerChange = partial({ properties: changeable }, { description: "What is to change; the rest stays" });
export const NewCustomer = object({ id, ...changeable }, { description: "A customer to be made" }, [
  "id",
  "phone",
  "verified_at",
  "is_verified",
]);

export type CustomerInput = Partial<Static<typeof NewCustomer>>;

export function* createCustomer(newId: string, fields: unknown, at: Instant): Planning {
  const errors = customerErrors(NewCustomer, fields);
  if (errors.length > 0) return invalidFields(errors);
  const customer = newCustomer(fields as CustomerInput, newId, at);
  if ((yield* askFor("customers", customer.id)) !== undefined) return idTaken("customer", customer.id);
  const after = { customer, deleted: false };
  return changeSet(customerResource(after), { customers: [{ id: customer.id, before: undefined, after }] });
}

export function newCustomer(given: CustomerInput, newId: string, at: Instant): CustomerWithCount {
  return {
    id: given.id ?? newId,
    created_at: at,
    email: given.email ?? "",
    last_seen_at: null,
    name: given.name ?? "",
    phone: given.phone ?? null,
    updated_at: at,
    verified_at: verifiedAt(given, null, at),
    tank_count: 0,
  };
}

export function* changeCustomer(customerId: string, fields: unknown, ifMatch: IfMatch, at: Instant): Planning {
  const before = yield* loadCustomer(customerId, ifMatch);
  if (isCommandError(before)) return before;
  if (before.deleted) return commandError("state_conflict", "This customer is deleted. Restore it before changing it.");
  const errors = customerErrors(CustomerChange, fields);
  if (errors.length > 0) return invalidFields(errors);
  const after = changedCustomer(before, fields as CustomerInput, at);
  return changeSet(customerResource(after), after === before ? {} : { customers: [{ id: customerId, before, after }] });
}

/** The same where nothing changes. */
export function changedCustomer(before: ManagedCustomer, given: CustomerInput, at: Instant): ManagedCustomer {
  const { email = before.customer.email, name = before.customer.name, phone = before.customer.phone } = given;
  const changed = { ...before.customer, email, name, phone, verified_at: verifiedAt(given, before.customer.verified_at, at) };
  if (hasSameFields(changed, before.customer)) return before;
  return { ...before, customer: { ...changed, updated_at: laterThan(before.customer.updated_at, at) } };
}

/** A customer's tanks are never left without an owner. */
export function* deleteCustomer(customerId: string, withTanks: boolean, ifMatch: IfMatch): Planning {
  const before = yield* loadCustomer(customerId, ifMatch);
  if (isCommandError(before)) return before;
  if (before.deleted) return changeSet(customerResource(before), {});
  const tanks = yield* ask("tanksOfOwners", [customerId]);
  if (tanks.length > 0 && !withTanks) {
    const detail = `This customer still owns ${tanks.length} ${tanks.length === 1 ? "tank" : "tanks"}. Give them to another customer, or add tanks=true to delete them along with it.`;
    return commandError("customer_has_tanks", detail);
  }
  const after = { customer: { ...before.customer, tank_count: 0 }, deleted: true };
  return changeSet(customerResource(after), {
    customers: [{ id: customerId, before, after }],
    tanks: tanks.map((tank) => ({ id: tank.tank.id, before: tank, after: { ...tank, deleted: true } })),
  });
}

const RESTORE_HINT =
  "Restore the customer with tanks=false, then restore each tank, with another assigned_device_id where its own is in use.";

/** With the tanks that were deleted along with it, unless told otherwise. */
export function* restoreCustomer(customerId: string, withTanks: boolean, ifMatch: IfMatch): Planning {
  const before = yield* loadCustomer(customerId, ifMatch);
  if (isCommandError(before)) return before;
  if (!before.deleted) return changeSet(customerResource(before), {});
  const along = withTanks ? yield* ask("tanksDeletedWith", [customerId]) : [];
  const tanks = yield* restoreTanks(along, RESTORE_HINT);
  if (isCommandError(tanks)) return tanks;
  const { tank_count } = before.customer;
  const after = { customer: { ...before.customer, tank_count: tank_count + tanks.length }, deleted: false };
  return changeSet(customerResource(after), { customers: [{ id: customerId, before, after }], tanks });
}

function* loadCustomer(customerId: string, ifMatch: IfMatch): Inquiry<ManagedCustomer | CommandError> {
  const customer = yield* askFor("customers", customerId);
  if (customer === undefined) return commandError("customer_unknown", "There is no customer with this id.");
  return preconditionError(ifMatch, customerResource(customer)) ?? customer;
}

export function customerErrors(schema: typeof NewCustomer | typeof CustomerChange, fields: unknown): FieldError[] {
  return [...errorsInObject(schema, fields), ...verificationErrors(fields)];
}

/** `is_verified` says in short what `verified_at` says in full. */
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
