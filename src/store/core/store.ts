// The store over an engine: every call fails with `store_unavailable` while the database is unavailable, and losses, recoveries and
// the duration of calls are reported.

import type { ComposeReads } from "../../domain/alerts/compose.ts";
import type { NotificationQueueReads } from "../../domain/alerts/notification-queue.ts";
import type { Command } from "../../domain/commands/command.ts";
import { DamageError, hasCode, type RequestError, storeUnavailable } from "../../domain/errors.ts";
import type { FleetOrderReads } from "../../domain/fleet-order.ts";
import type { ForecastReads } from "../../domain/forecast/stored.ts";
import type { Observe } from "../../domain/log-events.ts";
import type { ManagementReads } from "../../domain/management-reads.ts";
import type { IncomingBatch, IngestResult } from "../../domain/reading.ts";
import type { Maintenance, Reads, Store } from "../../domain/store.ts";
import type { RepairName } from "../check/check.ts";
import type { WriteArgs, WriteName, WriteResult } from "./writes.ts";

type EngineReads = Reads &
  ManagementReads &
  ComposeReads &
  NotificationQueueReads &
  FleetOrderReads &
  ForecastReads &
  Pick<Maintenance, "isEmpty">;

export type Engine = Pick<Maintenance, "backup" | "exportRecords" | "check" | "scratchCopy"> & {
  readonly reads: EngineReads;
  readonly write: <N extends WriteName>(name: N, ...args: WriteArgs<N>) => Promise<WriteResult<N>>;
  readonly ingest: (batch: IncomingBatch) => Promise<IngestResult>;
  /** Readings of the tank are not appended until its head can be read again. */
  readonly addDamagedTank: (tankId: string) => void;
  /** A `RequestError` for errors that mean that the database is unavailable or damaged; others unchanged. */
  readonly translateError: (error: unknown) => unknown;
  readonly close: () => Promise<void>;
};

/**
 * All but repairs. On PostgreSQL they run at once, or are queued behind earlier readings and commands. Names only, because the table
 * of writes would load their code into the thread that serves requests.
 */
export const STORE_WRITES = {
  importCustomers: "queued",
  importTanks: "queued",
  importDevices: "queued",
  execute: "queued",
  updateLastSeen: "queued",
  claimNotifications: "at once",
  recordAttempts: "at once",
  endPending: "at once",
  expireAndReschedule: "at once",
  removeOldNotifications: "at once",
  sweepAlerts: "queued",
  tanksDue: "queued",
  evaluateTank: "queued",
  composeNotifications: "at once",
  postponeNotifications: "at once",
  updateSortKeys: "at once",
  storeForecasts: "at once",
  putFleetOrderState: "at once",
} as const satisfies Record<Exclude<WriteName, RepairName>, "queued" | "at once">;
type StoreWriteName = keyof typeof STORE_WRITES;
type StoreWrites = {
  readonly [N in StoreWriteName]: (...args: WriteArgs<N>) => Promise<WriteResult<N>>;
};

