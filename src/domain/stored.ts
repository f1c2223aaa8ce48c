// Whether an object that is stored is one that could have come in: what an import would say of its line.

import { type CountedCustomer, customerObject } from "./customer.ts";
import { formatInstant, type Instant, isInstant } from "./instant.ts";
import { type KnownKey, ROLES } from "./key.ts";
import { decodeRecord } from "./record.ts";
import { type Tank, tankObject } from "./tank.ts";

export function faultInCustomer(customer: CountedCustomer): string | undefined {
  const { created_at, updated_at, last_seen_at, verified_at } = customer;
  const fault = faultInInstants({ created_at, updated_at, last_seen_at, verified_at });
  return fault ?? faultInLine(customerObject(customer));
}

export function faultInTank(tank: Tank): string | undefined {
  const { created_at, updated_at } = tank;
  return faultInInstants({ created_at, updated_at }) ?? faultInLine(tankObject(tank));
}

export function faultInKey({ role, created_at, revoked_at }: KnownKey): string | undefined {
  if (!ROLES.includes(role)) return `role: must be one of ${ROLES.join(", ")}, not ${role}`;
  return faultInInstants({ created_at, revoked_at });
}

/** For messages: also what is no instant. */
export function shownInstant(value: number): string {
  return isInstant(value) ? formatInstant(value) : String(value);
}

function faultInInstants(instants: Readonly<Record<string, Instant | null>>): string | undefined {
  const wrong = Object.entries(instants).find(([, value]) => value !== null && !isInstant(value));
  return wrong === undefined ? undefined : `${wrong[0]}: ${wrong[1]} is no instant between the years 0000 and 9999`;
}

function faultInLine(line: object): string | undefined {
  const decoded = decodeRecord(line);
  return decoded.kind === "rejected" ? decoded.reason : undefined;
}
