// The engines as the shared suites see them.

import type { Store } from "../../src/domain/store.ts";
import { openStore } from "../../src/store/open.ts";
import { type Database, postgresDatabase, restoredFrom, TEMPLATE_LOCALE } from "../support/postgres/database.ts";
import type { Lifetime } from "../support/service.ts";
import { closedOnce, databaseFolder } from "../support/stores.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

export type Opened = {
  /** On a new, empty database. It may be closed twice. */
  readonly store: Store;
  /** One more store on the same database, whether or not the first is closed. */
  readonly reopen: () => Promise<Store>;
  /** A store on what `backup` wrote. */
  readonly restored: (file: string) => Promise<Store>;
  /** A place for files. */
  readonly folder: string;
  /** What `openStore` takes, for another process. */
  readonly url: string;
  /** Resolves when nothing of a process that was killed is in progress any more. */
  readonly settled: () => Promise<void>;
  readonly deadlocks: () => Promise<number>;
};

export type Engine = {
  readonly name: string;
  /** Everything is closed and removed when the lifetime ends. */
  readonly open: (life: Lifetime) => Promise<Opened>;
};

export const sqliteEngine: Engine = {
  name: "sqlite",
  async open(life) {
    const folder = databaseFolder(life);
    return {
      store: await folder.open(),
      reopen: () => folder.open(),
      restored: folder.open,
      folder: folder.path,
      url: `sqlite:${folder.file}`,
      settled: async () => {},
      deadlocks: async () => 0,
    };
  },
};

/** The sessions of other processes than the test's own. */
const OTHER_PROCESS = "other process";
const SESSIONS = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1";
const DEADLOCKS = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";

/** Its database sorts as people do, so that every comparison of bytes has to be the schema's own. */
export const postgresEngine: Engine = {
  name: "postgres",
  async open(life) {
    const database = await postgresDatabase(life, { locale: TEMPLATE_LOCALE, withSchema: true });
    const hasEnded = async () => (await database.query(SESSIONS, [OTHER_PROCESS])).length === 0;
    return {
      store: await openedOn(database),
      reopen: () => openedOn(database),
      restored: async (file) => openedOn(await restoredFrom(file, life)),
      folder: temporaryFolder(life),
      url: Object.assign(new URL(database.url), { search: `application_name=${OTHER_PROCESS}` }).href,
      settled: async () => void (await until("the sessions of the process end", hasEnded, 30_000)),
      deadlocks: async () => Number((await database.query<{ deadlocks: string }>(DEADLOCKS))[0]?.deadlocks),
    };
  },
};

async function openedOn({ url, closeFirst }: Database): Promise<Store> {
  const store = closedOnce(await openStore(url, () => {}));
  closeFirst(store.close);
  return store;
}
