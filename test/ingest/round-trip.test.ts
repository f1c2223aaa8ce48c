// What is exported can be imported: into an empty database, and from there exported again as the same lines.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { ID_MAX_LENGTH } from "../../src/domain/id.ts";
import { MAX_LINE_BYTES } from "../../src/ingest/lines.ts";
import { postgresEngine, sqliteEngine } from "../store/engines.ts";
import { at, command, executed } from "../support/commands.ts";
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

    test("with which tanks were deleted together with their customer", async (t) => {
      const { store } = await engine.open(t);
      await importLines(
        store,
        [customer("a"), ...["one", "two", "before"].map((id) => tank(id, "a"))].map((line) => JSON.stringify(line)),
      );
      await executed(store, command.deleteTank("before"), at(1_000_000));
      await executed(store, command.deleteCustomer("a", true), at(2_000_000));
      const { store: copy } = await engine.open(t);
      const lines = await exportedLines(store);
      assert.deepEqual((await importLines(copy, lines)).reasons, []);
      assert.deepEqual(await exportedLines(copy), lines);
      const { summary } = await importLines(
        copy,
        lines.map((line) => line.replace(/,"deleted_at":"[^"]*"/, "")),
      );
      assert.equal(summary.unchanged, summary.read, "lines without it keep it");
      await executed(copy, command.restoreCustomer("a"), at(3_000_000));
      const tanks = await Promise.all(["one", "two", "before"].map((id) => copy.managedTank(id)));
      assert.deepEqual(
        tanks.map((one) => one?.deleted),
        [false, false, true],
      );
    });

    test("with a device that has had very many tanks: its lines are not too long", async (t) => {
      const id = "🛢".repeat(ID_MAX_LENGTH);
      const past = Array.from({ length: 2500 }, (_, day) => ({ tank_id: id, until: new Date(day * 86_400_000).toISOString() }));
      assert.ok(Buffer.byteLength(JSON.stringify(past)) > MAX_LINE_BYTES);
      const device = { object: "device", id: "d", profile: "elsys", since: created_at, dropped: 3 };
      const lines = await exportedOf(t, [
        customer("c"),
        tank(id, "c", { assigned_device_id: "other" }),
        tank("now", "c", { assigned_device_id: "d" }),
        ...[0, 1250].map((from) => ({ ...device, past_assignments: past.slice(from, from + 1250) })),
      ]);
      const own: { past_assignments: unknown[] }[] = lines.flatMap((line) =>
        line.includes('"id":"d"') ? [JSON.parse(line)] : [],
      );
      assert.deepEqual(
        own.map(({ past_assignments: { length }, ...rest }) => ({ ...rest, length })),
        [1000, 1000, 500].map((length) => ({ ...device, tank_id: "now", length })),
      );
      assert.deepEqual(
        own.flatMap(({ past_assignments }) => past_assignments),
        past,
      );
      assert.deepEqual(await exportedOf(t, lines), lines);
    });
  });
}
