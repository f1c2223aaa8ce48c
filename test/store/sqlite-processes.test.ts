// Several processes on one database file.

import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { setTimeout } from "node:timers/promises";
import { startScript } from "../support/script.ts";
import { databaseFolder } from "../support/stores.ts";
import { customer, putCustomers, putTanks, readingsOf, tank } from "./conformance/objects.ts";

test("processes that open a new database at the same moment all succeed", async (t) => {
  const folder = databaseFolder(t);
  const processes = Array.from({ length: 4 }, () => startScript(t, "opens.ts"));
  for (const { next } of processes) assert.equal(await next(), "ready");
  for (let round = 0; round < 10; round++) {
    const file = join(folder.path, `new ${round}.db`);
    for (const { tell } of processes) tell(file);
    const said = await Promise.all(processes.map(({ next }) => next()));
    assert.deepEqual(said, ["opened", "opened", "opened", "opened"], `round ${round}`);
  }
});

test("what a process acknowledged before it was killed is there", async (t) => {
  const folder = databaseFolder(t);
  const store = await folder.open();
  await putCustomers(store, customer("a"));
  await putTanks(store, tank("one", "a"));
  const { child, next } = startScript(t, "writes.ts", folder.file, "one", "0", "1", "1000000");
  let acknowledged = -1;
  while (acknowledged < 40) acknowledged = Number(await next());
  child.kill("SIGKILL");
  for (let line = await next(); line !== undefined; line = await next()) acknowledged = Number(line);
  const { totalItems, data } = await readingsOf(store, "one", { size: 1 });
  const newest = data[0]?.created_at ?? -1;
  assert.ok(newest >= acknowledged, `${acknowledged} was acknowledged, ${newest} is the newest`);
  assert.equal(totalItems, newest + 1);
  assert.equal((await readingsOf(store, "one", { from: 0 })).totalItems, totalItems);
});

test("two processes that write at once, beside a third, lose nothing", async (t) => {
  const folder = databaseFolder(t);
  const store = await folder.open();
  await putCustomers(store, customer("a"));
  await putTanks(store, tank("one", "a"));
  const count = 150;
  const writers = ["0", "1"].map((first) => startScript(t, "writes.ts", folder.file, "one", first, "2", String(count)));
  const ended = writers.map((writer) => writer.ended);
  const seen: number[] = [];
  let codes: (number | null)[] | undefined;
  void Promise.all(ended).then((all) => (codes = all));
  for (; codes === undefined; await setTimeout(2)) seen.push((await readingsOf(store, "one")).totalItems);
  assert.deepEqual(codes, [0, 0]);
  assert.equal((await readingsOf(store, "one")).totalItems, 2 * count);
  assert.equal((await readingsOf(store, "one", { from: 0, to: 2 * count })).totalItems, 2 * count);
  assert.deepEqual(
    seen,
    seen.toSorted((a, b) => a - b),
  );
});
