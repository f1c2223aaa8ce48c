// A database whose tables have many pages, and what an export must contain if one of them is damaged.

import assert from "node:assert/strict";
import type { ExportRecord, Store } from "../../../src/domain/store.ts";
import { at, command, executed } from "../../support/commands.ts";
import { ingest } from "../../support/readings.ts";
import { putReadings } from "../../support/records.ts";
import { customer, NEW_YEAR, putCustomers, putTanks, tank } from "../conformance/objects.ts";

const MINUTE = 60_000;
const OBJECTS = 300;
const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
/** Ids in another order than that of creation, so that neighbours in an index are on different pages of the table. */
const idOf = (kind: string, i: number): string => `${kind}${String((i * 7919) % 1000).padStart(3, "0")}`;

export async function fillManyPages(store: Store): Promise<void> {
  await putCustomers(store, ...numbers(OBJECTS).map((i) => customer(idOf("c", i))));
  const tanks = numbers(OBJECTS).map((i) => idOf("t", i));
  await putTanks(store, ...tanks.map((id, i) => tank(id, idOf("c", i), { assigned_device_id: `device of ${id}` })));
  // Every tenth has blocks, too.
  const history = (i: number) => numbers(i % 10 === 0 ? 1000 : 40).map((n) => [NEW_YEAR + n * MINUTE, n % 101] as const);
  await Promise.all(tanks.map((id, i) => putReadings(store, id, history(i))));
  const moved = tanks.map((id, i) => ({
    id: idOf("moved ", i),
    tank_id: null,
    since: NEW_YEAR,
    profile: null,
    dropped: 0,
    assignments: [1, 2].map((until) => ({ device: idOf("moved ", i), until, tankId: id })),
  }));
  await store.importDevices(moved);
  for (const { id } of moved.slice(0, 30)) await executed(store, command.removeDevice(id), at(NEW_YEAR));
  const waiting = numbers(OBJECTS).flatMap((i) => [1, 2].map((at) => ({ device: idOf("waits ", i), at, fill: 10 })));
  await ingest(store, ...waiting);
}

export async function exported(store: Store): Promise<{ readonly records: ReadonlySet<string>; readonly damages: string[] }> {
  const found = await Array.fromAsync(store.exportRecords());
  const damages = found.flatMap((record) => (record.kind === "damaged" ? [record.what] : []));
  const records = found.filter(({ kind }) => kind !== "damaged").map((record) => JSON.stringify(record));
  assert.equal(new Set(records).size, records.length, "nothing is exported twice");
  return { records: new Set(records), damages };
}

/** What is missing in an export of a damaged database: each record is named by one of these messages. */
export type Missing = Partial<Record<ExportRecord["kind"], RegExp>>;

/** Returns the number of missing records. */
export async function expectMissing(store: Store, sound: ReadonlySet<string>, missing: Missing): Promise<number> {
  const { records, damages } = await exported(store);
  assert.deepEqual([...records.difference(sound)], [], "nothing else is exported");
  const lost = [...sound.difference(records)].map((record) => JSON.parse(record) as ExportRecord);
  for (const kind of Object.keys(missing))
    assert.ok(
      lost.some((record) => record.kind === kind),
      `a ${kind} is missing`,
    );
  for (const record of lost) {
    const pattern = missing[record.kind];
    assert.ok(pattern !== undefined, `missing: ${JSON.stringify(record)}`);
    const isNamed = damages.some((what) => pattern.exec(what)?.groups?.["id"] === nameOf(record));
    assert.ok(isNamed || pattern.source.includes("may be missing"), `${JSON.stringify(record)} is named:\n${damages.join("\n")}`);
    assert.ok(
      damages.some((what) => pattern.test(what)),
      damages.join("\n"),
    );
  }
  return lost.length;
}

function nameOf(record: ExportRecord): string {
  switch (record.kind) {
    case "customer":
      return record.customer.id;
    case "tank":
      return record.tank.id;
    case "device":
      return record.device.id;
    case "readings":
      return record.tankId;
    case "pending":
      return record.reading.device;
    case "damaged":
      return record.what;
  }
}
