// Stores on database files, for tests below HTTP.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LogEvent } from "../../src/domain/log-events.ts";
import type { Store } from "../../src/domain/store.ts";
import { openStore } from "../../src/store/open.ts";
import type { Lifetime } from "./service.ts";

/** A folder for databases. Its stores are closed, and the folder removed, after the test. */
export type DatabaseFolder = {
  readonly path: string;
  /** The main database file of the folder. */
  readonly file: string;
  readonly events: LogEvent[];
  /** One more store on the file; it may be closed twice. */
  readonly open: (file?: string) => Promise<Store>;
};

export function databaseFolder(life: Lifetime): DatabaseFolder {
  const path = mkdtempSync(join(tmpdir(), "tank-monitor-"));
  const file = join(path, "tank-monitor.db");
  const events: LogEvent[] = [];
  const opened: Store[] = [];
  life.after(async () => {
    for (const store of opened) await store.close();
    rmSync(path, { recursive: true, force: true });
  });
  return {
    path,
    file,
    events,
    async open(other = file) {
      const observe = (event: LogEvent) => !isDuration(event) && events.push(event);
      const store = closedOnce(await openStore(`sqlite:${other}`, observe));
      opened.push(store);
      return store;
    },
  };
}

/** Of one call: there is one for each. */
export const isDuration = ({ kind }: LogEvent): boolean => kind === "query_completed" || kind === "write_completed";

/** An empty store. */
export function emptyStore(life: Lifetime): Promise<Store> {
  return databaseFolder(life).open();
}

/** Closing it again does nothing. */
export function closedOnce(store: Store): Store {
  let closing: Promise<void> | undefined;
  return { ...store, close: () => (closing ??= store.close()) };
}
