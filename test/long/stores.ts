// Long random histories and deliveries on both engines, each from its own seed. TEST_SEED repeats a history, TEST_DELIVERY=71-while a
// delivery.

import test from "node:test";
import type { Engine } from "../store/conformance/engine.ts";
import { deliverAndBeKilled, deliverWhileMoving, deliverWithMovesBefore } from "../store/histories/delivered.ts";
import { liveThrough } from "../store/histories/history.ts";
import { seedOf, shapeOf } from "../store/histories/shapes.ts";
import { postgresEngine } from "../store/postgres-engine.ts";
import { sqliteEngine } from "../store/sqlite-engine.ts";

const PROGRESS_MS = 5000;
const DELIVERY_SIZE = { rounds: 40, each: 10 };
const DELIVERIES = 12;
const DELIVERY_KINDS = ["before", "while", "killed"];

const base = Date.now() % 1_000_000;
const seeds = (shape: "small" | "medium" | "large", count: number): string[] =>
  Array.from({ length: count }, (_, i) => seedOf(base, shape, i));
const givenHistory = process.env["TEST_SEED"];
const HISTORY_SEEDS =
  givenHistory === undefined ? [...seeds("small", 13), ...seeds("medium", 5), ...seeds("large", 1)] : [givenHistory];
const givenDelivery = process.env["TEST_DELIVERY"];
const DELIVERY_SEEDS =
  givenDelivery === undefined
    ? DELIVERY_KINDS.flatMap((kind) => Array.from({ length: DELIVERIES }, (_, i) => `${base + i}-${kind}`))
    : [givenDelivery];

for (const engine of [sqliteEngine, postgresEngine("postgres", "en-US")]) {
  longHistories(engine);
  longDeliveries(engine);
}

function longHistories(engine: Engine): void {
  const all = HISTORY_SEEDS.reduce((sum, seed) => sum + shapeOf(seed).commands, 0);
  const started = performance.now();
  let before = 0;
  let reported = started;
  const report = (seed: string, done: number): void => {
    if (performance.now() - reported < PROGRESS_MS && done < all) return;
    reported = performance.now();
    const seconds = Math.round((reported - started) / 1000);
    process.stderr.write(`${engine.name}, ${seed}: ${done} of ${all} commands in ${seconds} s\n`);
  };
  for (const seed of HISTORY_SEEDS) {
    test(`${engine.name}: the history of seed ${seed}`, async (t) => {
      await liveThrough(engine, t, seed, (commands) => report(seed, before + commands));
      before += shapeOf(seed).commands;
    });
  }
}

function longDeliveries(engine: Engine): void {
  for (const seed of DELIVERY_SEEDS) {
    test(`${engine.name}: the deliveries of seed ${seed}`, async (t) => {
      if (seed.endsWith("before")) await deliverWithMovesBefore(engine, t, seed, DELIVERY_SIZE);
      else if (seed.endsWith("while")) await deliverWhileMoving(engine, t, seed, DELIVERY_SIZE);
      else await deliverAndBeKilled(engine, t, seed);
    });
  }
}
