// A service on a database file and a free port, for tests over HTTP.

import { join } from "node:path";
import { type App, type AppOptions, startApp } from "../../src/app.ts";
import { readConfig } from "../../src/config.ts";
import type { LogEvent } from "../../src/domain/log-events.ts";
import { createKey, type KeyOptions } from "./keys.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** A test, or a suite that cleans up after itself. */
export type Lifetime = { after(end: () => unknown): void };

export type Service = App & {
  readonly events: LogEvent[];
  /** Creates a key and returns its secret. */
  readonly key: (options?: KeyOptions) => Promise<string>;
  readonly folder: string;
  readonly databaseFile: string;
};

type Options = Partial<Pick<AppOptions, "clock" | "timeouts">> & { readonly environment?: Record<string, string> };

export async function startService(life: Lifetime, { environment = {}, clock, timeouts }: Options = {}): Promise<Service> {
  const folder = temporaryFolder(life);
  const databaseFile = join(folder, "tank-monitor.db");
  const events: LogEvent[] = [];
  const given = { DATABASE_URL: `sqlite:${databaseFile}`, PORT: "0", ...environment };
  const app = await startApp({
    config: readConfig({}, given, {}),
    log: (event) => events.push(event),
    ...(clock === undefined ? {} : { clock }),
    ...(timeouts === undefined ? {} : { timeouts }),
  });
  life.after(() => app.stop());
  return {
    ...app,
    events,
    folder,
    databaseFile,
    key: (options) => createKey(app.store, clock ?? Date.now, options),
  };
}
