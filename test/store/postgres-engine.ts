// PostgreSQL as the suite of all engines sees it.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Store } from "../../src/domain/store.ts";
import { openStore } from "../../src/store/open.ts";
import { type Database, postgresDatabase, restoredFrom } from "../support/postgres/database.ts";
import type { Lifetime } from "../support/service.ts";
import { until } from "../support/until.ts";
import type { Engine } from "./conformance/engine.ts";

/** The sessions of other processes than the test's own. */
const ELSEWHERE = "elsewhere";
const SESSIONS = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1";

export function postgresEngine(name: string, locale?: string): Engine {
  return {
    name,
    async open(life: Lifetime) {
      const folder = mkdtempSync(join(tmpdir(), "tank-monitor-"));
      life.after(() => rmSync(folder, { recursive: true, force: true }));
      const database = await postgresDatabase(life, locale === undefined ? {} : { locale, withSchema: true });
      return {
        store: await openedOn(database),
        reopen: () => openedOn(database),
        restored: async (file) => openedOn(await restoredFrom(file, life)),
        folder,
        url: Object.assign(new URL(database.url), { search: `application_name=${ELSEWHERE}` }).href,
        settled: async () => void (await until("the sessions of the process end", () => isGone(database), 30_000)),
      };
    },
  };
}

async function isGone({ query }: Database): Promise<boolean> {
  return (await query(SESSIONS, [ELSEWHERE])).length === 0;
}

async function openedOn({ url, closeFirst }: Database): Promise<Store> {
  const store = await openStore(url, () => {});
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= store.close());
  closeFirst(close);
  return { ...store, close };
}
