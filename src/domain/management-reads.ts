// Reads for operators: searches, devices with pending readings, and the audit log.

import type { ChannelReads } from "./alerts/reads.ts";
import type { AuditContext, AuditEntry } from "./audit.ts";
import type { TankState } from "./changes.ts";
import type { CheckedProvision, CommandResult, IdempotencyKey, Provision } from "./commands/command.ts";
import type { StoredKey } from "./key.ts";
import type { Page, PageQuery } from "./page.ts";
import type { PendingReading } from "./placement.ts";
import type { ManagedCustomer, ManagedDevice } from "./resource.ts";
import type { AccountReads } from "./sign-in.ts";
import type { MailLinkReads } from "./verification.ts";

/** Texts are prefixes, in any case of A to Z; ids are exact. */
export type CustomerSearch = PageQuery & {
  readonly deleted: boolean;
  readonly name: string | undefined;
  readonly email: string | undefined;
  /** Every word is in the id, name, e-mail address or phone number: see search.ts. */
  readonly search: string | undefined;
};

export type TankSearch = PageQuery & {
  readonly deleted: boolean;
  readonly name: string | undefined;
  readonly city: string | undefined;
  readonly custom_id: string | undefined;
  readonly owner_id: string | undefined;
  readonly device_id: string | undefined;
};

/** By id, ascending. `pending`: only devices with pending readings, or only those without. */
export type DeviceSearch = Pick<PageQuery, "page" | "size"> & { readonly pending: boolean | undefined };

/** Newest first. */
export type AuditQuery = PageQuery & {
  readonly by: string | undefined;
  readonly object: AuditEntry["object"] | undefined;
  readonly id: string | undefined;
};

export interface ManagementReads extends ChannelReads, MailLinkReads, AccountReads {
  managedCustomer(id: string): Promise<ManagedCustomer | undefined>;
  customerSearch(search: CustomerSearch): Promise<Page<ManagedCustomer>>;
  managedTank(id: string): Promise<TankState | undefined>;
  tankSearch(search: TankSearch): Promise<Page<TankState>>;
  /** Looks a device up by its key. */
  managedDevice(key: string): Promise<ManagedDevice | undefined>;
  /** The pending reading of the device that was measured last. */
  newestPending(key: string): Promise<PendingReading | undefined>;
  deviceSearch(search: DeviceSearch): Promise<Page<ManagedDevice>>;
  auditPage(query: AuditQuery): Promise<Page<AuditEntry>>;
  /** The result of an earlier provisioning with the same idempotency key, or what this one would do. */
  checkProvision(rows: Provision, context: AuditContext, key?: IdempotencyKey): Promise<CheckedProvision | CommandResult>;
  /** Newest first, then by id. */
  keyList(): Promise<StoredKey[]>;
}
