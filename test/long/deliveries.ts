// Many deliveries by device, each from a seed of its own: TEST_DELIVERY=71-while runs one of them again.

import test from "node:test";
import type { Engine } from "../store/conformance/engine.ts";
import { deliverAndBeKilled, deliverWhileMoving, deliverWithMovesBefore } from "../store/histories/delivered.ts";

const SIZE = { rounds: 40, each: 10 };
const EACH = 12;
const KINDS = ["before", "while", "killed"];

const base = Date.now() % 1_000_000;
const given = process.env["TEST_DELIVERY"];
const SEEDS =
  given === undefined ? KINDS.flatMap((kind) => Array.from({ length: EACH }, (_, i) => `${base + i}-${kind}`)) : [given];

export function longDeliveries(engine: Engine): void {
  for (const seed of SEEDS) {
    test(`${engine.name}: the deliveries of seed ${seed}`, async (t) => {
      if (seed.endsWith("before")) await deliverWithMovesBefore(engine, t, seed, SIZE);
      else if (seed.endsWith("while")) await deliverWhileMoving(engine, t, seed, SIZE);
      else await deliverAndBeKilled(engine, t, seed);
    });
  }
}
