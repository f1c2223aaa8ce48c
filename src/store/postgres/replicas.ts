// Reads go to streaming replicas that are available and not too far behind; otherwise to the primary.
//
// The lag is measured by the log: the primary's position is recorded twice a second, and a replica that has not replayed a
// position recorded two seconds ago is more than two seconds behind. This needs no synchronised clocks, and no writes.

import { hasCode } from "../../domain/errors.ts";
import type { Observe } from "../../domain/log-events.ts";
import { type Db, type PostgresSettings, statement, translateError } from "./connection.ts";
import { READ_CONNECTIONS, ReadConnections } from "./read-connections.ts";

const CHECK_INTERVAL_MS = 500;
/** Time limit for a replica; after that the primary is used. */
const TIMEOUT_MS = 2000;

/** Positions in the log, as bytes since its beginning. */
const WRITTEN = statement("SELECT (pg_current_wal_lsn() - '0/0'::pg_lsn)::float8");
const REPLAYED = statement("SELECT (pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::float8 WHERE pg_is_in_recovery()");

type Replica = {
  readonly db: ReadConnections;
  readonly name: string;
  unavailable: string | undefined;
  /** Each is checked on its own: a slow one delays no other. */
  checking?: Promise<void> | undefined;
};
type LogPosition = { readonly at: number; readonly position: number };

export class Replicas {
  readonly db: Db;
  readonly #primary: Db;
  readonly #replicas: Replica[];
  readonly #lagMs: number;
  readonly #observe: Observe;
  readonly #timer: NodeJS.Timeout | undefined;
  #positions: LogPosition[] = [];
  #turn = 0;
  #checking: Promise<void> | undefined;

  constructor(primary: Db, settings: PostgresSettings, schema: string, observe: Observe) {
    const { replicaUrls, replicaLagMs, connections } = settings;
    this.#primary = primary;
    this.#lagMs = replicaLagMs;
    this.#observe = observe;
    this.#replicas = replicaUrls.map((url) => ({
      db: new ReadConnections(url, Math.min(READ_CONNECTIONS, connections), { schema, timeoutMs: TIMEOUT_MS }),
      name: new URL(url).host,
      unavailable: "not checked yet",
    }));
    this.db = this.#replicas.length === 0 ? this.#primary : { rows: (query, values) => this.#rows(query, values) };
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

  async #rows(...[query, values]: Parameters<Db["rows"]>): ReturnType<Db["rows"]> {
    const replica = this.#next();
    if (replica === undefined) return this.#primary.rows(query, values);
    try {
      return await replica.db.rows(query, values);
    } catch (error) {
      // The replica may be away or damaged, or have cancelled the read to replay its log: the primary can run it.
      const { message } = error as Error;
      const translated = translateError(error);
      if (hasCode(translated, "data_damaged")) {
        this.#observe({ kind: "data_damaged", object: `replica ${replica.name}`, reason: message });
      } else if (translated !== error) this.#mark(replica, message);
      return this.#primary.rows(query, values);
    }
  }

  /** Round robin among the available ones. */
  #next(): Replica | undefined {
    const available = this.#replicas.filter(({ unavailable }) => unavailable === undefined);
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
      if (row === undefined) return this.#mark(replica, "it is not a replica");
      // It may fall behind until the next check. After a start no position is old enough: the oldest one counts.
      const due = performance.now() - this.#lagMs + CHECK_INTERVAL_MS;
      const required = this.#positions.findLast(({ at }) => at < due) ?? this.#positions[0];
      if (required === undefined) return this.#mark(replica, "the position of the primary is not known yet");
      const isBehind = required.position > Number(row[0]);
      this.#mark(replica, isBehind ? `it is more than ${this.#lagMs - CHECK_INTERVAL_MS} ms behind` : undefined);
    } catch (error) {
      this.#mark(replica, (error as Error).message);
    }
  }

  #mark(replica: Replica, unavailable: string | undefined): void {
    const before = replica.unavailable;
    replica.unavailable = unavailable;
    if (unavailable !== undefined && before === undefined)
      this.#observe({ kind: "replica_unavailable", replica: replica.name, reason: unavailable });
    if (unavailable === undefined && before !== undefined) this.#observe({ kind: "replica_recovered", replica: replica.name });
  }
}
