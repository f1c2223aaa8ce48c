// The store over an engine: every call fails with `store_unavailable` while the database is away, and losses and recoveries
// are reported.

import type { AuditContext } from "../../domain/audit.ts";
import { RequestError } from "../../domain/errors.ts";
import type { Observe } from "../../domain/events.ts";
import type { ManagementReads } from "../../domain/management-reads.ts";
import type { IncomingBatch, IngestResult } from "../../domain/reading.ts";
import type { Maintenance, Reads, Store } from "../../domain/store.ts";
import type { WriteArgs, WriteName, WriteResult } from "./writes.ts";

export type EngineReads = Reads & ManagementReads & Pick<Maintenance, "isEmpty">;
type EngineMaintenance = Pick<Maintenance, "backup" | "exportRecords" | "check" | "scratchCopy">;

export type Engine = {
  readonly reads: EngineReads;
  readonly write: <N extends WriteName>(name: N, ...args: WriteArgs<N>) => Promise<WriteResult<N>>;
  readonly ingest: (batch: IncomingBatch) => Promise<IngestResult>;
  readonly maintenance: EngineMaintenance;
  /** A `RequestError` for errors that mean the database is away; others unchanged. */
  readonly translateError: (error: unknown) => unknown;
  /** Throws while the engine knows that its database is away, and has reported it. */
  readonly assertAvailable?: () => void;
  readonly close: () => Promise<void>;
};

export function storeOn(engine: Engine, health: StoreHealth): Store {
  const { reads, write, maintenance, translateError, assertAvailable = () => {} } = engine;

  async function translated<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw translateError(error);
    }
  }

  function read<A extends unknown[], T>(query: (...args: A) => Promise<T>): (...args: A) => Promise<T> {
    return async (...args) => {
      assertAvailable();
      return health.reads.watch(() => translated(() => query(...args)));
    };
  }

  async function watchedWrite<T>(work: () => Promise<T>): Promise<T> {
    assertAvailable();
    return health.writes.watch(() => translated(work));
  }

  return {
    customerById: read(reads.customerById),
    customerPage: read(reads.customerPage),
    tankById: read(reads.tankById),
    tankPage: read(reads.tankPage),
    telemetryPage: read(reads.telemetryPage),
    keyByHash: read(reads.keyByHash),
    ping: read(reads.ping),
    managedCustomer: read(reads.managedCustomer),
    customerSearch: read(reads.customerSearch),
    managedTank: read(reads.managedTank),
    tankSearch: read(reads.tankSearch),
    managedDevice: read(reads.managedDevice),
    newestPending: read(reads.newestPending),
    deviceSearch: read(reads.deviceSearch),
    fleetPage: read(reads.fleetPage),
    auditPage: read(reads.auditPage),
    keyList: read(reads.keyList),
    isEmpty: read(reads.isEmpty),
    importCustomers: (records, context = importContext()) => watchedWrite(() => write("importCustomers", records, context)),
    importTanks: (records, context = importContext()) => watchedWrite(() => write("importTanks", records, context)),
    importDevices: (records, context = importContext()) => watchedWrite(() => write("importDevices", records, context)),
    execute: (command, context, key) => watchedWrite(() => write("execute", command, context, key)),
    updateLastSeen: (seen) => watchedWrite(() => write("updateLastSeen", seen)),
    ingest: (batch) => watchedWrite(() => engine.ingest(batch)),
    // A copy may fail because of its destination, which says nothing about the database.
    backup: (file, progress) => translated(() => maintenance.backup(file, progress)),
    scratchCopy: (progress) => translated(() => maintenance.scratchCopy(progress)),
    exportRecords: maintenance.exportRecords,
    check: maintenance.check,
    close: engine.close,
  };
}

const importContext = (): AuditContext => ({ by: "import", at: Date.now() });

export type StoreHealth = { readonly reads: Health; readonly writes: Health };

export const storeHealth = (observe: Observe): StoreHealth => ({
  reads: new Health(
    (reason) => observe({ kind: "store_unavailable", reason }),
    () => observe({ kind: "store_recovered" }),
  ),
  writes: new Health(
    (reason) => observe({ kind: "writes_unavailable", reason }),
    () => observe({ kind: "writes_recovered" }),
  ),
});

/** Reports once when the database is lost, and once when it is back. */
class Health {
  readonly #lost: (reason: string) => void;
  readonly #recovered: () => void;
  #isLost = false;
  #isHeld = false;
  #losses = 0;

  constructor(lost: (reason: string) => void, recovered: () => void) {
    this.#lost = lost;
    this.#recovered = recovered;
  }

  lose(reason: string): void {
    this.#losses++;
    if (this.#isLost) return;
    this.#isLost = true;
    this.#lost(reason);
  }

  /** Lost until released: results of calls that were already running do not count as a recovery. */
  hold(reason: string): void {
    this.#isHeld = true;
    this.lose(reason);
  }

  release(): void {
    this.#isHeld = false;
    this.#recover();
  }

  #recover(): void {
    if (!this.#isLost || this.#isHeld) return;
    this.#isLost = false;
    this.#recovered();
  }

  async watch<T>(work: () => Promise<T>): Promise<T> {
    const losses = this.#losses;
    try {
      const result = await work();
      // A call that began before the loss says nothing about a recovery.
      if (losses === this.#losses) this.#recover();
      return result;
    } catch (error) {
      if (error instanceof RequestError) this.lose(error.cause instanceof Error ? error.cause.message : error.message);
      throw error;
    }
  }
}
