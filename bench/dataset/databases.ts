// Databases of Tank Monitor, filled with a plan, one an engine: made once, and handed out as URLs.

import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../../src/store/open.ts";
import { type Bench, cacheFolder, ENGINE_NAMES, type Engine, say } from "../bench.ts";
import { fillStore } from "./fill.ts";
import type { Plan } from "./plans.ts";
import { makeOnce, schemaOf, stampOf } from "./stamp.ts";

export function databaseOf(bench: Bench, engine: Engine, plan: Plan): Promise<string> {
  return engine === "sqlite" ? sqliteDatabase(plan) : postgresDatabase(bench, plan);
}

export const sqliteFile = (url: string): string => url.slice("sqlite:".length);

/** SQLite keeps more than one file a database. */
export function removeSqlite(file: string): void {
  for (const end of ["", "-wal", "-shm"]) rmSync(`${file}${end}`, { force: true });
}

async function sqliteDatabase(plan: Plan): Promise<string> {
  const file = join(cacheFolder("data"), `${plan.name}.db`);
  await makeOnce(file, stampOf(...schemaOf("sqlite")), async (making) => {
    say(`${plan.name} is made for Tank Monitor on SQLite`);
    await fill(`sqlite:${making}`, plan);
  });
  return `sqlite:${file}`;
}

async function postgresDatabase(bench: Bench, plan: Plan): Promise<string> {
  const postgres = await bench.postgres();
  return postgres.databaseOnce(`bench_${plan.name}`, stampOf(...schemaOf("postgres")), async (url) => {
    say(`${plan.name} is made for Tank Monitor on ${ENGINE_NAMES.postgres}`);
    await fill(url, plan);
  });
}

export type Temporary = AsyncDisposable & { readonly url: string };

/** A database that goes when it is disposed of: an empty one of the engine, or a copy of another. */
export async function temporaryDatabase(bench: Bench, engine: Engine, name: string, original?: string): Promise<Temporary> {
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
