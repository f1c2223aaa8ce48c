// Databases of Tank Monitor filled with a plan. They are created once and cached.

import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openStore } from "../../src/store/open.ts";
import { type Bench, cacheFolder, ENGINE_NAMES, type Engine, log } from "../bench.ts";
import { withClient } from "../contestants/postgres-client.ts";
import { createOnce, fingerprintOf, schemaOf } from "./cache.ts";
import { fillStore } from "./fill.ts";
import type { Plan } from "./plans.ts";

export function databaseOf(bench: Bench, engine: Engine, plan: Plan): Promise<string> {
  return engine === "sqlite" ? sqliteDatabase(plan) : postgresDatabase(bench, plan);
}

export const sqliteFile = (url: string): string => url.slice("sqlite:".length);

/** A database has up to three files. */
export function removeSqlite(file: string): void {
  for (const end of ["", "-wal", "-shm"]) rmSync(`${file}${end}`, { force: true });
}

async function sqliteDatabase(plan: Plan): Promise<string> {
  const file = join(cacheFolder("data"), `${plan.name}.db`);
  await createOnce(file, fingerprintOf(...schemaOf("sqlite")), async (unfinished) => {
    log(`${plan.name} is being created for Tank Monitor on SQLite`);
    await fill(`sqlite:${unfinished}`, plan);
  });
  return `sqlite:${file}`;
}

async function postgresDatabase(bench: Bench, plan: Plan): Promise<string> {
  const postgres = await bench.postgres();
  return postgres.databaseOnce(`bench_${plan.name}`, fingerprintOf(...schemaOf("postgres")), async (url) => {
    log(`${plan.name} is being created for Tank Monitor on ${ENGINE_NAMES.postgres}`);
    await fill(url, plan);
  });
}

export type TemporaryDatabase = AsyncDisposable & { readonly url: string };

/** A database that is removed on dispose: empty, or a copy of `original`. */
export async function temporaryDatabase(
  bench: Bench,
  engine: Engine,
  name: string,
  original?: string,
): Promise<TemporaryDatabase> {
  if (engine === "postgres") return (await bench.postgres()).temporary(`bench_${name}`, original);
  const file = join(cacheFolder("loading"), `${name}.db`);
  removeSqlite(file);
  if (original !== undefined) copyFileSync(sqliteFile(original), file);
  return {
    url: `sqlite:${file}`,
    async [Symbol.asyncDispose]() {
      removeSqlite(file);
    },
  };
}

async function fill(url: string, plan: Plan): Promise<void> {
  const store = await openStore(url, () => {});
  try {
    await fillStore(store, plan);
  } finally {
    await store.close();
  }
}

/** Executes one statement, beside the store and beside a service that uses it. */
export async function execute(engine: Engine, url: string, sql: string): Promise<void> {
  if (engine === "postgres") {
    await withClient(url, (client) => client.query(sql));
    return;
  }
  const db = new DatabaseSync(sqliteFile(url), { timeout: 5000 });
  db.exec(sql);
  db.close();
}

/** The result of a query for one number, beside a service. */
export async function selectNumber(engine: Engine, url: string, sql: string): Promise<number> {
  if (engine === "postgres") {
    const { rows } = await withClient(url, (client) => client.query<unknown[]>({ text: sql, rowMode: "array" }));
    return Number(rows[0]?.[0]);
  }
  const db = new DatabaseSync(sqliteFile(url), { readOnly: true, timeout: 5000 });
  const row = db.prepare(sql).get() ?? {};
  db.close();
  return Number(Object.values(row)[0]);
}
