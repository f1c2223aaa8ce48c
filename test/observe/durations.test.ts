// Durations are counted as prom-client's histogram counts them.

import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { Histogram, Registry } from "prom-client";
import { Durations } from "../../src/observe/durations.ts";
import { textOfAll } from "../../src/observe/report.ts";

const shape = { name: "seconds", help: "Time it took", labelNames: ["route", "status"] };
const BOUNDS = [0.001, 0.25, 1];

const observations = fc.array(
  fc.record({
    seconds: fc.oneof(fc.constantFrom(0, ...BOUNDS), fc.double({ min: 0, max: 2, noNaN: true })),
    route: fc.constantFrom("/one", "/two", '/quoted "path"'),
    status: fc.constantFrom(200, 404),
  }),
);

test("the text is the one prom-client gives for the same durations", async () => {
  await fc.assert(
    fc.asyncProperty(observations, async (observed) => {
      const registry = new Registry();
      const model = new Histogram({ ...shape, buckets: BOUNDS, registers: [registry] });
      const durations = new Durations({ ...shape, seconds: BOUNDS });
      for (const { seconds, route, status } of observed) {
        model.observe({ route, status }, seconds);
        durations.observe(seconds, [route, status]);
      }
      assert.equal(await textOfAll([[durations.metric()]]), await registry.metrics());
    }),
  );
});
