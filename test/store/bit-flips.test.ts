// Single bits are changed, by SQL and in the file: nothing wrong is exported or read, and the check reports it. TEST_SEED repeats a
// run; test/long has longer ones.

import test from "node:test";
import { flipBitsOfFile, flipBitsOfPostgres, flipBitsOfSqlite } from "./corruption/bit-flips.ts";

const seed = process.env["TEST_SEED"] ?? `${Date.now() % 1_000_000}`;

for (const [name, run, count] of [
  ["SQLite", flipBitsOfSqlite, 15],
  ["PostgreSQL", flipBitsOfPostgres, 10],
  ["a SQLite file", flipBitsOfFile, 5],
] as const) {
  test(`no changed bit of ${name} goes unnoticed, seed ${seed}`, (t) => run(t, seed, count));
}
