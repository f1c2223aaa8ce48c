// Some thirty bodies at once that are small on the wire and large once they are unpacked and read, to a service with little
// memory: it goes on, and others are answered meanwhile.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { type Service, workspace } from "./program.ts";

const HEAP_MB = 96;
const BYTES = 8_388_000;
/** An answer to anyone else, on a busy machine. */
const PATIENCE_MS = 3000;

const list = (entry: string, count: number) => `[${`${entry},`.repeat(count - 1)}${entry}]`;
const payload = (inside: string) => `{"device_id":"d1","payload":{"a":${inside}}}`;

/** With as many values as are let in, and with more. */
const HOSTILE = [
  payload(list("{}", 250_000)),
  payload(list("[]", 250_000)),
  payload(list("{}", BYTES / 3 - 100)),
  list('{"device_id":"d1","payload":{"a":[{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}]}}', 10_000),
  list("{}", BYTES / 3),
  "[".repeat(BYTES),
].map((body) => gzipSync(body, { level: 9 }));

async function post({ url }: Service, key: string, body: string | Buffer): Promise<number> {
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const packed: Record<string, string> = typeof body === "string" ? {} : { "content-encoding": "gzip" };
  const answer = await fetch(`${url}/ingest/v1/readings`, { method: "POST", headers: { ...headers, ...packed }, body });
  await answer.arrayBuffer();
  return answer.status;
}

test("thirty hostile bodies at once end nothing, and others are answered meanwhile", async (t) => {
  const here = workspace(t);
  const makeKey = async (name: string) => (await here.run(["key", "create", "--name", name, "--role", "ingest"])).stdout.trim();
  const [hostile, other] = [await makeKey("hostile"), await makeKey("other")];
  const service = await here.start(["serve"], { env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` } });
  let isOver = false;
  const answers = Promise.all(
    Array.from({ length: 30 }, (_, i) => post(service, hostile, HOSTILE[i % HOSTILE.length] as Buffer)),
  );
  const attack = answers.finally(() => {
    isOver = true;
  });
  const waits: number[] = [];
  while (!isOver) {
    const started = performance.now();
    assert.equal(await post(service, other, '{"device_id":"d2","fill_percentage":5}'), 200);
    waits.push(performance.now() - started);
    await pause(20);
  }
  const statuses = await attack;
  assert.deepEqual(
    statuses.filter((status) => ![200, 400, 413, 503].includes(status)),
    [],
  );
  const longest = Math.max(...waits);
  t.diagnostic(`${waits.length} others meanwhile, the slowest in ${Math.round(longest)} ms; ${statuses.join(" ")}`);
  assert.ok(waits.length > 0 && longest < PATIENCE_MS, `somebody else waited ${Math.round(longest)} ms`);
  assert.equal((await service.stop()).code, 0);
});
