// Commands: what an operator changes. Each is planned by the rules of this folder, and its changes are stored, in one
// transaction. The rules know neither the database nor HTTP.

import type { Channel } from "../alerts/channel.ts";
import type { AlertChange } from "../alerts/event.ts";
import type { NewNotification } from "../alerts/notification.ts";
import type { WebhookAllow } from "../alerts/webhook-url.ts";
import type { AuditedChange } from "../audit.ts";
import type { Change, CustomerState, TankState } from "../changes.ts";
import type { Device } from "../device.ts";
import type { ErrorCode, FieldError } from "../errors.ts";
import { DAY, formatInstant, type Instant } from "../instant.ts";
import type { Key } from "../key.ts";
import type { Resource } from "../resource.ts";
import type { AccountKey, Session } from "../session.ts";
import type { SignIn } from "../sign-in.ts";
import type { User } from "../user.ts";
import { invalidBody } from "../validate.ts";

type Target = { readonly id: string; readonly ifMatch?: IfMatch };
/** `fields` are as the client sent them: all their errors are reported together with those that need a lookup. */
type Creation = { readonly newId: string; readonly fields: unknown };
type FieldChange = Target & { readonly fields: unknown };
/** `swap`: a tank that has the device already gets the other one. */
type DeviceFieldChange = FieldChange & { readonly swap: boolean };
/** `tanks`: together with the customer's tanks. `tanksBefore`: how many were left before the part before this one. */
type CustomerTarget = Target & { readonly tanks: boolean; readonly tanksBefore?: number };

export type Commands = {
  readonly create_customer: Creation;
  /** `includeDeleted`: a deleted customer is changed, too. */
  readonly change_customer: FieldChange & { readonly includeDeleted?: boolean };
  readonly delete_customer: CustomerTarget;
  readonly restore_customer: CustomerTarget;
  /** Links lead to `publicUrl`. */
  readonly request_verification: { readonly id: string; readonly newId: string; readonly publicUrl: string };
  /** `hash`: of the token. */
  readonly verify_customer: { readonly hash: string };
  readonly create_tank: Creation;
  readonly change_tank: DeviceFieldChange;
  readonly delete_tank: Target;
  readonly restore_tank: FieldChange;
  readonly put_device: DeviceFieldChange;
  readonly remove_device: Target;
  readonly create_key: Creation & { readonly hash: string };
  readonly change_key: FieldChange;
  /** The old key stays valid for `overlap` milliseconds. */
  readonly rotate_key: { readonly id: string; readonly overlap: number; readonly newId: string; readonly hash: string };
  readonly revoke_key: Target;
  /** `by`: who acknowledges it. */
  readonly acknowledge_alert: FieldChange & { readonly by: string };
  readonly close_alert: FieldChange;
  readonly change_alert: FieldChange;
  /** `secret`: of a webhook. */
  readonly create_channel: Creation & { readonly secret: string; readonly webhookAllow: WebhookAllow };
  readonly change_channel: FieldChange & { readonly webhookAllow: WebhookAllow };
  readonly delete_channel: Target;
  /** The old secret signs, too, for `overlap` milliseconds. */
  readonly rotate_channel: { readonly id: string; readonly overlap: number; readonly secret: string };
  readonly test_channel: { readonly id: string; readonly newId: string };
  /** Sends failed notifications again, some at a time: those that had failed by `failedBy`. */
  readonly recover_channel: { readonly id: string; readonly fields: unknown; readonly failedBy: Instant };
  /** The same for mail about alerts to customers. */
  readonly recover_mail: { readonly fields: unknown; readonly failedBy: Instant };
  readonly retry_notification: { readonly id: string };
  readonly create_user: Creation;
  readonly change_user: FieldChange;
  readonly remove_user: Target;
  /** `hash`: of the token of the link. */
  readonly create_sign_in_link: { readonly account: AccountKey; readonly hash: string };
  /** `browser`: the hash of its secret. `secrets`: hashes for each mail. */
  readonly request_sign_in: {
    readonly email: string;
    readonly browser: string;
    readonly secrets: readonly Pick<SignIn, "hash" | "code">[];
  };
  readonly sign_in: SignInCommand;
  /** `account`: only if the session is one of its own. */
  readonly end_session: { readonly id: string; readonly account?: AccountKey };
  /** `result` replaces the one of these rows where they are one of several parts. */
  readonly provision: Provision & { readonly isDryRun: boolean; readonly result?: object };
};

