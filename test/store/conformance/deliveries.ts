import test from "node:test";
import { deliverAndBeKilled, deliverWhileMoving, deliverWithMovesBefore } from "../histories/delivered.ts";
import type { Engine } from "./engine.ts";

const base = Date.now() % 1_000_000;

export function deliveryConformance(engine: Engine): void {
  test("shuffled, repeated, from several processes at once: readings by device end as in the orderly run", async (t) => {
    await deliverWithMovesBefore(engine, t, `${base}-before`, { rounds: 12, each: 8 });
  });

  test("the same while devices are moved, and tanks deleted and restored", async (t) => {
    await deliverWhileMoving(engine, t, `${base}-while`, { rounds: 10, each: 6 });
  });

  test("what was acknowledged to a process that is killed is there, in its tank or waiting", async (t) => {
    await deliverAndBeKilled(engine, t, `${base}-killed`);
  });
}
