// A database with every kind of derived data, the reads that depend on it, and what a check must report.

import assert from "node:assert/strict";
import { DEFAULT_TANK_ALERT_SETTINGS } from "../../../src/domain/alerts/tank-alert-settings.ts";
import { DEFAULT_NOTIFICATION_SETTINGS } from "../../../src/domain/customer.ts";
import { EARLIEST } from "../../../src/domain/instant.ts";
import type { Finding, Store } from "../../../src/domain/store.ts";
import { at, command, createKey, executed } from "../../support/commands.ts";
import { ingest, ingestFills } from "../../support/readings.ts";
import { putReadings } from "../../support/records.ts";
import { times } from "../../support/times.ts";
import {
  checked,
  customer,
  customersOf,
  fleetOf,
  key,
  putCustomers,
  putTanks,
  readingsOf,
  scopeOf,
  tank,
  tankCounts,
  tanksOf,
} from "../conformance/objects.ts";

export type Corruption = {
  readonly name: string;
  readonly sql: string;
  /** All places where it is reported. */
  readonly where: readonly string[];
  readonly what: RegExp;
};

const EMAIL = "many@customers.example";
/** Of the tank "long": 132 blocks, hence two levels of the rank index. */
export const READINGS = 17_000;
const TANKS_OF_C3 = 7;

/**
 * The lists of 400 customers and of the 300 tanks of "c0" have a rank index. The tank "medium" has 14 blocks; "short" and the tanks
 * of "c3", "m0" to "m6", have a head and no blocks; "gone" is deleted. The devices "waits", "queued" and "strange" are assigned to
 * no tank; "moved" was assigned to "t1", and is assigned to "short".
 */
export async function fill(store: Store): Promise<void> {
  await putCustomers(store, ...times(400, (i) => customer(`c${i}`, { email: EMAIL, created_at: i })));
  await putTanks(store, tank("long", "c1", { created_at: 1 }), tank("short", "c2", { created_at: 2 }));
  await putTanks(store, ...times(300, (i) => tank(`t${i}`, "c0", { created_at: i })));
  const ofC3 = times(TANKS_OF_C3, (i) => `m${i}`);
  await putTanks(store, ...["medium", ...ofC3].map((id) => tank(id, id === "medium" ? "c2" : "c3", { created_at: 3 })));
  for (const [id, count] of [
    ["long", READINGS],
    ["medium", 2000],
    ["short", 50],
    ...ofC3.map((short) => [short, 40] as const),
  ] as const) {
    await putReadings(
      store,
      id,
      times(count, (i) => [i * 1000, i % 101]),
    );
  }
  await createKey(store, key("k", { customer_id: "c1" }), "hash");
  await createKey(store, key("other"), "other hash");
  const now = at(Date.now());
  await store.importTanks([{ tank: tank("gone", "c1", { created_at: 3 }), deleted: true }], now);
  for (const device of ["waits", "queued"]) {
    await ingestFills(store, device, [
      [1, 10],
      [2, 20],
    ]);
    await ingest(store, { device, at: 3, payload: { distance: 5 } });
  }
  await ingest(store, { device: "strange", at: 1, fill: 5 });
  await executed(store, command.putDevice("waits", { profile: "elsys" }), now);
  await executed(store, command.putDevice("moved", { tank_id: "t1" }), now);
  const shape = { kind: "upright", height: 2, unit: "m" };
  await executed(store, command.putDevice("moved", { tank_id: "short", shape }, { swap: true }), at(now.at + 1));
}

/** Pages and totals that wrong derived data would make wrong. */
export async function sampleReads(store: Store): Promise<unknown> {
  const found: unknown[] = [await tankCounts(store, "c0", "c1", "c2", "c3")];
  for (const page of [1, 3]) {
    for (const range of [{}, { from: 130, to: 4000 }]) {
      found.push(
        await customersOf(store, { page, ...range }),
        await customersOf(store, { page, ...range, email: EMAIL }),
        await tanksOf(store, { page, ...range }),
        await tanksOf(store, { page, ...range }, scopeOf("c0")),
      );
    }
  }
  for (const page of [1, 2, 85, 169, 170]) found.push(await readingsOf(store, "long", { page }));
  for (const from of [0, 500, 127_000, 128_000, 9_000_000, 16_900_000]) {
    found.push(await readingsOf(store, "long", { from, page: 2 }), await readingsOf(store, "long", { to: from, size: 7 }));
  }
  for (const range of [{ page: 10 }, { from: 500_000 }, { to: 900_000 }]) found.push(await readingsOf(store, "medium", range));
  found.push(
    await readingsOf(store, "short"),
    await fleetOf(store, { state: "low" }),
    await fleetOf(store, { silentSince: 1e12, owner_id: "c1" }),
    await fleetOf(store, { owner_id: "c3" }),
    await store.deviceSearch({ page: 1, size: 100, pending: undefined }),
    await store.deviceSearch({ page: 1, size: 100, pending: true }),
    ...(await Promise.all(["device of m4", "device of m5", "waits", "queued"].map((id) => store.managedDevice(id)))),
  );
  return found;
}

type Expected = Pick<Corruption, "name" | "where" | "what">;

