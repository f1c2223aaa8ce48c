// What is exported can be imported: into an empty database, and from there exported again as the same lines.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { postgresEngine, sqliteEngine } from "../store/engines.ts";
import { exportedLines, importLines } from "../support/exports.ts";
import { customer, type Line, tank } from "../support/lines.ts";
import type { Lifetime } from "../support/service.ts";

const created_at = "2026-01-03T00:00:00.000Z";

for (const engine of [sqliteEngine, postgresEngine]) {
  suite(`an export is imported, ${engine.name}`, () => {
    async function exportedOf(t: Lifetime, lines: readonly (Line | string)[]): Promise<string[]> {
      const { store } = await engine.open(t);
      const texts = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
      assert.deepEqual((await importLines(store, texts)).reasons, []);
      return exportedLines(store);
    }

    test("with the ids . and ..", async (t) => {
      const lines = await exportedOf(t, [
        customer("."),
        tank("..", ".", { assigned_device_id: "." }),
        { object: "telemetry", tank_id: "..", created_at, fill_percentage: 50 },
        { object: "telemetry", device_id: ".", customer_id: ".", created_at, payload: { distance: 500 } },
      ]);
      assert.equal(lines.length, 5, "a customer, a tank, a device, a reading and a pending one");
      assert.deepEqual(await exportedOf(t, lines), lines);
    });
  });
}