/** `code` and `browser` are hashes, as `token` is. */
export type SignInProof =
  | { readonly token: string }
  | { readonly email: string; readonly browser: string; readonly code: string };

type SignInCommand = {
  readonly proof: SignInProof;
  /** The id of the account, where several have the address. */
  readonly account: string | undefined;
  readonly newId: string;
  /** Hash of the secret of the session. */
  readonly hash: string;
  readonly userAgent: string | null;
  /** The session that the browser has so far. */
  readonly replaces: string | undefined;
};

export type CommandOf<T extends keyof Commands> = { readonly type: T } & Commands[T];
export type Command = { [T in keyof Commands]: CommandOf<T> }[keyof Commands];

/** `newId` is used for a row without an id. */
export type ProvisionRow = { readonly newId: string; readonly fields: unknown };
export type Provision = { readonly customers: readonly ProvisionRow[]; readonly tanks: readonly ProvisionRow[] };

/** Stored for each part of a command but the last: the idempotency key is reserved, but the same request may continue. */
export const INCOMPLETE = { is_incomplete: true };

/** What a provisioning would do. */
export type CheckedProvision = {
  readonly resource: Resource;
  /**
   * Rows of tanks that get another device, in groups that may be written one after the other: a tank that releases a device comes
   * before the one that gets it. Tanks that swap devices are one group.
   */
  readonly deviceChanges: readonly (readonly number[])[];
};

/** The value of an If-Match header, if there was one. */
export type IfMatch = string | undefined;

/** Makes a command safe to repeat: the client's key, and a fingerprint of the request it was first used for. */
export type IdempotencyKey = { readonly key: string; readonly fingerprint: string };
export const IDEMPOTENCY_MS = DAY;

export type KeyChange = { readonly before: Key | undefined; readonly after: Key; readonly hash: string | undefined };

/** `after` is undefined where it is deleted. A `secret` replaces the one before, which is valid until `previousUntil`. */
export type ChannelChange = {
  readonly before: Channel | undefined;
  readonly after: Channel | undefined;
  readonly secret?: { readonly value: string | null; readonly previousUntil: Instant | null };
};

/** `after` is undefined where it is removed. */
export type UserChange = { readonly before: User | undefined; readonly after: User | undefined };

/** What a command changes. Lists, counts, the fleet and device assignments follow from the changed customers and tanks. */
export type ChangeSet = {
  readonly resource: Resource;
  readonly customers: readonly Change<CustomerState>[];
  readonly tanks: readonly Change<TankState>[];
  readonly profiles: readonly Pick<Device, "id" | "profile">[];
  /** Devices whose pending readings are removed. */
  readonly pendingRemoved: readonly string[];
  readonly devicesRemoved: readonly string[];
  readonly keys: readonly KeyChange[];
  readonly alerts: readonly AlertChange[];
  readonly channels: readonly ChannelChange[];
  readonly notifications: readonly NewNotification[];
  /** Ids of notifications that are sent again, and of pending ones that are not sent any more, with the reason. */
  readonly notificationsRetried: readonly string[];
  readonly notificationsEnded: readonly { readonly ids: readonly string[]; readonly reason: string }[];
  /** Customers whose links that verify the address become invalid. */
  readonly verificationsRevoked: readonly string[];
  readonly users: readonly UserChange[];
  readonly signIns: readonly SignIn[];
  readonly sessionsStarted: readonly (Session & { readonly hash: string })[];
  /** Ids. */
  readonly sessionsEnded: readonly string[];
  /** Audit entries in addition to those for changed customers and tanks. */
  readonly audit: readonly AuditedChange[];
};

export type PlanResult = Promise<ChangeSet | CommandError>;

