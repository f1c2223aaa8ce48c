// Orders: what an operator asks to be done to customers, tanks, devices and keys. Each is decided within the transaction
// that carries it out, by rules that know no engine and no door; the engine writes what the decision says.

import type { AuditedChange } from "../audit.ts";
import type { Change, CustomerState, TankState } from "../changes.ts";
import type { Device } from "../device.ts";
import type { ErrorCode, FieldError } from "../errors.ts";
import type { Inquiry } from "../inquiry.ts";
import type { Key } from "../key.ts";
import type { Resource } from "../resource.ts";
import type { Shape } from "../shape.ts";
import { invalidBody } from "../validate.ts";

/** Fields come as they were sent: what is wrong with them is told all at once, with what the database knows of them. */
export type Command =
  | { readonly type: "create_customer" | "create_tank"; readonly newId: string; readonly fields: unknown }
  | { readonly type: "change_customer"; readonly id: string; readonly fields: unknown; readonly ifMatch: IfMatch }
  | {
      readonly type: "change_tank";
      readonly id: string;
      readonly fields: unknown;
      readonly ifMatch: IfMatch;
      readonly swap: boolean;
    }
  /** `tanks`: takes the customer's tanks along. */
  | {
      readonly type: "delete_customer" | "restore_customer";
      readonly id: string;
      readonly tanks: boolean;
      readonly ifMatch: IfMatch;
    }
  | { readonly type: "delete_tank"; readonly id: string; readonly ifMatch: IfMatch }
  | { readonly type: "restore_tank"; readonly id: string; readonly fields: unknown; readonly ifMatch: IfMatch }
  | {
      readonly type: "put_device";
      readonly id: string;
      readonly fields: unknown;
      readonly ifMatch: IfMatch;
      readonly swap: boolean;
    }
  | { readonly type: "remove_device"; readonly id: string; readonly ifMatch: IfMatch }
  | { readonly type: "create_key"; readonly key: Key; readonly hash: string }
  /** The old one works for `overlap` milliseconds longer. */
  | {
      readonly type: "rotate_key";
      readonly id: string;
      readonly overlap: number;
      readonly newId: string;
      readonly hash: string;
    }
  | { readonly type: "change_key"; readonly id: string; readonly fields: unknown; readonly ifMatch: IfMatch }
  | { readonly type: "revoke_key"; readonly id: string; readonly ifMatch?: IfMatch }
  /** `isDry`: judges, and changes nothing. */
  | ({ readonly type: "provision"; readonly isDry: boolean } & Provision);

/** Many at once; each as it was sent, with the id it gets where it has none. */
export type ProvisionRow = { readonly newId: string; readonly fields: unknown };
export type Provision = { readonly customers: readonly ProvisionRow[]; readonly tanks: readonly ProvisionRow[] };

/** The tag that the object must still have; `*` is any; undefined asks for none. */
export type IfMatch = string | undefined;

/** A creation that may arrive twice: told apart by the sender's own key, and what was asked under it. */
export type IdempotencyKey = { readonly key: string; readonly fingerprint: string };
/** So long it is remembered. */
export const IDEMPOTENCY_MS = 24 * 3_600_000;

export type KeyChange = { readonly before: Key | undefined; readonly after: Key; readonly hash: string | undefined };

export type ChangeSet = {
  readonly resource: Resource;
  readonly customers: readonly Change<CustomerState>[];
  readonly tanks: readonly Change<TankState>[];
  readonly shapes: ReadonlyMap<string, Shape | null>;
  /** With the profile they have from now on; which tank they serve follows from the tanks. */
  readonly devices: readonly Pick<Device, "id" | "profile">[];
  /** All that waits of these devices goes. */
  readonly pendingRemoved: readonly string[];
  /** Of these nothing is left. */
  readonly devicesRemoved: readonly string[];
  readonly keys: readonly KeyChange[];
  /** Beside those that follow from the changes of customers and tanks. */
  readonly audit: readonly AuditedChange[];
};

export type CommandError = { readonly error: ErrorCode; readonly detail: string; readonly errors?: readonly FieldError[] };

/** `replayed`: it had been done before, and this is what was answered then. */
export type CommandResult = { readonly resource: Resource; readonly replayed: boolean } | CommandError;

export type Planning = Inquiry<ChangeSet | CommandError>;

const NO_CHANGES = {
  customers: [],
  tanks: [],
  shapes: new Map(),
  devices: [],
  pendingRemoved: [],
  devicesRemoved: [],
  keys: [],
  audit: [],
};

export function changeSet(shown: Resource, what: Partial<ChangeSet>): ChangeSet {
  return { ...NO_CHANGES, resource: shown, ...what };
}

export const commandError = (code: ErrorCode, detail: string): CommandError => ({ error: code, detail });

export const idTaken = (word: string, id: string): CommandError =>
  commandError("id_taken", `There is a ${word} ${id} already, or there was one. Leave the id out to get a new one.`);

/** `most` of them are told. */
export function invalidFields(faults: readonly FieldError[], most?: number): CommandError {
  const { message, errors = [] } = invalidBody(faults, most);
  return { error: "body_invalid", detail: message, errors };
}

/** Two who change the same object do not overwrite each other. */
export function preconditionError(ifMatch: IfMatch, { etag: tag }: Resource): CommandError | undefined {
  if (ifMatch === undefined) return undefined;
  const tags: readonly string[] = ifMatch.match(/(?:W\/)?"[^"]*"|[^\s,"]+/g) ?? [];
  if (tags.includes("*") || tags.includes(tag)) return undefined;
  return commandError(
    "precondition_failed",
    "The object has changed since you read it. Read it again, and look at what is there now.",
  );
}

export const isCommandError = (value: object): value is CommandError => "error" in value;
