// Many single bits are changed, by SQL and in the file: nothing wrong is exported or read, and the check reports it. TEST_SEED=482913
// repeats a run.

import test from "node:test";
import { flipBitsOfFile, flipBitsOfPostgres, flipBitsOfSqlite } from "../store/corruption/bit-flips.ts";

const seed = process.env["TEST_SEED"] ?? `${Date.now() % 1_000_000}`;

for (const [name, run, count] of [
  ["SQLite", flipBitsOfSqlite, 3000],
  ["PostgreSQL", flipBitsOfPostgres, 1500],
  ["a SQLite file", flipBitsOfFile, 800],
] as const) {
  test(`no changed bit of ${name} goes unnoticed, seed ${seed}`, (t) => run(t, seed, count));
}
