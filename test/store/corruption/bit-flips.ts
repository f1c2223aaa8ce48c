// Single bits of what is stored are changed: nothing wrong is exported or read, and the check reports whatever the export
// would have to contain.

import assert from "node:assert/strict";
import { UNRESTRICTED } from "../../../src/domain/key.ts";
import type { Store } from "../../../src/domain/store.ts";
import type { Random } from "../../../src/simulate/random.ts";
import { at, command, executed } from "../../support/commands.ts";
import { ingest } from "../../support/readings.ts";
import { putReadings } from "../../support/records.ts";
import { checked, customer, NEW_YEAR, putCustomers, tank, WHOLE } from "../conformance/objects.ts";

const TANKS = ["narrow", "wide", "early", "long", "empty", "gone"];
const PROFILE = { value: "level", measures: "percent" };
const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

/** Every kind of row and every layout of readings, in few rows. */
export async function fillWithEverything(store: Store): Promise<void> {
  const now = at(NEW_YEAR);
  await putCustomers(store, customer("a", { phone: "+49 30 5550", verified_at: NEW_YEAR }), customer("b"));
  await store.importCustomers([{ customer: customer("gone"), deleted: true }], now);
  const location = { ...tank("x", "a").location, city: "Ulm", latitude: 48.4, longitude: 9.99 };
  const records = TANKS.map((id) => ({ tank: tank(id, "a", { custom_id: `no ${id}`, location }), deleted: id === "gone" }));
  await store.importTanks(records, now);
  await putReadings(
    store,
    "narrow",
    times(40, (i) => [NEW_YEAR + i * 60_000, 20.25 + i]),
  );
  await putReadings(
    store,
    "wide",
    times(15, (i) => [NEW_YEAR + i * 60_000, 100 / (i + 3)]),
  );
  await putReadings(
    store,
    "early",
    times(10, (i) => [-1e12 + i, i]),
  );
  // Appended in two parts, to a head that is not read.
  for (const part of [0, 1, 2]) {
    await putReadings(
      store,
      "long",
      times(150, (i) => [NEW_YEAR + (part * 150 + i) * 60_000, i % 101]),
    );
  }
  await executed(store, command.changeTank("narrow", { shape: { kind: "upright", height: 2, unit: "m" } }), now);
  await executed(store, command.putDevice("moved", { tank_id: "wide" }), now);
  await executed(store, command.putDevice("moved", { tank_id: "narrow", profile: "elsys" }, { swap: true }), at(NEW_YEAR + 1));
  await executed(store, command.putDevice("device of wide", { tank_id: "wide" }), at(NEW_YEAR + 2));
  await ingest(
    store,
    { device: "waits", at: 1, fill: 12.5 },
    { device: "waits", at: NEW_YEAR, payload: { level: 5 } },
    { device: "waits", at: 3, fill: 1 / 3 },
  );
  await executed(store, command.putDevice("waits", { profile: PROFILE }), now);
  await store.updateLastSeen(new Map([["a", NEW_YEAR + 5]]));
}

export type Contents = { readonly records: readonly string[]; readonly reads: ReadonlyMap<string, string> };

/** What an export contains, and every page of readings. A failed read is not in it. */
export async function contentsOf(store: Store): Promise<Contents> {
  const records: string[] = [];
  try {
    for await (const record of store.exportRecords()) records.push(JSON.stringify(record));
  } catch (error) {
    expectDamage(error);
    records.push(DAMAGED);
  }
  const reads = new Map<string, string>();
  for (const id of TANKS) {
    for (const query of [{}, { size: 10 }, { page: 3 }, { from: NEW_YEAR + 3_600_000, to: NEW_YEAR + 9_000_000 }]) {
      const page = await store.telemetryPage(id, { ...WHOLE, ...query }, UNRESTRICTED).catch(expectDamage);
      if (typeof page === "object") reads.set(`${id} ${JSON.stringify(query)}`, JSON.stringify(page));
    }
  }
  return { records, reads };
}

const DAMAGED = '{"kind":"damaged"';

function expectDamage(error: unknown): undefined {
  assert.equal((error as { code?: unknown }).code, "data_damaged", String((error as Error).stack));
}

/** `tank_count` is derived: an import counts the tanks itself. */
const comparable = (record: string): string => record.replace(/"tank_count":\d+/, "");

/** After one bit was changed. */
export async function expectNothingWrong(store: Store, sound: Contents): Promise<"reported" | "unchanged"> {
  const { records, reads } = await contentsOf(store);
  const known = new Set(sound.records.map(comparable));
  // Of a device whose id was changed the other rows remain; that it is damaged is reported beside them.
  const isExpected = (record: string): boolean =>
    record.startsWith(DAMAGED) || (record.startsWith('{"kind":"device"') && records.some((other) => other.startsWith(DAMAGED)));
  const wrong = records.filter((record) => !known.has(comparable(record)) && !isExpected(record));
  assert.deepEqual(wrong, [], "exported as if it were right");
  for (const [query, page] of sound.reads) assert.equal(reads.get(query) ?? page, page, query);
  if (JSON.stringify(records) === JSON.stringify(sound.records) && reads.size === sound.reads.size) return "unchanged";
  const findings = await checked(store).then((result) => result.findings, expectDamage);
  assert.notDeepEqual(findings, []);
  return "reported";
}

export type ColumnType = "integer" | "real" | "text" | "bytes" | "flag";
export type Value = bigint | number | string | boolean | Uint8Array;

/** The value with another bit; undefined if it has none, or is no valid value any more. */
export function withFlippedBit(value: Value | null, type: ColumnType, random: Random): Value | undefined {
  if (value === null) return undefined;
  if (type === "flag") return !value;
  if (type === "integer") return BigInt.asIntN(64, BigInt(value as bigint) ^ (1n << BigInt(random.whole(0, 63))));
  if (type === "real") {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(Number(value));
    const other = flipBit(bytes, random).readDoubleLE();
    return Number.isFinite(other) ? other : undefined;
  }
  const bytes = type === "text" ? Buffer.from(String(value)) : Buffer.from(value as Uint8Array);
  if (bytes.length === 0) return undefined;
  const flipped = flipBit(bytes, random);
  if (type === "bytes") return flipped;
  const text = flipped.toString();
  return text.includes("\0") || text.includes("\ufffd") ? undefined : text;
}

export function flipBit(bytes: Buffer, random: Random): Buffer {
  const bit = random.whole(0, bytes.length * 8 - 1);
  bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return bytes;
}
