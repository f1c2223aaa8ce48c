// The engines that a service is put on trial with.

import type { Lifetime } from "../e2e/program.ts";
import { postgresDatabase } from "../support/postgres/database.ts";
import { until } from "../support/until.ts";

const SETTLED_MS = 30_000;
const OTHERS = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";

/** A new database, as an engine makes it. */
export type Engine = { readonly name: string; readonly open: (life: Lifetime) => Promise<Database> };

export type Database = {
  /** What `DATABASE_URL` says. */
  readonly url: string;
  /** Resolves when nothing of a process that was killed is under way any more. */
  readonly settled: () => Promise<unknown>;
};

export const SQLITE: Engine = {
  name: "SQLite",
  open: async () => ({ url: "sqlite:tanks.db", settled: async () => {} }),
};

/** Its sessions end when they have noticed. */
export const POSTGRES: Engine = {
  name: "PostgreSQL",
  async open(life) {
    const { url, query } = await postgresDatabase(life);
    return { url, settled: () => until("its sessions end", async () => (await query(OTHERS)).length === 0, SETTLED_MS) };
  },
};
