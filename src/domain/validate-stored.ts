// Whether an object that is stored is one that could have come in: what an import would say of its line.

import { type CustomerWithCount, customerObject } from "./customer.ts";
import { formatInstant, type Instant, isInstant } from "./instant.ts";
import { ROLES, type StoredKey } from "./key.ts";
import { decodeRecord } from "./record.ts";
import { type Tank, tankObject } from "./tank.ts";

export function errorInCustomer(customer: CustomerWithCount): string | undefined {
  const { created_at, updated_at, last_seen_at, verified_at } = customer;
  const fault = errorInInstants({ created_at, updated_at, last_seen_at, verified_at });
  return fault ?? errorInRecord(customerObject(customer));
}

export function errorInTank(tank: Tank): string | undefined {
  const { created_at, updated_at } = tank;
  return errorInInstants({ created_at, updated_at }) ?? errorInRecord(tankObject(tank));
}

export function errorInKey({ role, created_at, revoked_at }: StoredKey): string | undefined {
  if (!ROLES.includes(role)) return `role: must be one of ${ROLES.join(", ")}, not ${role}`;
  return errorInInstants({ created_at, revoked_at });
}

/** For messages: also what is no instant. */
export function displayInstant(value: number): string {
  return isInstant(value) ? formatInstant(value) : String(value);
}

function errorInInstants(instants: Readonly<Record<string, Instant | null>>): string | undefined {
  const wrong = Object.entries(instants).find(([, value]) => value !== null && !isInstant(value));
  return wrong === undefined ? undefined : `${wrong[0]}: ${wrong[1]} is no instant between the years 0000 and 9999`;
}

function errorInRecord(line: object): string | undefined {
  const decoded = decodeRecord(line);
  return decoded.kind === "rejected" ? decoded.reason : undefined;
}
