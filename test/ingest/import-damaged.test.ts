// Stored data of one tank is damaged: its lines of a file are rejected, and all others are imported.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { UNRESTRICTED } from "../../src/domain/key.ts";
import { Import, type RejectedLine } from "../../src/ingest/import.ts";
import { postgresEngine, sqliteEngine } from "../store/engines.ts";
import { customer, type Line, tank } from "../support/lines.ts";
import { sqlOn } from "../support/sql.ts";

const reading = (tank_id: string, second: number, fill_percentage: number): Line => ({
  object: "telemetry",
  tank_id,
  created_at: new Date(second * 1000).toISOString(),
  fill_percentage,
});
const pending = (device_id: string, second: number): Line => ({ ...reading("", second, 50), tank_id: undefined, device_id });

for (const engine of [sqliteEngine, postgresEngine]) {
  suite(`an import into a damaged database, ${engine.name}`, () => {
    async function damaged(t: Parameters<typeof engine.open>[0]) {
      const { store, url } = await engine.open(t);
      const rejects: RejectedLine[] = [];
      async function importLines(...lines: Line[]) {
        const task = new Import(store, (reject) => rejects.push(reject));
        async function* source() {
          yield Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
        }
        await task.run(source(), "ndjson");
        const { new: created, changed, unchanged, rejected } = task.summary;
        return { created, changed, unchanged, rejected };
      }
      const fleet = [customer("a"), tank("broken", "a"), tank("whole", "a"), reading("broken", 1, 50), reading("whole", 1, 50)];
      await importLines(...fleet);
      const sql = await sqlOn(t, url);
      const isSqlite = engine === sqliteEngine;
      const key = isSqlite ? "(SELECT pk FROM tank WHERE id = 'broken')" : "'broken'";
      await sql(`UPDATE head SET data = ${isSqlite ? "x'ff'" : "'\\xff'"} WHERE tank = ${key}`);
      return { store, importLines, rejects };
    }

    test("stores the readings of other tanks, in the order of the file", async (t) => {
      const { store, importLines, rejects } = await damaged(t);
      const counts = await importLines(
        reading("whole", 2, 10),
        reading("broken", 2, 10),
        reading("whole", 3, 10),
        customer("b"),
        reading("whole", 3, 20),
        tank("new", "b"),
        reading("new", 1, 30),
        reading("broken", 3, 10),
        customer("c"),
        reading("whole", 3, 30),
      );
      assert.deepEqual(counts, { created: 6, changed: 2, unchanged: 0, rejected: 2 });
      assert.deepEqual(
        rejects.map(({ line }) => line),
        [2, 8],
      );
      for (const { reason } of rejects) assert.match(reason, /^stored data is damaged: tank broken: the head .* is damaged$/);
      const found = await store.telemetryPage("whole", { from: undefined, to: undefined, page: 1, size: 9 }, UNRESTRICTED);
      assert.ok(typeof found === "object");
      assert.deepEqual(
        found.data.map(({ fill_percentage }) => fill_percentage),
        [30, 10, 50],
      );
    });

    test("changes other objects, if an object cannot be changed without the damaged data", async (t) => {
      const { importLines, rejects } = await damaged(t);
      await importLines(pending("device of broken", 2));
      const counts = await importLines(
        tank("other", "a"),
        tank("broken", "a", { assigned_device_id: "device of broken" }),
        tank("whole", "a", { name: "renamed" }),
      );
      assert.deepEqual(counts, { created: 1, changed: 1, unchanged: 0, rejected: 1 });
      assert.deepEqual(
        rejects.map(({ line }) => line),
        [2],
      );
    });
  });
}
