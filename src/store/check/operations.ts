// What an engine reads and writes for checks and repairs.

import type { CustomerWithCount } from "../../domain/customer.ts";
import type { DeviceAssignment } from "../../domain/device.ts";
import type { StoredKey } from "../../domain/key.ts";
import type { PendingReading } from "../../domain/placement.ts";
import type { Tank } from "../../domain/tank.ts";
import type { RankTable } from "../core/transaction.ts";
import type { FleetRow } from "../fleet-row.ts";
import type { ListKind } from "../series/lists.ts";
import type { Head } from "../series/merge.ts";
import type { Position } from "../series/rank-index.ts";
import type { CheckResult, Inconsistency } from "./inconsistency.ts";
import type { StoredGroup } from "./rank-index.ts";
import type { BlockRow } from "./readings.ts";

/** `deletedFlag` is the stored value, which should be a boolean, or 0 or 1. */
export type CustomerRow = { readonly customer: CustomerWithCount; readonly deletedFlag: unknown; readonly ownedTanks: number };

export type TankRow = {
  readonly tank: Tank;
  readonly deletedFlag: unknown;
  /** JSON. */
  readonly shape: string | null;
  /** `inBlocks`: where the engine stores how many readings are in blocks. */
  readonly head: (Head & { readonly inBlocks?: number }) | undefined;
  readonly fleet: (FleetRow & { readonly threshold: number }) | undefined;
  /** The latest reading as stored beside the head, where the engine does so for deleted tanks, too. */
  readonly latest?: Pick<FleetRow, "at" | "fill">;
  /** The tank that the tank's device says it serves; undefined if the device is unknown. */
  readonly deviceTank: string | null | undefined;
  /** That tank is live and names the device as well. */
  readonly isDeviceElsewhere: boolean;
};

export interface CheckReads {
  /** Damage of the database itself. */
  databaseErrors(): Promise<Inconsistency[]>;
  /** Rows that refer to rows that do not exist. */
  danglingRows(): Promise<CheckResult[]>;
  objectCount(): Promise<number>;
  /** The next few by id; none at the end. */
  customersAfter(id: string): Promise<readonly CustomerRow[]>;
  customer(id: string): Promise<CustomerRow | undefined>;
  tanksAfter(id: string): Promise<readonly TankRow[]>;
  tank(id: string): Promise<TankRow | undefined>;
  /** The blocks of each tank that has some, by start. */
  blocksOf(tankIds: readonly string[]): Promise<ReadonlyMap<string, readonly BlockRow[]>>;
  /** The groups of each series that has some, by level and key. */
  storedGroups(table: RankTable, series: readonly string[]): Promise<ReadonlyMap<string, readonly StoredGroup[]>>;
  /** Live tanks that name a device which an older live tank names, too. */
  sharedDevices(): Promise<readonly { readonly device: string; readonly tanks: readonly [string, string] }[]>;
  /** Devices whose tank is not live (`tankDevice` null) or names another device. */
  misassignedDevices(): Promise<readonly { readonly id: string; readonly tank: string; readonly tankDevice: string | null }[]>;
  wrongPendingCounts(): Promise<readonly { readonly id: string; readonly stored: number; readonly counted: number }[]>;
  /** Ids of devices that have pending readings, but no row. */
  unknownPendingDevices(): Promise<readonly string[]>;
  assignmentsOfUnknownTanks(): Promise<readonly DeviceAssignment[]>;
  /** Ids and JSON. */
  profiles(): AsyncIterable<readonly [string, string]>;
  allPending(): AsyncIterable<PendingReading>;
  allKeys(): Promise<readonly StoredKey[]>;
  auditNumbers(): Promise<{ readonly count: number; readonly first: number; readonly last: number }>;
  /** Numbers and JSON. */
  auditChanges(): AsyncIterable<readonly [number, string]>;
  /** Lists that have a rank index, or should. */
  indexedLists(): Promise<readonly string[]>;
  /** The number of entries from each position to the next, the last one to the end. */
  segmentCounts(kind: ListKind, key: string | null, starts: readonly Position[]): Promise<readonly number[]>;
}

export interface RepairOperations extends CheckReads {
  rebuildDatabaseIndexes(): Promise<void>;
  /** Those that are derived from other data. */
  removeDanglingRows(): Promise<void>;
  recountTanks(customerId: string): Promise<void>;
  ensureHead(tankId: string): Promise<void>;
  removeBlocks(tankId: string): Promise<void>;
  /** Unless another live tank names the device, too. */
  assignDevice(deviceKey: string, tankId: string): Promise<void>;
  unassignDevices(ids: readonly string[]): Promise<void>;
  addDevices(ids: readonly string[]): Promise<void>;
  recountPending(ids: readonly string[]): Promise<void>;
}