/** `retryAfter`: seconds after which to retry. */
export type CommandError = {
  readonly error: ErrorCode;
  readonly detail: string;
  readonly errors?: readonly FieldError[];
  readonly retryAfter?: number;
};

/** `replayed`: the command was executed before with the same idempotency key; this is the result it had. */
export type CommandResult = { readonly resource: Resource; readonly replayed: boolean } | CommandError;

const NO_CHANGES = {
  customers: [],
  tanks: [],
  profiles: [],
  pendingRemoved: [],
  devicesRemoved: [],
  keys: [],
  alerts: [],
  channels: [],
  notifications: [],
  notificationsRetried: [],
  notificationsEnded: [],
  verificationsRevoked: [],
  users: [],
  signIns: [],
  sessionsStarted: [],
  sessionsEnded: [],
  audit: [],
};

export function changeSet(resource: Resource, changes: Partial<ChangeSet>): ChangeSet {
  return { ...NO_CHANGES, resource, ...changes };
}

export const commandError = (error: ErrorCode, detail: string): CommandError => ({ error, detail });

export const isCommandError = (value: object): value is CommandError => "error" in value;

export const idTaken = (kind: string, id: string): CommandError =>
  commandError(
    "id_taken",
    `The id ${id} is already used by another ${kind}, perhaps a deleted one. Omit the id to have one generated.`,
  );

export function invalidFields(fieldErrors: readonly FieldError[], maxReported?: number): CommandError {
  const { message, errors = [] } = invalidBody(fieldErrors, maxReported);
  return { error: "body_invalid", detail: message, errors };
}

export const CUSTOMER_DELETED = commandError("state_conflict", "This customer is deleted. Restore it first.");

/** Errors in a field that should refer to a live customer. */
export function customerReferenceErrors(field: string, customer: { readonly deleted: boolean } | undefined): FieldError[] {
  if (customer === undefined) return [{ field, message: "no such customer" }];
  return customer.deleted ? [{ field, message: "this customer is deleted" }] : [];
}

export type ObjectKind = "customer" | "tank" | "device" | "key" | "alert" | "channel" | "notification" | "user" | "session";

/** The object, unless there is none, or the client has read another version of it. */
export function existing<T extends object>(
  kind: ObjectKind,
  found: T | undefined,
  ifMatch: IfMatch,
  resourceOf: (found: T) => Resource,
): T | CommandError {
  if (found === undefined) return commandError(`${kind}_unknown`, `There is no ${kind} with this id.`);
  return preconditionError(ifMatch, resourceOf(found)) ?? found;
}

/** Undefined if the object still has one of the ETags of the If-Match header. */
export function preconditionError(ifMatch: IfMatch, { etag }: Resource): CommandError | undefined {
  if (ifMatch === undefined) return undefined;
  const etags: readonly string[] = ifMatch.match(/(?:W\/)?"[^"]*"|[^\s,"]+/g) ?? [];
  if (etags.includes("*") || etags.includes(etag)) return undefined;
  return commandError("precondition_failed", "The object has changed since you read it. Read it again before you change it.");
}

/** Counts the pending readings that a command releases. */
export class ReleasedReadings {
  #stored = 0;
  #rejected = 0;
  #from: Instant = Number.POSITIVE_INFINITY;
  #to: Instant = Number.NEGATIVE_INFINITY;

  add(created_at: Instant, isRejected: boolean): void {
    if (isRejected) this.#rejected++;
    else this.#stored++;
    this.#from = Math.min(this.#from, created_at);
    this.#to = Math.max(this.#to, created_at);
  }

  get summary(): object | null {
    if (this.#stored + this.#rejected === 0) return null;
    return { readings: this.#stored, rejected: this.#rejected, from: formatInstant(this.#from), to: formatInstant(this.#to) };
  }
}

/** For commands that may release pending readings: `released` is set once they are released. */
export function withReleasedField({ object, etag }: Resource): Resource {
  return { object: { ...object, released: null }, etag };
}

export function withReleased(resource: Resource, released: ReleasedReadings): Resource {
  if (!("released" in resource.object)) return resource;
  return { ...resource, object: { ...resource.object, released: released.summary } };
}
