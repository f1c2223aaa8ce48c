// What rules may look up while they decide, within the transaction that stores their decision. Unknown ids are left out.

import type { Alert } from "./alerts/alert.ts";
import type { Channel } from "./alerts/channel.ts";
import type { Notification } from "./alerts/notification.ts";
import type { TankState } from "./changes.ts";
import type { DeviceAssignment } from "./device.ts";
import type { Instant } from "./instant.ts";
import type { StoredKey } from "./key.ts";
import type { ManagedCustomer, ManagedDevice } from "./resource.ts";
import type { SessionWithAccount } from "./session.ts";
import type { AccountReads } from "./sign-in.ts";
import type { EmailVerification, VerificationMail } from "./verification.ts";

/** `damage` says that what is stored is not what was written. A shape or profile is then left out. */
export type MaybeDamaged<T> = T & { readonly damage?: string | undefined };

export interface Lookups {
  customers(ids: readonly string[]): Promise<ReadonlyMap<string, MaybeDamaged<ManagedCustomer>>>;
  tanks(ids: readonly string[]): Promise<ReadonlyMap<string, MaybeDamaged<TankState>>>;
  /** The first live tanks of a customer, at most `limit`. */
  tanksOfOwner(ownerId: string, limit: number): Promise<readonly MaybeDamaged<TankState>[]>;
  /** The first tanks of a customer that were deleted at this instant, at most `limit`. */
  tanksDeletedAt(ownerId: string, deletedAt: Instant, limit: number): Promise<readonly MaybeDamaged<TankState>[]>;
  /** Those of them whose device is assigned to another tank now. */
  tanksDeletedWithDeviceInUse(ownerId: string, deletedAt: Instant): Promise<readonly MaybeDamaged<TankState>[]>;
  devices(ids: readonly string[]): Promise<ReadonlyMap<string, MaybeDamaged<ManagedDevice>>>;
  /** Past assignments of these devices, oldest first. */
  assignments(deviceIds: readonly string[]): Promise<readonly MaybeDamaged<DeviceAssignment>[]>;
  /** How many devices have pending readings, counted up to `limit`. Nobody else adds one until the transaction ends. */
  devicesWithPending(limit: number): Promise<number>;
  keys(ids: readonly string[]): Promise<ReadonlyMap<string, StoredKey>>;
  alerts(ids: readonly string[]): Promise<ReadonlyMap<string, Alert>>;
  /** Nobody else changes them until the transaction ends. */
  channelsById(ids: readonly string[]): Promise<ReadonlyMap<string, Channel>>;
  channelCount(): Promise<number>;
  notifications(ids: readonly string[]): Promise<ReadonlyMap<string, Notification>>;
  /** Those of a channel that it may receive and that failed or expired from `since` to `failedBy`: the first of them, at most `limit`. */
  failedNotifications(
    channel: Pick<Channel, "id" | "customer_id">,
    since: Instant,
    failedBy: Instant,
    limit: number,
  ): Promise<readonly FailedNotification[]>;
  /**
   * Mail about alerts to customers who may still get some, or to this one, that failed or expired from `since` to `failedBy`: the
   * first of it, at most `limit`.
   */
  failedMail(customerId: string | null, since: Instant, failedBy: Instant, limit: number): Promise<readonly FailedMail[]>;
  /** The ids of those of a channel that are pending, at most `limit`; without those that are only about the customer `exceptAbout`. */
  pendingNotifications(
    channel: Pick<Channel, "id" | "type">,
    limit: number,
    exceptAbout: string | null,
  ): Promise<readonly string[]>;
  verification(hash: string): Promise<EmailVerification | undefined>;
  /** Mail with links that verify the customer's address, created since then, oldest first. */
  verificationMailSince(customerId: string, since: Instant): Promise<readonly VerificationMail[]>;
  userList: AccountReads["userList"];
  /** Returns the country of the customer's first tank. */
  countryOf(customerId: string): Promise<string | null>;
  customersWithEmail: AccountReads["customersWithEmail"];
  signInByHash: AccountReads["signInByHash"];
  signInsOf: AccountReads["signInsOf"];
  /** How many links were requested for the address, in whatever case: after `since`, and not after `until`. */
  signInsBetween(email: string, since: Instant, until: Instant): Promise<number>;
  sessions(ids: readonly string[]): Promise<ReadonlyMap<string, SessionWithAccount>>;
  /** Newest first. */
  sessionsOf: AccountReads["sessionsOf"];
}

/** `ended_at`: when it failed or expired. */
export type FailedNotification = Pick<Notification, "id"> & { readonly ended_at: Instant };
export type FailedMail = FailedNotification & { readonly customer_id: string };

/** One object of a lookup, or undefined. */
export async function findOne<T>(
  lookup: (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>,
  id: string,
): Promise<T | undefined> {
  return (await lookup([id])).get(id);
}