export function storeOn(engine: Engine, observe: Observe, health = new StoreHealth(observe)): Store {
  const { write, translateError } = engine;

  function watched<A extends unknown[], T>(target: Health, name: string, work: (...args: A) => Promise<T>) {
    return async (...args: A): Promise<T> => {
      const startedAt = performance.now();
      const { losses } = target;
      /** Whether the database worked: it did if it found that some of its data is damaged. */
      let ok = false;
      try {
        if (health.fileLossReason !== undefined) throw storeUnavailable(new Error(health.fileLossReason));
        const result = await work(...args);
        // A call that began before the loss says nothing about a recovery.
        if (losses === target.losses) target.recover();
        ok = true;
        return result;
      } catch (error) {
        const translated = translateError(error);
        if (hasCode(translated, "store_unavailable") && health.fileLossReason === undefined) target.lose(causeText(translated));
        const damagedTank = damagedTankIn(translated);
        if (damagedTank !== undefined) engine.addDamagedTank(damagedTank);
        const isDamaged = hasCode(translated, "data_damaged");
        ok = isDamaged;
        // The sweep finds out itself which tank is damaged.
        if (isDamaged && name !== "sweepAlerts") {
          observe({ kind: "data_damaged", object: objectOf(name, args), reason: causeText(translated) });
        }
        throw translated;
      } finally {
        const milliseconds = performance.now() - startedAt;
        if (target === health.reads) observe({ kind: "query_completed", query: name, milliseconds, ok });
        else observe({ kind: "write_completed", write: name, milliseconds, ok });
      }
    };
  }

  async function withTranslatedErrors<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      throw translateError(error);
    }
  }

  const writes = (Object.keys(STORE_WRITES) as StoreWriteName[]).map((name) => [
    name,
    watched(health.writes, name, (...args: WriteArgs<typeof name>) => write(name, ...args)),
  ]);
  const reads = Object.entries(engine.reads).map(([name, read]) => [
    name,
    watched(health.reads, name, read as (...args: unknown[]) => Promise<unknown>),
  ]);
  return {
    ...(Object.fromEntries(reads) as EngineReads),
    ...(Object.fromEntries(writes) as StoreWrites),
    ingest: watched(health.writes, "ingest", engine.ingest),
    // A copy may fail because of its destination, which says nothing about the database.
    backup: (file, progress) => withTranslatedErrors(engine.backup(file, progress)),
    scratchCopy: (progress) => withTranslatedErrors(engine.scratchCopy(progress)),
    exportRecords: engine.exportRecords,
    check: engine.check,
    close: engine.close,
  };
}

const OBJECTS: Readonly<Record<string, string>> = {
  alertById: "alert",
  customerById: "customer",
  evaluateTank: "tank",
  fleetEntry: "tank",
  historyColumns: "tank",
  refillPage: "tank",
  tankForecast: "tank",
  managedCustomer: "customer",
  managedDevice: "device",
  managedTank: "tank",
  newestPending: "device",
  notificationById: "notification",
  readingColumns: "tank",
  tankById: "tank",
  telemetryPage: "tank",
};

/** What a call is about, for the operator. */
function objectOf(name: string, [first]: readonly unknown[]): string {
  if (name === "ingest") {
    const [source, ...others] = (first as IncomingBatch).sources;
    return others.length > 0 ? `${others.length + 1} tanks or devices` : `${source?.kind} ${source?.id}`;
  }
  if (name === "execute") {
    const { type, id = "" } = first as Command & { readonly id?: string };
    return `${type} ${id}`.trimEnd();
  }
  const object = OBJECTS[name];
  return object === undefined ? name : `${object} ${first}`;
}

const damagedTankIn = (error: unknown): string | undefined =>
  hasCode(error, "data_damaged") && error.cause instanceof DamageError ? error.cause.tankId : undefined;
const causeText = ({ cause, message }: RequestError): string => (cause instanceof Error ? cause.message : message);

/** What is known of the database, from calls and from the engine. */
export class StoreHealth {
  readonly reads: Health;
  readonly writes: Health;
  /** Why the database file is lost. Until it is back, all calls fail. */
  #fileLossReason: string | undefined;

  constructor(observe: Observe) {
    this.reads = new Health(observe, "store_unavailable", "store_recovered");
    this.writes = new Health(observe, "writes_unavailable", "writes_recovered");
  }

  get fileLossReason(): string | undefined {
    return this.#fileLossReason;
  }

  set fileLossReason(reason: string | undefined) {
    this.#fileLossReason = reason;
    if (reason === undefined) this.reads.recover();
    else this.reads.lose(reason);
  }
}

type Lost = "store_unavailable" | "writes_unavailable";
type Recovered = "store_recovered" | "writes_recovered";

/** Reports once when the database is lost, and once when it is back. */
class Health {
  readonly #observe: Observe;
  readonly #lost: Lost;
  readonly #recovered: Recovered;
  #isLost = false;
  losses = 0;

  constructor(observe: Observe, lost: Lost, recovered: Recovered) {
    this.#observe = observe;
    this.#lost = lost;
    this.#recovered = recovered;
  }

  lose(reason: string): void {
    this.losses++;
    if (this.#isLost) return;
    this.#isLost = true;
    this.#observe({ kind: this.#lost, reason });
  }

  recover(): void {
    if (!this.#isLost) return;
    this.#isLost = false;
    this.#observe({ kind: this.#recovered });
  }
}
