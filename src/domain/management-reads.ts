// Reads for operators: searches, devices with pending readings, the fleet by urgency, and the audit log.

import type { AuditEntry } from "./audit.ts";
import type { TankWithShape } from "./changes.ts";
import type { Instant } from "./instant.ts";
import type { StoredKey } from "./key.ts";
import type { Page, PageQuery } from "./page.ts";
import type { PendingReading } from "./placement.ts";
import type { Reading } from "./reading.ts";
import type { ManagedCustomer, ManagedDevice } from "./resource.ts";
import type { Tank } from "./tank.ts";

/** Texts are prefixes, in any case of A to Z; ids are exact. */
export type CustomerSearch = PageQuery & {
  readonly deleted: boolean;
  readonly name: string | undefined;
  readonly email: string | undefined;
};

export type TankSearch = PageQuery & {
  readonly deleted: boolean;
  readonly name: string | undefined;
  readonly city: string | undefined;
  readonly custom_id: string | undefined;
  readonly owner_id: string | undefined;
  readonly device_id: string | undefined;
};

/** By id, ascending. `waiting`: only devices with pending readings, or only those without. */
export type DeviceSearch = Pick<PageQuery, "page" | "size"> & { readonly waiting: boolean | undefined };

/** Low: at its threshold or below it; unknown: without a reading. */
export const FLEET_STATES = ["low", "ok", "unknown"] as const;
export type FleetState = (typeof FLEET_STATES)[number];

export type FleetQuery = Pick<PageQuery, "page" | "size"> & {
  readonly state: FleetState | undefined;
  /** Without a reading since then. */
  readonly silentSince: Instant | undefined;
  readonly owner_id: string | undefined;
  /** By its beginning, as in a search. */
  readonly city: string | undefined;
};

/** A live tank and its latest reading. */
export type FleetEntry = { readonly tank: Tank; readonly latest: Reading | null };

/** How far above its threshold a tank stands; below it, less than 0. */
export function marginOf({ tank, latest }: FleetEntry): number | null {
  return latest === null ? null : latest.fill_percentage - tank.min_fill_alert_percentage;
}

/** Newest first. */
export type AuditQuery = PageQuery & {
  readonly by: string | undefined;
  readonly object: AuditEntry["object"] | undefined;
  readonly id: string | undefined;
};

export interface ManagementReads {
  managedCustomer(id: string): Promise<ManagedCustomer | undefined>;
  customerSearch(search: CustomerSearch): Promise<Page<ManagedCustomer>>;
  managedTank(id: string): Promise<TankWithShape | undefined>;
  tankSearch(search: TankSearch): Promise<Page<TankWithShape>>;
  /** By its key. */
  managedDevice(key: string): Promise<ManagedDevice | undefined>;
  /** The pending reading of the device that was measured last. */
  newestPending(key: string): Promise<PendingReading | undefined>;
  deviceSearch(search: DeviceSearch): Promise<Page<ManagedDevice>>;
  /** The smallest margin first, then by id; those without a reading last. */
  fleetPage(query: FleetQuery): Promise<Page<FleetEntry>>;
  auditPage(query: AuditQuery): Promise<Page<AuditEntry>>;
  /** Newest first, then by id. */
  keyList(): Promise<StoredKey[]>;
}
