// Import files with the readings of a fleet, as CSV or newline-delimited JSON, in order of tanks or of time.

import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { cacheFolder, log } from "../bench.ts";
import { createOnce, fingerprintOf } from "./cache.ts";
import type { Plan } from "./plans.ts";
import { readingAt, type TankPlan } from "./readings.ts";

export const ORDERS = ["tank", "time"] as const;
export type Order = (typeof ORDERS)[number];
export type Format = "csv" | "ndjson";

const LINES_PER_WRITE = 10_000;
const HEADER = "tank_id,created_at,fill_percentage";

export async function readingsFile(plan: Plan, order: Order, format: Format): Promise<string> {
  const file = join(cacheFolder("data"), `${plan.name}_${order}.${format}`);
  await createOnce(file, fingerprintOf(), async (unfinished) => {
    log(`${plan.name} is being written as ${format} in ${order} order`);
    await writeLines(unfinished, linesOf(plan, order, format));
  });
  return file;
}

function* linesOf(plan: Plan, order: Order, format: Format): Generator<string> {
  if (format === "csv") yield HEADER;
  for (const [tank, k] of order === "tank" ? byTank(plan) : byTime(plan)) {
    const { createdAt, fill } = readingAt(tank, k);
    const instant = new Date(createdAt).toISOString();
    yield format === "csv"
      ? `${tank.id},${instant},${fill}`
      : JSON.stringify({ object: "telemetry", tank_id: tank.id, created_at: instant, fill_percentage: fill });
  }
}

function* byTank({ tanks }: Plan): Generator<readonly [TankPlan, number]> {
  for (const tank of tanks) for (let k = 0; k < tank.readings; k++) yield [tank, k];
}

/** As a fleet sends them: one of every tank, then the next of every tank. */
function* byTime({ tanks }: Plan): Generator<readonly [TankPlan, number]> {
  const longest = Math.max(...tanks.map((tank) => tank.readings));
  for (let k = 0; k < longest; k++) for (const tank of tanks) if (k < tank.readings) yield [tank, k];
}

async function writeLines(file: string, lines: Iterable<string>): Promise<void> {
  const stream = createWriteStream(file);
  let part: string[] = [];
  for (const line of lines) {
    part.push(line);
    if (part.length < LINES_PER_WRITE) continue;
    if (!stream.write(`${part.join("\n")}\n`)) await once(stream, "drain");
    part = [];
  }
  stream.end(part.length === 0 ? "" : `${part.join("\n")}\n`);
  await finished(stream);
}
