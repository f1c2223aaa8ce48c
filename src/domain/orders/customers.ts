// Orders about customers.

import { faultsInObject } from "../check.ts";
import { type CountedCustomer, CustomerObject } from "../customer.ts";
import type { Fault } from "../errors.ts";
import { isAlike } from "../fleet.ts";
import { ask, askFor, type Inquiry } from "../inquiry.ts";
import { type Instant, instantOrNull, laterThan } from "../instant.ts";
import { type ManagedCustomer, shownCustomer } from "../managed.ts";
import { object, partial, type Static } from "../schema.ts";
import {
  type Deciding,
  decision,
  type IfMatch,
  isRefused,
  type Refused,
  refused,
  taken,
  unmatched,
  wrongFields,
} from "./order.ts";
import { restoring } from "./tanks.ts";

const { id, email, name, phone, verified_at, is_verified } = CustomerObject.properties;
const changeable = { email, name, phone, verified_at, is_verified };

export const CustomerChange = partial({ properties: changeable }, { description: "What is to change; the rest stays" });
export const NewCustomer = object({ id, ...changeable }, { description: "A customer to be made" }, [
  "id",
  "phone",
  "verified_at",
  "is_verified",
]);

export type GivenCustomer = Partial<Static<typeof NewCustomer>>;

export function* createCustomer(newId: string, fields: unknown, at: Instant): Deciding {
  const errors = faultsInCustomer(NewCustomer, fields);
  if (errors.length > 0) return wrongFields(errors);
  const customer = newCustomer(fields as GivenCustomer, newId, at);
  if ((yield* askFor("customers", customer.id)) !== undefined) return taken("customer", customer.id);
  const after = { customer, deleted: false };
  return decision(shownCustomer(after), { customers: [{ id: customer.id, before: undefined, after }] });
}

export function newCustomer(given: GivenCustomer, newId: string, at: Instant): CountedCustomer {
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

export function* changeCustomer(customerId: string, fields: unknown, ifMatch: IfMatch, at: Instant): Deciding {
  const before = yield* knownCustomer(customerId, ifMatch);
  if (isRefused(before)) return before;
  if (before.deleted) return refused("state_conflict", "This customer is deleted. Restore it before changing it.");
  const errors = faultsInCustomer(CustomerChange, fields);
  if (errors.length > 0) return wrongFields(errors);
  const after = changedCustomer(before, fields as GivenCustomer, at);
  return decision(shownCustomer(after), after === before ? {} : { customers: [{ id: customerId, before, after }] });
}

/** The same where nothing changes. */
export function changedCustomer(before: ManagedCustomer, given: GivenCustomer, at: Instant): ManagedCustomer {
  const { email = before.customer.email, name = before.customer.name, phone = before.customer.phone } = given;
  const changed = { ...before.customer, email, name, phone, verified_at: verifiedAt(given, before.customer.verified_at, at) };
  if (isAlike(changed, before.customer)) return before;
  return { ...before, customer: { ...changed, updated_at: laterThan(before.customer.updated_at, at) } };
}

/** A customer's tanks are never left without an owner. */
export function* deleteCustomer(customerId: string, withTanks: boolean, ifMatch: IfMatch): Deciding {
  const before = yield* knownCustomer(customerId, ifMatch);
  if (isRefused(before)) return before;
  if (before.deleted) return decision(shownCustomer(before), {});
  const tanks = yield* ask("tanksOfOwners", [customerId]);
  if (tanks.length > 0 && !withTanks) {
    const detail = `This customer still owns ${tanks.length} ${tanks.length === 1 ? "tank" : "tanks"}. Give them to another customer, or add tanks=true to delete them along with it.`;
    return refused("customer_has_tanks", detail);
  }
  const after = { customer: { ...before.customer, tank_count: 0 }, deleted: true };
  return decision(shownCustomer(after), {
    customers: [{ id: customerId, before, after }],
    tanks: tanks.map((tank) => ({ id: tank.tank.id, before: tank, after: { ...tank, deleted: true } })),
  });
}

const WAY_OUT =
  "Restore the customer with tanks=false, then restore each tank, with another assigned_device_id where its own is in use.";

/** With the tanks that were deleted along with it, unless told otherwise. */
export function* restoreCustomer(customerId: string, withTanks: boolean, ifMatch: IfMatch): Deciding {
  const before = yield* knownCustomer(customerId, ifMatch);
  if (isRefused(before)) return before;
  if (!before.deleted) return decision(shownCustomer(before), {});
  const along = withTanks ? yield* ask("tanksDeletedWith", [customerId]) : [];
  const tanks = yield* restoring(along, WAY_OUT);
  if (isRefused(tanks)) return tanks;
  const { tank_count } = before.customer;
  const after = { customer: { ...before.customer, tank_count: tank_count + tanks.length }, deleted: false };
  return decision(shownCustomer(after), { customers: [{ id: customerId, before, after }], tanks });
}

function* knownCustomer(customerId: string, ifMatch: IfMatch): Inquiry<ManagedCustomer | Refused> {
  const customer = yield* askFor("customers", customerId);
  if (customer === undefined) return refused("customer_unknown", "There is no customer with this id.");
  return unmatched(ifMatch, shownCustomer(customer)) ?? customer;
}

export function faultsInCustomer(schema: typeof NewCustomer | typeof CustomerChange, fields: unknown): Fault[] {
  return [...faultsInObject(schema, fields), ...faultsInVerification(fields)];
}

/** `is_verified` says in short what `verified_at` says in full. */
function faultsInVerification(fields: unknown): Fault[] {
  const { is_verified: is, verified_at: when } = (fields ?? {}) as { is_verified?: unknown; verified_at?: unknown };
  if (typeof is !== "boolean" || when === undefined || is === (when !== null)) return [];
  return [{ field: "is_verified", message: "must be true exactly when verified_at is set" }];
}

function verifiedAt({ is_verified: is, verified_at: when }: GivenCustomer, before: Instant | null, at: Instant): Instant | null {
  if (when !== undefined) return instantOrNull(when);
  if (is === undefined) return before;
  return is ? (before ?? at) : null;
}
