// The check of everything, whatever the engine: a little at a time, each bit in a snapshot that is soon let go. Repairs are
// writes like any other, and look again first.

import { setImmediate } from "node:timers/promises";
import type { CheckTotals, Finding } from "../domain/store.ts";
import { type Fault, findingsOf } from "./series/fault.ts";

type Awaitable<T> = T | Promise<T>;
export type Look = { readonly where: string; readonly faults: readonly Fault[] };
/** Of a customer or a tank, by what the engine calls it. */
export type ObjectLook<K> = Look & { readonly key: K; readonly readings: number };

/** What is seen, each in a snapshot of its own. */
export type Looks<K> = {
  /** The database as such. What cannot be repaired there ends the check. */
  readonly whole: () => Awaitable<Look>;
  readonly references: () => Awaitable<readonly Look[]>;
  readonly objects: () => Awaitable<number>;
  /** The next few after this one, or from the first; none at the end. */
  readonly customers: (after: K | undefined) => Awaitable<readonly ObjectLook<K>[]>;
  readonly tanks: (after: K | undefined) => Awaitable<readonly ObjectLook<K>[]>;
  readonly devices: () => Awaitable<readonly Look[]>;
  /** Of what cannot be derived: the keys, and the audit log. */
  readonly keysAndAudit: () => Awaitable<readonly Look[]>;
  /** The lists that have milestones, or should. */
  readonly everySeries: () => Awaitable<readonly string[]>;
  readonly list: (series: string) => Awaitable<Look>;
};

/** Each gives what it found, in its own transaction, and has repaired what it could. */
export type Repairs<K> = {
  readonly repairWhole: () => Promise<Finding[]>;
  readonly repairReferences: () => Promise<Finding[]>;
  readonly repairCustomer: (key: K) => Promise<Finding[]>;
  readonly repairTank: (key: K) => Promise<Finding[]>;
  readonly repairDevices: () => Promise<Finding[]>;
  readonly repairList: (series: string) => Promise<Finding[]>;
};

/** Without `repairs` nothing is changed. */
export async function* checkWith<K>(
  looks: Looks<K>,
  repairs: Repairs<K> | undefined,
  progress: (done: number, total: number) => void,
): AsyncGenerator<Finding, CheckTotals, void> {
  const census = { customers: 0, tanks: 0, readings: 0 };
  const whole = await looks.whole();
  // What else is seen in a damaged database says nothing, and nothing should be written to it.
  const isDamaged = whole.faults.some(({ isDerived }) => !isDerived);
  yield* await told([whole], isDamaged ? undefined : repairs?.repairWhole);
  if (isDamaged) return census;
  yield* await told(await looks.references(), repairs?.repairReferences);

  const total = await looks.objects();
  for await (const { key, ...look } of oneByOne(looks.customers)) {
    census.customers++;
    yield* await told([look], repairs && (() => repairs.repairCustomer(key)));
    progress(census.customers, total);
  }
  for await (const { key, ...look } of oneByOne(looks.tanks)) {
    census.tanks++;
    census.readings += look.readings;
    yield* await told([look], repairs && (() => repairs.repairTank(key)));
    progress(census.customers + census.tanks, total);
  }
  yield* await told(await looks.devices(), repairs?.repairDevices);
  yield* await told(await looks.keysAndAudit(), undefined);
  for (const series of await looks.everySeries()) {
    yield* await told([await looks.list(series)], repairs && (() => repairs.repairList(series)));
    await setImmediate();
  }
  return census;
}

async function* oneByOne<K>(next: (after: K | undefined) => Awaitable<readonly ObjectLook<K>[]>) {
  for (let some = await next(undefined); some.length > 0; some = await next(some.at(-1)?.key)) {
    yield* some;
    // Signals are heard in between.
    await setImmediate();
  }
}

/** What is found, or what a repair has made of it. */
async function told(looks: readonly Look[], repair: (() => Promise<Finding[]>) | undefined): Promise<Finding[]> {
  const isDerived = looks.some(({ faults }) => faults.some((fault) => fault.isDerived));
  if (isDerived && repair !== undefined) return repair();
  return looks.flatMap(({ where, faults }) => findingsOf(where, faults));
}
