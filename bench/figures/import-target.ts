// Databases to import into, and bulk loads of a file: by the import command, and by the engine's own bulk load.

import { copyFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../../src/store/open.ts";
import { type Bench, cacheFolder, type Engine } from "../bench.ts";
import { program } from "../contestants/program.ts";
import { importFile } from "../contestants/tank-monitor.ts";
import { removeSqlite, sqliteFile } from "../dataset/databases.ts";
import { putTanks } from "../dataset/fill.ts";
import { scaleFleet } from "../dataset/plans.ts";
import { runProgram } from "../processes.ts";

/** Creates databases for one load each. */
export type ImportTarget = AsyncDisposable & {
  readonly engine: Engine;
  /** Either empty, or with the tanks of the fleet and no readings. */
  readonly createDatabase: (what: "empty" | "tanks") => Promise<AsyncDisposable & { readonly url: string }>;
  /** Bytes on disk. */
  readonly size: (url: string) => Promise<number>;
  readonly checkpoint: () => Promise<void>;
};

export async function importTargetFor(bench: Bench, engine: Engine): Promise<ImportTarget> {
  const target = engine === "sqlite" ? sqliteTarget() : await postgresTarget(bench);
  const store = await openStore(target.template, () => {});
  try {
    await putTanks(store, scaleFleet(bench.scale).tanks);
  } finally {
    await store.close();
  }
  return target;
}

function sqliteTarget(): ImportTarget & { template: string } {
  const folder = cacheFolder("loading");
  const template = join(folder, "tanks.db");
  removeSqlite(template);
  return {
    engine: "sqlite",
    template: `sqlite:${template}`,
    async createDatabase(what) {
      const file = join(folder, "loaded.db");
      removeSqlite(file);
      if (what === "tanks") copyFileSync(template, file);
      return {
        url: `sqlite:${file}`,
        async [Symbol.asyncDispose]() {
          removeSqlite(file);
        },
      };
    },
    size: async (url) => statSync(sqliteFile(url)).size,
    async checkpoint() {},
    async [Symbol.asyncDispose]() {
      removeSqlite(template);
    },
  };
}

async function postgresTarget(bench: Bench): Promise<ImportTarget & { template: string }> {
  const postgres = await bench.postgres();
  const tanks = await postgres.temporary("bench_loading_tanks");
  return {
    engine: "postgres",
    template: tanks.url,
    createDatabase: (what) => postgres.temporary("bench_loaded", what === "tanks" ? tanks.url : undefined),
    size: postgres.size,
    checkpoint: postgres.checkpoint,
    [Symbol.asyncDispose]: () => tanks[Symbol.asyncDispose](),
  };
}

/** Seconds that the import command takes as a whole. */
export async function timedImport(target: ImportTarget, file: string): Promise<number> {
  await using database = await target.createDatabase("tanks");
  await target.checkpoint();
  return await seconds(() => importFile(database.url, file));
}

/** Seconds that a program takes to load the rows without any checks. */
export async function timedBareLoad(target: ImportTarget, file: string, rows: number): Promise<number> {
  await using database = await target.createDatabase("empty");
  await target.checkpoint();
  const [name, destination] = target.engine === "sqlite" ? ["insert-csv", sqliteFile(database.url)] : ["copy-csv", database.url];
  return await seconds(async () => {
    const loaded = await runProgram<{ rows: number }>(program(name), [file, destination]);
    if (loaded.rows !== rows) throw new Error(`${name} loaded ${loaded.rows} of ${rows} rows`);
  });
}

async function seconds(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}
