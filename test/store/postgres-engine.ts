// PostgreSQL as the suite of all engines sees it.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Store } from "../../src/domain/store.ts";
import { openStore } from "../../src/store/open.ts";
import { type Database, postgresDatabase } from "../support/postgres/database.ts";
import { restoredFrom } from "../support/postgres/restored.ts";
import type { Lifetime } from "../support/service.ts";
import type { Engine } from "./conformance/engine.ts";

export function postgresEngine(name: string, locale?: string): Engine {
  return {
    name,
    async open(life: Lifetime) {
      const folder = mkdtempSync(join(tmpdir(), "tank-monitor-"));
      life.after(() => rmSync(folder, { recursive: true, force: true }));
      const database = await postgresDatabase(life, locale === undefined ? {} : { locale });
      return {
        store: await openedOn(database),
        reopen: () => openedOn(database),
        restored: async (file) => openedOn(await restoredFrom(file, life)),
        folder,
      };
    },
  };
}

async function openedOn({ url, closeFirst }: Database): Promise<Store> {
  const store = await openStore(url, () => {});
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= store.close());
  closeFirst(close);
  return { ...store, close };
}
