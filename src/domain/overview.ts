// What an operator asks: who is there, what waits, what was done, and which tank needs a truck next.

import type { AuditEntry } from "./audit.ts";
import type { ShapedTank } from "./fleet.ts";
import type { Instant } from "./instant.ts";
import type { KnownKey } from "./key.ts";
import type { ManagedCustomer, ManagedDevice } from "./managed.ts";
import type { Page, PageQuestion } from "./page.ts";
import type { Waiting } from "./placement.ts";
import type { Reading } from "./reading.ts";
import type { Tank } from "./tank.ts";

/** Texts are compared by their beginning, without regard to the case of A to Z; an id, as it is. */
export type CustomerSearch = PageQuestion & {
  readonly deleted: boolean;
  readonly name: string | undefined;
  readonly email: string | undefined;
};

export type TankSearch = PageQuestion & {
  readonly deleted: boolean;
  readonly name: string | undefined;
  readonly city: string | undefined;
  readonly custom_id: string | undefined;
  readonly owner_id: string | undefined;
  readonly device_id: string | undefined;
};

/** By id, ascending. `waiting`: those alone of which readings wait, or those of which none do. */
export type DeviceSearch = Pick<PageQuestion, "page" | "size"> & { readonly waiting: boolean | undefined };

/** Low: at its threshold or below it; unknown: without a reading. */
export const FLEET_STATES = ["low", "ok", "unknown"] as const;
export type FleetState = (typeof FLEET_STATES)[number];

export type FleetQuestion = Pick<PageQuestion, "page" | "size"> & {
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
export type AuditQuestion = PageQuestion & {
  readonly by: string | undefined;
  readonly object: AuditEntry["object"] | undefined;
  readonly id: string | undefined;
};

export interface Overview {
  managedCustomer(id: string): Promise<ManagedCustomer | undefined>;
  customerSearch(search: CustomerSearch): Promise<Page<ManagedCustomer>>;
  managedTank(id: string): Promise<ShapedTank | undefined>;
  tankSearch(search: TankSearch): Promise<Page<ShapedTank>>;
  /** By its key. */
  managedDevice(key: string): Promise<ManagedDevice | undefined>;
  /** Of its readings that wait, the one measured last. */
  newestWaiting(key: string): Promise<Waiting | undefined>;
  deviceSearch(search: DeviceSearch): Promise<Page<ManagedDevice>>;
  /** The smallest margin first, then by id; those without a reading last. */
  fleetPage(question: FleetQuestion): Promise<Page<FleetEntry>>;
  auditPage(question: AuditQuestion): Promise<Page<AuditEntry>>;
  /** Newest first, then by id. */
  keyList(): Promise<KnownKey[]>;
}