/** Rounds of corruptions that are checked together: those of a round are reported in different places. */
export function roundsOf<T extends Expected>(corruptions: readonly T[]): { readonly names: string; readonly round: T[] }[] {
  const rounds: T[][] = [];
  for (const corruption of corruptions) {
    const isApart = (round: readonly T[]) => !round.some(({ where }) => where.some((place) => corruption.where.includes(place)));
    const round = rounds.find(isApart);
    if (round === undefined) rounds.push([corruption]);
    else round.push(corruption);
  }
  return rounds.map((round) => ({ names: round.map(({ name }) => name).join("; "), round }));
}

/** Each is reported in its places only; a repair corrects all of it, and reads are as before. */
export async function expectRepair(store: Store, round: readonly Expected[], reads: unknown): Promise<void> {
  const { findings } = await checked(store);
  expectFindings(findings, round);
  assert.ok(findings.every(({ repaired }) => !repaired));
  assert.deepEqual(
    (await checked(store, true)).findings,
    findings.map((finding) => ({ ...finding, repaired: true })),
    "a check changes nothing",
  );
  assert.deepEqual((await checked(store)).findings, []);
  assert.deepEqual(await sampleReads(store), reads);
}

/** Each is reported once in each of its places, and again after a repair. */
export async function expectReport(store: Store, round: readonly Expected[]): Promise<void> {
  for (const repair of [false, true]) {
    const { findings } = await checked(store, repair);
    expectFindings(findings, round);
    assert.equal(findings.length, round.flatMap(({ where }) => where).length, JSON.stringify(findings));
    assert.ok(findings.every(({ repaired }) => !repaired));
  }
}

/** With the places where they are reported. */
export const DAMAGED_ROWS = {
  sql: `UPDATE customer SET phone = '1' WHERE id = 'c5'; UPDATE tank SET capacity = 2701 WHERE id = 'short';
    UPDATE device SET dropped = 1 WHERE id = 'waits'; UPDATE device_assignment SET until = until + 1 WHERE device = 'moved';
    UPDATE pending_reading SET fill = 11 WHERE device = 'strange'; UPDATE head SET checksum = checksum + 1 WHERE total = 50`,
  where: ["customer c5", "device moved", "device strange", "device waits", "tank short"],
} as const;

/** No write gives damaged rows a new checksum, unless it replaces the whole of them. */
export async function expectDamageKept(store: Store): Promise<void> {
  const places = async () => [...new Set((await checked(store, true)).findings.map(({ where }) => where))].toSorted();
  assert.deepEqual(await places(), DAMAGED_ROWS.where);
  const now = at(Date.now());
  await store.updateLastSeen(new Map([["c5", now.at]]));
  assert.deepEqual(
    await ingest(store, { tank: "short", at: 60_000_000, fill: 50 }),
    ["stored"],
    "appended without reading the head",
  );
  for (const write of [
    () => store.execute(command.changeCustomer("c5", { name: "C" }), now),
    () => store.execute(command.changeTank("short", { name: "T" }), now),
    () => store.execute(command.putDevice("waits", { profile: "mopeka" }), now),
    () => store.execute(command.putDevice("strange", { tank_id: "t9" }, { swap: true }), now),
    () => ingest(store, { device: "waits", at: 4, fill: 40 }),
    () => ingest(store, { device: "moved", at: 5, fill: 50 }),
    () => ingest(store, { tank: "short", at: 1, fill: 5 }),
    () => readingsOf(store, "short"),
  ]) {
    await assert.rejects(write, { code: "data_damaged" }, String(write));
  }
  assert.deepEqual(await places(), DAMAGED_ROWS.where);

  const short = { tank: tank("short", "c2", { created_at: 2, assigned_device_id: "moved" }), deleted: false };
  const waits = { id: "waits", tank_id: null, since: undefined, profile: null, dropped: 0, assignments: [] };
  assert.match(JSON.stringify(await store.importTanks([short])), /shape: is missing, and needed because tank short is damaged/);
  assert.match(JSON.stringify(await store.importDevices([waits])), /device waits is damaged; import it with all its fields/);
  const c5 = { customer: customer("c5", { email: EMAIL, created_at: 5 }), deleted: false };
  assert.match(JSON.stringify(await store.importCustomers([c5])), /notifications: is missing, and needed because customer c5 is/);
  assert.deepEqual(await store.importCustomers([{ ...c5, notifications: DEFAULT_NOTIFICATION_SETTINGS }]), ["changed"]);
  const shaped = { ...short, shape: null };
  assert.match(JSON.stringify(await store.importTanks([shaped])), /alerts: is missing, and needed because tank short is damaged/);
  assert.deepEqual(await store.importTanks([{ ...shaped, alerts: DEFAULT_TANK_ALERT_SETTINGS }]), ["changed"]);
  assert.deepEqual(await store.importDevices([{ ...waits, since: EARLIEST }]), ["changed"]);
  await executed(store, command.removeDevice("strange"), now);
  assert.deepEqual(await places(), ["device moved", "tank short"]);
}

export function expectFindings(findings: readonly Finding[], round: readonly Expected[]): void {
  const places = round.flatMap(({ where }) => where);
  const found = new Set(findings.map(({ where }) => where));
  assert.deepEqual([...found].toSorted(), places.toSorted(), JSON.stringify(findings));
  for (const { name, where, what } of round) {
    const messages = findings.filter((finding) => where.includes(finding.where)).map((finding) => finding.what);
    assert.match(messages.join("\n"), new RegExp(what, "m"), name);
  }
}
