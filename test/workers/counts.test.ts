// What several processes have counted, put together: the sums never fall, whoever ends.

import assert from "node:assert/strict";
import test from "node:test";
import { type MetricsBook, openMetrics } from "../../src/observe/metrics.ts";
import { textOfAll } from "../../src/observe/report.ts";
import { Counts } from "../../src/workers/counts.ts";

function answered(metrics: MetricsBook, status: number, times: number): void {
  const request = {
    requestId: "r",
    method: "GET",
    path: "/v1/tanks",
    route: "/v1/tanks",
    code: null,
    keyId: null,
    address: "::1",
  };
  for (let i = 0; i < times; i++) metrics.observe({ kind: "request_completed", ...request, status, milliseconds: 2 });
}

async function numberOf(counts: Counts, line: string): Promise<number | undefined> {
  const found = (await textOfAll(counts.all())).split("\n").find((text) => text.startsWith(`${line} `));
  return found === undefined ? undefined : Number(found.slice(line.length + 1));
}

const count = (status: number): string =>
  `tank_monitor_request_duration_seconds_count{route="/v1/tanks",method="GET",status="${status}"}`;
const bucket = 'tank_monitor_request_duration_seconds_bucket{le="0.0025",route="/v1/tanks",method="GET",status="200"}';
const memory = (worker: number): string => `process_resident_memory_bytes{worker="${worker}"}`;

test("counters and histograms are summed over the living and the dead, gauges are those of the living", async () => {
  const counts = new Counts();
  const [one, two, heir] = [openMetrics(1), openMetrics(2), openMetrics(1)];
  answered(one, 200, 3);
  answered(one, 404, 1);
  answered(two, 200, 4);
  counts.hear(1, await one.report());
  counts.hear(2, await two.report());
  assert.deepEqual([await numberOf(counts, count(200)), await numberOf(counts, bucket)], [7, 7]);
  assert.ok(Number(await numberOf(counts, memory(1))) > 0 && Number(await numberOf(counts, memory(2))) > 0);

  counts.end(1);
  assert.deepEqual([await numberOf(counts, count(200)), await numberOf(counts, count(404))], [7, 1]);
  assert.equal(await numberOf(counts, memory(1)), undefined);

  answered(heir, 200, 5);
  counts.hear(1, await heir.report());
  assert.equal(await numberOf(counts, count(200)), 12);
  counts.end(1);
  counts.end(2);
  assert.deepEqual(
    [await numberOf(counts, count(200)), await numberOf(counts, count(404)), await numberOf(counts, bucket)],
    [12, 1, 12],
  );
  for (const metrics of [one, two, heir]) metrics.close();
});

test("one that ended before it was ever asked leaves nothing, and breaks nothing", async () => {
  const counts = new Counts();
  counts.end(3);
  assert.equal((await textOfAll(counts.all())).trim(), "");
});
