// Opens the store that a URL names, and loads only its engine.

import { resolve } from "node:path";
import { type AlertSettings, DEFAULT_ALERT_SETTINGS } from "../domain/alerts/evaluate.ts";
import { UserError } from "../domain/errors.ts";
import type { Observe } from "../domain/log-events.ts";
import type { Restored, RestoreOptions, Store } from "../domain/store.ts";
import { DATABASE_SUFFIXES } from "./files.ts";
import type { PostgresSettings } from "./postgres/connection.ts";

const SQLITE = "sqlite:";
const POSTGRES = /^postgres(ql)?:\/\//;

type StoreSettings = PostgresSettings & { readonly alerts: AlertSettings };

const DEFAULTS: StoreSettings = { connections: 10, replicaUrls: [], replicaLagMs: 2000, alerts: DEFAULT_ALERT_SETTINGS };

/** Without `mayCreate`, a database that does not exist or is empty is rejected. */
export async function openStore(
  url: string,
  observe: Observe,
  settings: StoreSettings = DEFAULTS,
  mayCreate = true,
): Promise<Store> {
  if (POSTGRES.test(url)) {
    const { openPostgres } = await import("./postgres/store.ts");
    return openPostgres(url, settings, observe, mayCreate);
  }
  const file = requiredFile(url);
  if (settings.replicaUrls.length > 0) {
    throw new UserError("DATABASE_REPLICA_URL must be left out: DATABASE_URL names a SQLite file, which has no replicas", 2);
  }
  const { openSqlite } = await import("./sqlite/store.ts");
  return openSqlite(file, observe, mayCreate, settings.alerts);
}

/** Replaces the database by a backup that has no errors. What was there is kept. */
export async function restoreStore(url: string, backup: string, options: RestoreOptions): Promise<Restored> {
  if (POSTGRES.test(url)) {
    const { restorePostgres } = await import("./postgres/restore.ts");
    return restorePostgres(url, backup, options);
  }
  const { restoreSqlite } = await import("./sqlite/restore.ts");
  return restoreSqlite(requiredFile(url), backup, options);
}

/** The path of an embedded database. */
function requiredFile(url: string): string {
  const file = fileIn(url);
  if (file.startsWith("//")) {
    const path = file.slice(2).replace(/^\/+/, "/");
    throw new UserError(`DATABASE_URL has too many slashes: write sqlite:${path}`, 2);
  }
  if (file !== "") return resolve(file);
  throw new UserError(
    `DATABASE_URL must be sqlite:FILE, such as sqlite:data/tank-monitor.db, or postgres://USER:PASSWORD@HOST/DATABASE: it ${startOf(url)}`,
    2,
  );
}

/** The files of an embedded database, the main one first; none for other databases. */
export function databaseFiles(url: string): readonly string[] {
  const file = fileIn(url);
  return file === "" ? [] : DATABASE_SUFFIXES.map((suffix) => resolve(file) + suffix);
}

function fileIn(url: string): string {
  return url.startsWith(SQLITE) ? url.slice(SQLITE.length) : "";
}

/** A database URL can carry a password: only its kind is ever shown. */
function startOf(url: string): string {
  const [scheme] = /^[a-z][a-z0-9+.-]*:/i.exec(url) ?? [];
  if (scheme === SQLITE) return "names no file";
  return scheme === undefined ? "has no scheme" : `begins with ${scheme}`;
}
