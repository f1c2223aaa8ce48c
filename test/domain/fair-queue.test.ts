// Work of several keys in turn.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { FairQueue, StepScheduler } from "../../src/domain/fair-queue.ts";

const MODULE = new URL("../../src/domain/fair-queue.ts", import.meta.url).href;

test("keys take turns, however much one of them has", async () => {
  const queue = new FairQueue(1);
  const order: string[] = [];
  const job = (key: string) => queue.run(key, async () => void order.push(key));
  await Promise.all([...["a", "a", "a", "a"].map(job), ...["b", "b"].map(job)]);
  assert.equal(order.join(" "), "a a b a b a");
});

test("a key pauses after each job, other keys continue, and every job runs", async () => {
  const queue = new FairQueue(2, () => 20);
  const started: { readonly key: string; readonly at: number }[] = [];
  const job = (key: string) =>
    queue.run(key, async () => {
      started.push({ key, at: performance.now() });
      await pause(1);
    });
  await Promise.all([...["a", "a", "a", "a", "a"].map(job), pause(5).then(() => job("b"))]);
  const keys = started.map(({ key }) => key);
  assert.deepEqual(keys.toSorted(), ["a", "a", "a", "a", "a", "b"]);
  assert.ok(keys.indexOf("b") < 4, keys.join(" "));
  const first = started[0]?.at ?? 0;
  assert.ok((started.at(-1)?.at ?? 0) - first > 19, "the last ones have waited");
});

test("a rest keeps the process running only if there is something to do after it", async () => {
  async function outputOf(rest: number, jobs: readonly string[]): Promise<string> {
    const runs = jobs.map((name) => `queue.run("a", async () => console.log("${name}"));`);
    const script = `import { FairQueue } from "${MODULE}"; const queue = new FairQueue(1, () => ${rest}); ${runs.join(" ")}`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script], {
      timeout: 20_000,
    });
    return stdout;
  }
  assert.equal(await outputOf(60_000, ["one"]), "one\n");
  assert.equal(await outputOf(10, ["one", "two"]), "one\ntwo\n");
});

test("steps of the only key follow each other at once, and pause while another key sends requests", async () => {
  const scheduler = new StepScheduler();
  const steps = Array.from({ length: 200 });
  async function duration(): Promise<number> {
    const started = performance.now();
    await scheduler.runSteps("a", steps.values());
    return performance.now() - started;
  }
  assert.ok((await duration()) < steps.length);
  const others = setInterval(() => {
    for (const key of ["b", "a"]) scheduler.recordRequest(key);
  }, 1);
  await pause(10);
  assert.ok((await duration()) > steps.length);
  clearInterval(others);
});
