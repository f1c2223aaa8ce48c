// Files for the import: the readings of a fleet as CSV and as newline-delimited JSON, in tank order or as they arrive.

import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { cacheFolder, say } from "../bench.ts";
import type { Plan } from "./plans.ts";
import { readingAt, type TankPlan } from "./readings.ts";
import { makeOnce, stampOf } from "./stamp.ts";

export const ORDERS = ["tank", "time"] as const;
export type Order = (typeof ORDERS)[number];
export type Format = "csv" | "ndjson";

const LINES_A_WRITE = 10_000;
const HEADER = "tank_id,created_at,fill_percentage";

export async function readingsFile(plan: Plan, order: Order, format: Format): Promise<string> {
  const file = join(cacheFolder("data"), `${plan.name}_${order}.${format}`);
  await makeOnce(file, stampOf(), async (making) => {
    say(`${plan.name} is written as ${format} in ${order} order`);
    await writeLines(making, linesOf(plan, order, format));
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
  const most = Math.max(...tanks.map((tank) => tank.readings));
  for (let k = 0; k < most; k++) for (const tank of tanks) if (k < tank.readings) yield [tank, k];
}

async function writeLines(file: string, lines: Iterable<string>): Promise<void> {
  const stream = createWriteStream(file);
  let part: string[] = [];
  for (const line of lines) {
    part.push(line);
    if (part.length < LINES_A_WRITE) continue;
    if (!stream.write(`${part.join("\n")}\n`)) await once(stream, "drain");
    part = [];
  }
  stream.end(part.length === 0 ? "" : `${part.join("\n")}\n`);
  await finished(stream);
}
