// Import lines for tests: a few customers, tanks and readings, or very many.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import type { Home } from "./program.ts";

export type Line = Readonly<Record<string, unknown>>;

export function customer(id: string, fields: Line = {}): Line {
  const created_at = "2026-01-01T00:00:00.000Z";
  return { object: "customer", id, created_at, email: `${id}@customers.example`, name: `Customer ${id}`, ...fields };
}

export function tank(id: string, owner: string, fields: Line = {}): Line {
  return {
    object: "tank",
    id,
    owner_id: owner,
    assigned_device_id: `device-${id}`,
    capacity: 2700,
    capacity_unit: "liters",
    created_at: "2026-01-02T00:00:00.000Z",
    min_fill_alert_percentage: 20,
    name: `Tank ${id}`,
    ...fields,
  };
}

const FIRST_READING = Date.UTC(2026, 0, 3);

/** The readings of a tank are one minute apart. */
export function reading(tankId: string, minute: number, fill: number): Line {
  const created_at = new Date(FIRST_READING + minute * 60_000).toISOString();
  return { object: "telemetry", tank_id: tankId, created_at, fill_percentage: fill };
}

export function ndjson(lines: Iterable<Line>): string {
  return Array.from(lines, (line) => `${JSON.stringify(line)}\n`).join("");
}

/** Two customers and one that is deleted, three tanks and one that is deleted, four readings. */
export const SMALL_FLEET: readonly Line[] = [
  customer("ada", { verified_at: "2026-01-05T08:00:00.000Z", phone: "+43 1 234" }),
  customer("bob", { created_at: "2026-01-02T00:00:00.000Z" }),
  customer("gone", { deleted: true }),
  tank("a1", "ada", { location: { city: "Wien", country: "AT" }, use_case: "residential" }),
  tank("a2", "ada", { created_at: "2026-01-03T00:00:00.000Z", custom_id: "cellar" }),
  tank("b1", "bob", { capacity_unit: "gallons" }),
  tank("scrapped", "bob", { deleted: true }),
  reading("a1", 0, 80),
  reading("a1", 1, 79.5),
  reading("a1", 2, 79.25),
  reading("b1", 0, 12),
];

/** The five calls of the interface, on that fleet. */
export const FIVE_CALLS = ["/v1/customers", "/v1/customers/ada", "/v1/tanks", "/v1/tanks/a1", "/v1/tanks/a1/telemetry"];

export async function importLines({ path, run }: Home, lines: Iterable<Line>, name = "fleet.ndjson"): Promise<void> {
  writeFileSync(path(name), ndjson(lines));
  const { code, stderr } = await run(["import", name]);
  assert.equal(code, 0, stderr);
}

/** The secret of a new key that sees everything, or what `words` say. */
export async function makeKey({ run }: Home, ...words: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(["key", "create", "--name", "test", ...words]);
  assert.equal(code, 0, stderr);
  return stdout.trim();
}

/** A file of `count` lines: 20 customers, 100 tanks, and readings in the order in which tanks report. */
export function* manyLines(count: number): Generator<Line> {
  for (let i = 0; i < 20; i++) yield customer(`customer-${i}`);
  for (let i = 0; i < 100; i++) yield tank(`tank-${i}`, `customer-${i % 20}`);
  for (let i = 0; i < count - 120; i++) yield reading(`tank-${i % 100}`, Math.floor(i / 100), (i % 997) / 10);
}
