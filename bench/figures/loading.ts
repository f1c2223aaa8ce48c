// Bulk loads from a file, each into a fresh database: by the import command, and by the engine's own means.

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

/** A database with the tanks of the fleet and no readings; what is loaded goes into copies of it. */
export type Ground = AsyncDisposable & {
  readonly engine: Engine;
  /** An empty database of the engine, without anything of ours, or a copy of the ground. */
  readonly fresh: (what: "empty" | "tanks") => Promise<AsyncDisposable & { readonly url: string }>;
  /** On disk, with everything written to where it belongs. */
  readonly size: (url: string) => Promise<number>;
  readonly settle: () => Promise<void>;
};

export async function groundFor(bench: Bench, engine: Engine): Promise<Ground> {
  const ground = engine === "sqlite" ? sqliteGround() : await postgresGround(bench);
  const store = await openStore(ground.template, () => {});
  try {
    await putTanks(store, scaleFleet(bench.scale).tanks);
  } finally {
    await store.close();
  }
  return ground;
}

function sqliteGround(): Ground & { template: string } {
  const folder = cacheFolder("loading");
  const template = join(folder, "tanks.db");
  removeSqlite(template);
  return {
    engine: "sqlite",
    template: `sqlite:${template}`,
    async fresh(what) {
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
    async settle() {},
    async [Symbol.asyncDispose]() {
      removeSqlite(template);
    },
  };
}

async function postgresGround(bench: Bench): Promise<Ground & { template: string }> {
  const postgres = await bench.postgres();
  const tanks = await postgres.temporary("bench_loading_tanks");
  return {
    engine: "postgres",
    template: tanks.url,
    fresh: (what) => postgres.temporary("bench_loaded", what === "tanks" ? tanks.url : undefined),
    size: postgres.size,
    settle: postgres.checkpoint,
    [Symbol.asyncDispose]: () => tanks[Symbol.asyncDispose](),
  };
}

/** Seconds from the start of the import command to its end. */
export async function timedImport(ground: Ground, file: string): Promise<number> {
  await using database = await ground.fresh("tanks");
  await ground.settle();
  return await seconds(() => importFile(database.url, file));
}

/** Seconds from the start of a program that only loads bare rows to its end. */
export async function timedBareLoad(ground: Ground, file: string, rows: number): Promise<number> {
  await using database = await ground.fresh("empty");
  await ground.settle();
  const [name, target] = ground.engine === "sqlite" ? ["insert-csv", sqliteFile(database.url)] : ["copy-csv", database.url];
  return await seconds(async () => {
    const loaded = await runProgram<{ rows: number }>(program(name), [file, target]);
    if (loaded.rows !== rows) throw new Error(`${name} loaded ${loaded.rows} of ${rows} rows`);
  });
}

async function seconds(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}
