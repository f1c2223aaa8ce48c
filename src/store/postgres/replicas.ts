// Streaming replicas take the questions, as far as they are there and not too far behind; else the primary does.
//
// How far a replica is behind is told by the log itself: the primary's position is noted twice a second, and a replica that
// has not replayed a position noted two seconds ago is more than two seconds behind. Clocks do not matter, nor whether
// anything is written, nor why the replica is behind.

import type { Observe } from "../../domain/events.ts";
import { asRefusal, type Db, PIPES, type PostgresSettings, statement } from "./connection.ts";
import { Pipes } from "./pipes.ts";

const LOOK_EVERY_MS = 500;
/** A replica that says nothing for this long is away: the primary is asked instead. */
const PATIENCE_MS = 2000;

/** Positions in the log, as bytes since its beginning. */
const WRITTEN = statement("SELECT (pg_current_wal_lsn() - '0/0'::pg_lsn)::float8");
const REPLAYED = statement("SELECT (pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::float8 WHERE pg_is_in_recovery()");

type Replica = {
  readonly db: Pipes;
  readonly name: string;
  away: string | undefined;
  /** Each is looked at on its own: one that says nothing holds up no other. */
  looking?: Promise<void> | undefined;
};
type Noted = { readonly at: number; readonly position: number };

export class Replicas {
  readonly db: Db;
  readonly #primary: Db;
  readonly #replicas: Replica[];
  readonly #lagMs: number;
  readonly #observe: Observe;
  readonly #timer: NodeJS.Timeout | undefined;
  #noted: Noted[] = [];
  #turn = 0;
  #looking: Promise<void> | undefined;

  constructor(primary: Db, { replicaUrls, replicaLagMs, connections }: PostgresSettings, observe: Observe) {
    this.#primary = primary;
    this.#lagMs = replicaLagMs;
    this.#observe = observe;
    this.#replicas = replicaUrls.map((url) => ({
      db: new Pipes(url, Math.min(PIPES, connections), { patienceMs: PATIENCE_MS }),
      name: new URL(url).host,
      // Not asked before it was looked at.
      away: "not looked at yet",
    }));
    this.db = this.#replicas.length === 0 ? this.#primary : { rows: (asked, values) => this.#ask(asked, values) };
    if (this.#replicas.length === 0) return;
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
    this.#timer.unref();
    this.#look();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
    await Promise.all(this.#replicas.map(({ looking }) => looking));
    await Promise.all(this.#replicas.map(({ db }) => db.close()));
  }

  async #ask(...[asked, values]: Parameters<Db["rows"]>): ReturnType<Db["rows"]> {
    const replica = this.#next();
    if (replica === undefined) return this.#primary.rows(asked, values);
    try {
      return await replica.db.rows(asked, values);
    } catch (error) {
      // Whatever a replica cannot answer (it is away, or had to give way to its log), the primary can.
      if (asRefusal(error) !== error) this.#mark(replica, (error as Error).message);
      return this.#primary.rows(asked, values);
    }
  }

  /** In turn, among those that are fit. */
  #next(): Replica | undefined {
    const fit = this.#replicas.filter(({ away }) => away === undefined);
    this.#turn = (this.#turn + 1) % Math.max(1, fit.length);
    return fit[this.#turn];
  }

  #look(): void {
    this.#looking ??= this.#lookAtAll().finally(() => {
      this.#looking = undefined;
    });
  }

  async #lookAtAll(): Promise<void> {
    const at = performance.now();
    const written = await this.#primary.rows(WRITTEN).catch(() => []);
    const position = written[0]?.[0];
    if (typeof position === "number") this.#noted.push({ at, position });
    // One older than the limit is enough to compare with.
    const old = this.#noted.findLastIndex((noted) => noted.at < at - this.#lagMs);
    if (old > 0) this.#noted = this.#noted.slice(old);
    for (const replica of this.#replicas) {
      replica.looking ??= this.#lookAt(replica).finally(() => {
        replica.looking = undefined;
      });
    }
  }

  async #lookAt(replica: Replica): Promise<void> {
    try {
      const [row] = await replica.db.rows(REPLAYED);
      if (row === undefined) return this.#mark(replica, "it is not a replica");
      // It may fall behind until the next look: that much is taken off.
      const due = performance.now() - this.#lagMs + LOOK_EVERY_MS;
      const behind = this.#noted.some(({ at, position }) => at < due && position > Number(row[0]));
      this.#mark(replica, behind ? `it is more than ${this.#lagMs - LOOK_EVERY_MS} ms behind` : undefined);
    } catch (error) {
      this.#mark(replica, (error as Error).message);
    }
  }

  #mark(replica: Replica, away: string | undefined): void {
    const was = replica.away;
    replica.away = away;
    if (away !== undefined && was === undefined)
      this.#observe({ kind: "replica_unavailable", replica: replica.name, reason: away });
    if (away === undefined && was !== undefined) this.#observe({ kind: "replica_recovered", replica: replica.name });
  }
}
