// Platformatic DB, on its own database in the same PostgreSQL, with a suitable index.

import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { from as copyFrom } from "pg-copy-streams";
import { log } from "../bench.ts";
import { fingerprintOf } from "../dataset/cache.ts";
import type { Plan } from "../dataset/plans.ts";
import { readingAt } from "../dataset/readings.ts";
import { stop } from "../processes.ts";
import { type Contestant, PAGE_SIZE } from "./contestant.ts";
import { install } from "./packages.ts";
import type { Postgres } from "./postgres.ts";
import { withClient } from "./postgres-client.ts";
import { startProgram } from "./program.ts";

const PACKAGES = { fastify: "5.12.8", "@platformatic/sql-mapper": "3.67.0", "@platformatic/sql-openapi": "3.67.0" };

const TABLE = `CREATE TABLE readings (
  id bigint PRIMARY KEY,
  tank text NOT NULL,
  created_at timestamptz NOT NULL,
  fill double precision NOT NULL
)`;
const INDEX = "CREATE INDEX readings_by_tank ON readings (tank, created_at DESC)";

type Reading = { readonly createdAt: string; readonly fill: number };

export async function startPlatformatic(postgres: Postgres, plan: Plan): Promise<Contestant> {
  const stamp = fingerprintOf("bench/contestants/platformatic.ts");
  const database = await postgres.databaseOnce(`bench_platformatic_${plan.name}`, stamp, (url) => createData(url, plan));
  const { child, url } = await startProgram("platformatic", [await install("platformatic", PACKAGES), database]);
  return {
    name: "Platformatic",
    url,
    headers: {},
    pid: child.pid ?? 0,
    path: (tankId, page) =>
      `/readings/?limit=${PAGE_SIZE}&offset=${(page - 1) * PAGE_SIZE}&totalCount=true&orderby.createdAt=desc&where.tank.eq=${tankId}`,
    decode({ head, body }) {
      const readings = (JSON.parse(body) as Reading[]).map((one) => ({ createdAt: Date.parse(one.createdAt), fill: one.fill }));
      return { total: Number(/^x-total-count: *(\d+)/im.exec(head)?.[1]), readings };
    },
    [Symbol.asyncDispose]: () => stop(child),
  };
}

async function createData(url: string, plan: Plan): Promise<void> {
  log(`${plan.name} is being created for Platformatic`);
  const copy = copyFrom("COPY readings FROM STDIN");
  await withClient(url, async (client) => {
    await client.query(TABLE);
    await pipeline(Readable.from(rows(plan)), client.query(copy));
    await client.query(INDEX);
  });
}

function* rows(plan: Plan): Generator<string> {
  let number = 0;
  let part = "";
  for (const tank of plan.tanks) {
    for (let k = 0; k < tank.readings; k++) {
      const { createdAt, fill } = readingAt(tank, k);
      part += `${++number}\t${tank.id}\t${new Date(createdAt).toISOString()}\t${fill}\n`;
      if (part.length < 65_536) continue;
      yield part;
      part = "";
    }
  }
  if (part !== "") yield part;
}
