// Reads go to streaming replicas that are available and not too far behind; otherwise to the primary.
//
// The position of the primary in its log is recorded twice a second. A replica that has not replayed a position is behind by the time
// since it was recorded, or more. This needs no synchronised clocks, and no writes.

import { hasCode } from "../../domain/errors.ts";
import type { Observe } from "../../domain/log-events.ts";
import { replicaReads } from "../core/reads.ts";
import { type Db, type PostgresSettings, prepareOn, statement, translateError } from "./connection.ts";
import { listPagesOn } from "./list-pages.ts";
import { READ_CONNECTIONS, ReadConnections } from "./read-connections.ts";
import { serverFailure } from "./servers.ts";
import { telemetryReads } from "./telemetry-reads.ts";

const CHECK_INTERVAL_MS = 500;
/** Time limit for a replica; after that the primary is used. */
const TIMEOUT_MS = 2000;

/** Positions in the log, as bytes since its beginning. */
const WRITTEN = statement("SELECT (pg_current_wal_lsn() - '0/0'::pg_lsn)::float8");
const REPLAYED = statement("SELECT (pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::float8 WHERE pg_is_in_recovery()");

export type ReplicaReads = ReturnType<typeof replicaReadsOn>;
/** Reads that may come from a replica. */
export const replicaReadsOn = (db: Db) => ({ ...telemetryReads(db), ...replicaReads(prepareOn(db), listPagesOn(db)) });

type Replica = {
  readonly name: string;
  readonly db: ReadConnections;
  readonly reads: ReplicaReads;
  /** `starting`: not checked yet, or still replaying what was written before the start. */
  state: "starting" | "available" | "unavailable";
  /** Each is checked on its own: a slow one delays no other. */
  checking?: Promise<void> | undefined;
};
type LogPosition = { readonly at: number; readonly position: number };

export class Replicas {
  readonly reads: ReplicaReads = {
    telemetryPage: (...args) => this.#read((reads) => reads.telemetryPage(...args)),
    readingColumns: (...args) => this.#read((reads) => reads.readingColumns(...args)),
    customerById: (...args) => this.#read((reads) => reads.customerById(...args)),
    customerPage: (...args) => this.#read((reads) => reads.customerPage(...args)),
    tankById: (...args) => this.#read((reads) => reads.tankById(...args)),
    tankPage: (...args) => this.#read((reads) => reads.tankPage(...args)),
  };
  readonly #primary: Db;
  readonly #primaryReads: ReplicaReads;
  readonly #replicas: readonly Replica[];
  readonly #lagMs: number;
  readonly #observe: Observe;
  readonly #timer: NodeJS.Timeout | undefined;
  #positions: LogPosition[] = [];
  #turn = 0;
  #checking: Promise<void> | undefined;

  constructor(primary: Db, settings: PostgresSettings, schema: string, observe: Observe) {
    const { replicaUrls, replicaLagMs, connections } = settings;
    this.#primary = primary;
    this.#primaryReads = replicaReadsOn(primary);
    this.#lagMs = replicaLagMs;
    this.#observe = observe;
    this.#replicas = replicaUrls.map((url) => {
      const db = new ReadConnections(url, Math.min(READ_CONNECTIONS, connections), { schema, timeoutMs: TIMEOUT_MS });
      return { name: new URL(url).host, db, reads: replicaReadsOn(db), state: "starting" };
    });
    if (this.#replicas.length === 0) return;
    this.#timer = setInterval(() => this.#check(), CHECK_INTERVAL_MS);
    this.#timer.unref();
    this.#check();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#checking;
    await Promise.all(this.#replicas.map(({ checking }) => checking));
    await Promise.all(this.#replicas.map(({ db }) => db.close()));
  }

  async #read<T>(read: (reads: ReplicaReads) => Promise<T>): Promise<T> {
    const replica = this.#next();
    if (replica === undefined) return read(this.#primaryReads);
    try {
      return await read(replica.reads);
    } catch (error) {
      // The replica may be away or damaged, or have cancelled the read to replay its log: the primary can run it.
      const translated = translateError(error);
      if (hasCode(translated, "data_damaged")) {
        this.#observe({ kind: "replica_damaged", replica: replica.name, reason: serverFailure(error) });
      } else if (translated !== error) this.#setUnavailable(replica, serverFailure(error));
      return read(this.#primaryReads);
    }
  }

  /** Round robin among the available ones. */
  #next(): Replica | undefined {
    const available = this.#replicas.filter(({ state }) => state === "available");
    this.#turn = (this.#turn + 1) % Math.max(1, available.length);
    return available[this.#turn];
  }

  #check(): void {
    this.#checking ??= this.#checkAll().finally(() => {
      this.#checking = undefined;
    });
  }

  async #checkAll(): Promise<void> {
    const at = performance.now();
    const written = await this.#primary.rows(WRITTEN).catch(() => []);
    const position = written[0]?.[0];
    if (typeof position === "number") this.#positions.push({ at, position });
    // One position older than the limit is enough.
    const old = this.#positions.findLastIndex((position) => position.at < at - this.#lagMs);
    if (old > 0) this.#positions = this.#positions.slice(old);
    for (const replica of this.#replicas) {
      replica.checking ??= this.#checkReplica(replica).finally(() => {
        replica.checking = undefined;
      });
    }
  }

  async #checkReplica(replica: Replica): Promise<void> {
    try {
      const [row] = await replica.db.rows(REPLAYED);
      if (row === undefined) return this.#setUnavailable(replica, "it is not a replica");
      // It may fall behind until the next check. After a start no position is old enough: the oldest one counts.
      const due = performance.now() - this.#lagMs + CHECK_INTERVAL_MS;
      const required = this.#positions.findLast(({ at }) => at < due) ?? this.#positions[0];
      // The primary has not responded yet.
      if (required === undefined) return;
      if (Number(row[0]) >= required.position) return this.#setAvailable(replica);
      if (replica.state === "starting" && required.at >= due) return;
      this.#setUnavailable(replica, `it is more than the permitted ${this.#lagMs} ms behind, or could be before the next check`);
    } catch (error) {
      this.#setUnavailable(replica, serverFailure(error));
    }
  }

  #setAvailable(replica: Replica): void {
    if (replica.state !== "available") this.#observe({ kind: "replica_available", replica: replica.name });
    replica.state = "available";
  }

  #setUnavailable(replica: Replica, reason: string): void {
    if (replica.state !== "unavailable") this.#observe({ kind: "replica_unavailable", replica: replica.name, reason });
    replica.state = "unavailable";
  }
}
