// Commands that more than one writer, or one that dies, takes part in.

import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import { UNRESTRICTED } from "../../../src/domain/key.ts";
import type { Store } from "../../../src/domain/store.ts";
import type { Random } from "../../../src/simulate/random.ts";
import type { Lifetime } from "../../support/service.ts";
import type { Opened } from "../conformance/engine.ts";
import type { NaiveStore } from "../conformance/model.ts";
import { customer, tank, WHOLE } from "../conformance/objects.ts";
import { Sender } from "./sender.ts";
import { EMAILS, OWNERS } from "./some-objects.ts";
import { TELLING, WITNESS, within } from "./some-readings.ts";
import { note, type SentReading, send, type Write } from "./write.ts";

/** The write with something more in it that nothing else ever writes. */
function witnessed(write: Write, serial: number): Write {
  const id = `${WITNESS} ${serial}`;
  switch (write.kind) {
    case "customers":
      return { ...write, records: [...write.records, { customer: customer(id), deleted: true }] };
    case "tanks":
      return { ...write, records: [...write.records, { tank: tank(id, OWNERS[0] as string), deleted: true }] };
    case "readings":
      return { ...write, readings: [...write.readings, [WITNESS, serial, 1]] };
  }
}

async function isThere(store: Store, write: Write, serial: number): Promise<boolean> {
  const id = `${WITNESS} ${serial}`;
  if (write.kind === "customers") return (await store.customerById(id, UNRESTRICTED)) !== undefined;
  if (write.kind === "tanks") return (await store.tankById(id, UNRESTRICTED)) !== undefined;
  const page = await store.telemetryPage(WITNESS, { ...WHOLE, from: serial, to: serial }, UNRESTRICTED);
  return typeof page === "object" && page.totalItems === 1;
}

/**
 * A process sends the writes and is killed. Afterwards the database holds the first of them: all that were acknowledged,
 * perhaps more, none of them in part, which the model is told. `again` gives a store on the database.
 */
export async function crash(
  life: Lifetime,
  random: Random,
  { url, settled }: Opened,
  plain: readonly Write[],
  again: () => Promise<Store>,
  model: NaiveStore,
  serial: number,
): Promise<Write[]> {
  const writes = plain.map((write, i) => witnessed(write, serial + i));
  const [enough, delay] = [random.whole(0, writes.length - 1), random.chance(0.5) ? 0 : random.between(0, 40)];
  const sender = await Sender.start(life, url);
  sender.handOver(writes);
  const told = await sender.acknowledged(enough);
  await setTimeout(delay);
  told.push(...(await sender.kill()));
  await settled();
  const store = await again();
  const there: boolean[] = [];
  for (const [i, write] of writes.entries()) there.push(await isThere(store, write, serial + i));
  const kept = there.filter(Boolean).length;
  assert.ok(!there.slice(0, kept).includes(false), `not the first writes are there: ${there}`);
  assert.ok(kept >= told.length, `${told.length} writes were acknowledged, ${kept} are there`);
  const noted = writes.slice(0, kept).map((write) => note(model, write));
  assert.deepEqual(told, noted.slice(0, told.length));
  return writes;
}

/** Two sides write to one tank and the same lists at once; what they write fits together in any order. */
export async function writeAtOnce(
  life: Lifetime,
  random: Random,
  sides: readonly [Store, Store | { readonly url: string }],
  model: NaiveStore,
): Promise<void> {
  const tankId = random.pick(TELLING.slice(1));
  const written = [0, 1].map((side) => shareOf(random, model, tankId, side));
  const told = await Promise.all(sides.map((side, i) => sendAll(life, side, written[i] ?? [])));
  const expected = written.flat().flatMap((write) => note(model, write));
  assert.deepEqual(told.flat().toSorted(), expected.toSorted());
}

async function sendAll(life: Lifetime, side: Store | { readonly url: string }, writes: readonly Write[]): Promise<string[]> {
  if (!("url" in side)) return (await Promise.all(writes.map((write) => send(side, write)))).flat();
  const sender = await Sender.start(life, side.url);
  sender.handOver(writes);
  const words = await sender.acknowledged(writes.length);
  await sender.end();
  return words.flat();
}

/** What one side writes: objects of its own, and readings that the other may send too. */
function shareOf(random: Random, model: NaiveStore, tankId: string, side: number): Write[] {
  const own = <T>(list: readonly T[]): T[] => list.filter((_, i) => i % 2 === side);
  const [email, owner_id] = [random.pick(EMAILS), random.pick(OWNERS)];
  const customers = own(model.customers().slice(0, 60)).map((one) => ({ customer: { ...one, email }, deleted: false }));
  const tanks = own(model.tanks().slice(0, 60)).map((one) => ({ tank: { ...one, owner_id }, deleted: false }));
  const readings = Array.from({ length: 4 }, (): Write => ({ kind: "readings", readings: crowd(random, model, tankId) }));
  return [...readings, { kind: "customers", records: customers }, { kind: "tanks", records: tanks }];
}

/** Readings around one of the newest, their fills told by their instants: whoever comes last, they are the same. */
function crowd(random: Random, model: NaiveStore, tankId: string): SentReading[] {
  const near = model.readings(tankId).at(random.whole(0, 300))?.created_at ?? 0;
  return Array.from({ length: random.whole(1, 200) }, () => {
    const at = within(near + random.whole(-500, 500));
    return [tankId, at, Math.abs(at % 101)];
  });
}
