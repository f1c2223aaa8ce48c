// Many long histories of one engine, each from a seed of its own, with progress on stderr.

import test from "node:test";
import type { Engine } from "../store/conformance/engine.ts";
import { liveThrough } from "../store/histories/history.ts";
import { seedOf, shapeOf } from "../store/histories/shapes.ts";

const TELL_EVERY_MS = 5000;

const base = Date.now() % 1_000_000;
const of = (shape: "small" | "medium" | "large", count: number): string[] =>
  Array.from({ length: count }, (_, i) => seedOf(base, shape, i));
const given = process.env["TEST_SEED"];
const SEEDS = given === undefined ? [...of("small", 13), ...of("medium", 5), ...of("large", 1)] : [given];

export function longHistories(engine: Engine): void {
  const all = SEEDS.reduce((sum, seed) => sum + shapeOf(seed).commands, 0);
  const started = performance.now();
  let before = 0;
  let told = started;
  const tell = (seed: string, done: number): void => {
    if (performance.now() - told < TELL_EVERY_MS && done < all) return;
    told = performance.now();
    const seconds = Math.round((told - started) / 1000);
    process.stderr.write(`${engine.name}, ${seed}: ${done} of ${all} commands in ${seconds} s\n`);
  };
  for (const seed of SEEDS) {
    test(`${engine.name}: the history of seed ${seed}`, async (t) => {
      await liveThrough(engine, t, seed, (commands) => tell(seed, before + commands));
      before += shapeOf(seed).commands;
    });
  }
}
