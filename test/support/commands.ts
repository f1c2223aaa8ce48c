// Commands for tests: an error is thrown, unless the error is what the test is about.

import type { AuditContext } from "../../src/domain/audit.ts";
import {
  type Command,
  type CommandError,
  type IdempotencyKey,
  type IfMatch,
  isCommandError,
} from "../../src/domain/commands/command.ts";
import { commandOfNextPart } from "../../src/domain/commands/customers.ts";
import { formatInstantOrNull, type Instant } from "../../src/domain/instant.ts";
import type { Key } from "../../src/domain/key.ts";
import type { Resource } from "../../src/domain/resource.ts";
import type { Writes } from "../../src/domain/store.ts";

type Executes = Pick<Writes, "execute">;
type Fields = Readonly<Record<string, unknown>>;

/** The operator of the tests. */
export const OPERATOR = "key_operator";
export const at = (instant: Instant, by = OPERATOR): AuditContext => ({ by, at: instant });

export async function executed(store: Executes, given: Command, context: AuditContext, key?: IdempotencyKey): Promise<Resource> {
  const result = await store.execute(given, context, key);
  if (isCommandError(result)) throw new Error(`${result.error}: ${result.detail}`);
  return result.resource;
}

/** As the management service does for customers with many tanks. */
export async function executedInParts(store: Executes, given: Command, context: AuditContext): Promise<void> {
  for (let part: Command | undefined = given; part !== undefined; ) {
    part = commandOfNextPart(part, await executed(store, part, context));
  }
}

export async function errorOf(store: Executes, given: Command, context: AuditContext): Promise<CommandError> {
  const result = await store.execute(given, context);
  if (isCommandError(result)) return result;
  throw new Error(`executed: ${JSON.stringify(result.resource.object)}`);
}

/** The fields that a new tank must have. */
export const tankFields = (owner_id: string, assigned_device_id: string, fields: Fields = {}): Fields => ({
  assigned_device_id,
  capacity: 2700,
  capacity_unit: "liters",
  min_fill_alert_percentage: 20,
  name: "A tank",
  owner_id,
  ...fields,
});

type AlertOptions = { readonly by?: string; readonly ifMatch?: IfMatch };
type Options = { readonly swap?: boolean; readonly ifMatch?: IfMatch };

export const command = {
  createCustomer: (newId: string, fields: unknown): Command => ({ type: "create_customer", newId, fields }),
  createTank: (newId: string, fields: unknown): Command => ({ type: "create_tank", newId, fields }),
  changeCustomer: (id: string, fields: unknown, ifMatch?: IfMatch): Command => ({ type: "change_customer", id, fields, ifMatch }),
  changeTank: (id: string, fields: unknown, { swap = false, ifMatch }: Options = {}): Command => {
    return { type: "change_tank", id, fields, ifMatch, swap };
  },
  deleteCustomer: (id: string, tanks = false, ifMatch?: IfMatch): Command => ({ type: "delete_customer", id, tanks, ifMatch }),
  restoreCustomer: (id: string, tanks = true, ifMatch?: IfMatch): Command => ({ type: "restore_customer", id, tanks, ifMatch }),
  deleteTank: (id: string, ifMatch?: IfMatch): Command => ({ type: "delete_tank", id, ifMatch }),
  restoreTank: (id: string, fields: unknown = {}, ifMatch?: IfMatch): Command => ({ type: "restore_tank", id, fields, ifMatch }),
  putDevice: (id: string, fields: unknown, { swap = false, ifMatch }: Options = {}): Command => {
    return { type: "put_device", id, fields, ifMatch, swap };
  },
  removeDevice: (id: string, ifMatch?: IfMatch): Command => ({ type: "remove_device", id, ifMatch }),
  createKey: ({ id: newId, name, role, customer_id, device_id, rate, expires_at }: Key, hash: string): Command => {
    const fields = { name, role, customer_id, device_id, rate, expires_at: formatInstantOrNull(expires_at) };
    return { type: "create_key", newId, fields, hash };
  },
  rotateKey: (id: string, overlap: number, newId: string, hash: string): Command => {
    return { type: "rotate_key", id, overlap, newId, hash };
  },
  changeKey: (id: string, fields: unknown, ifMatch?: IfMatch): Command => ({ type: "change_key", id, fields, ifMatch }),
  changeAlert: (id: string, fields: unknown, ifMatch?: string): Command => ({ type: "change_alert", id, fields, ifMatch }),
  acknowledgeAlert: (id: string, fields: unknown = {}, { by = OPERATOR, ifMatch }: AlertOptions = {}): Command => {
    return { type: "acknowledge_alert", id, fields, by, ifMatch };
  },
  closeAlert: (id: string, fields: unknown = {}, ifMatch?: IfMatch): Command => ({ type: "close_alert", id, fields, ifMatch }),
  revokeKey: (id: string): Command => ({ type: "revoke_key", id }),
} as const;

export const createKey = (store: Executes, key: Key, hash: string): Promise<Resource> =>
  executed(store, command.createKey(key, hash), at(key.created_at));

export const revokeKey = (store: Executes, id: string, now: Instant): Promise<Resource> =>
  executed(store, command.revokeKey(id), at(now));
