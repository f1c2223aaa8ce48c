// Random writes: commands, imports of records, and readings as a fleet may send them. Each is made from a seed and from what the
// model holds, so that readings are late, repeated or corrected.

import { DEFAULT_TANK_ALERT_SETTINGS } from "../../../src/domain/alerts/tank-alert-settings.ts";
import type { AuditContext } from "../../../src/domain/audit.ts";
import type { CommandResult } from "../../../src/domain/commands/command.ts";
import type { Customer } from "../../../src/domain/customer.ts";
import { deviceKey } from "../../../src/domain/id.ts";
import { EARLIEST } from "../../../src/domain/instant.ts";
import type { IncomingBatch, ReadingSource } from "../../../src/domain/reading.ts";
import type { CustomerRecord, DeviceRecord, TankRecord } from "../../../src/domain/records.ts";
import type { Writes } from "../../../src/domain/store.ts";
import type { Tank } from "../../../src/domain/tank.ts";
import type { Random } from "../../../src/simulate/random.ts";
import { incomingBatch, outcomeNames, type SentReading } from "../../support/readings.ts";
import { times } from "../../support/times.ts";
import { customer, NEW_YEAR, tank } from "../conformance/objects.ts";
import type { ModelStore } from "../model.ts";
import { COMMAND_TYPES, CUSTOMERS, DEVICES, EMAILS, NAMES, randomCommand, TANKS } from "./commands.ts";

export type Step = { readonly description: string; readonly run: (store: Writes) => Promise<unknown> };

/** Telemetry has a rank index above 160 readings, a second level above about 16,500, a third above about 1,060,000; lists above 256. */
export type Size = {
  readonly steps: number;
  /** At the beginning: readings of one tank, customers and tanks. */
  readonly readings: number;
  readonly customers: number;
  readonly tanks: number;
  /** The most that one step adds. */
  readonly bulk: number;
};

export type StepContext = {
  readonly random: Random;
  readonly model: ModelStore;
  readonly size: Size;
  /** The number of the step. */
  readonly number: number;
  readonly now: number;
  /** Etags of objects that commands returned recently. */
  readonly etags: string[];
  readonly kinds?: readonly (keyof typeof KINDS)[];
  /** Without what an export does not restore: removed devices, idempotency keys, readings from before 1970, and of senders that may not reach their tank any more. */
  readonly isExportable?: boolean;
};

const FIRST = Date.parse("0000-01-01T00:00:00.000Z");
const LAST = Date.parse("9999-12-31T23:59:59.999Z");
/** Only this tank gets readings at the ends of the calendar: nothing can be appended after them. */
const EDGE_TANK = "t3";
export const BUSY_TANK = "t1";
export const CALLERS = ["key one", "key two"];

const within = (at: number): number => Math.min(LAST, Math.max(FIRST, Math.floor(at)));

export function shuffled<T>(random: Random, list: readonly T[]): T[] {
  const copy = [...list];
  for (let i = copy.length - 1; i > 0; i--) {
    const j = random.whole(0, i);
    [copy[i], copy[j]] = [copy[j] as T, copy[i] as T];
  }
  return copy;
}

/** How often each kind of step is chosen, and how it is made. */
const KINDS = {
  tankReadings: [8, tankReadings],
  deviceReadings: [6, deviceReadings],
  command: [8, (context: StepContext) => command(context)],
  assign: [1, (context: StepContext) => command(context, ["put_device"])],
  importFew: [2, importFew],
  importMany: [3, importMany],
  lastSeen: [1, lastSeen],
} as const satisfies Record<string, readonly [weight: number, make: (context: StepContext) => Step]>;

export function randomStep(context: StepContext): Step {
  const { random, kinds = Object.keys(KINDS) as (keyof typeof KINDS)[] } = context;
  const makers = kinds.flatMap((kind) => times(KINDS[kind][0], () => KINDS[kind][1]));
  return random.pick(makers)(context);
}

/** The objects that commands and readings refer to, and the long lists and histories. */
export function firstSteps(context: StepContext): Step[] {
  const { random, size } = context;
  const customers = CUSTOMERS.map((id): CustomerRecord => ({ customer: customer(id), deleted: false }));
  const tanks = TANKS.map((id): TankRecord => ({ tank: tank(id, random.pick(CUSTOMERS)), deleted: false }));
  const readings = times(size.readings, (i): SentReading => ({ tank: BUSY_TANK, at: NEW_YEAR + i * 1000, fill: fill(random) }));
  const started = { by: "start", at: context.now };
  return [
    { description: "customers", run: (store) => store.importCustomers(customers, started) },
    { description: "tanks", run: (store) => store.importTanks(tanks, started) },
    importCustomers(newObjects(random, "c", size.customers, newCustomer(random)), started),
    importTanks(newObjects(random, "t", size.tanks, newTank(random)), started),
    ingest(shuffled(random, readings)),
  ];
}

function ingest(readings: readonly SentReading[]): Step {
  return ingestBatch(incomingBatch(readings), `${readings.length} readings of tanks`);
}

function ingestBatch(batch: IncomingBatch, description: string): Step {
  return { description, run: async (store) => outcomeNames(await store.ingest(batch)) };
}

function command({ random, number, now, etags, isExportable }: StepContext, types = COMMAND_TYPES): Step {
  const given = randomCommand(random, number, etags, isExportable ? types.filter((type) => type !== "remove_device") : types);
  const key =
    !isExportable && random.chance(0.2) ? { key: random.pick(["a", "b", "c"]), fingerprint: random.pick(["x", "y"]) } : undefined;
  const context = { by: random.pick(CALLERS), at: now };
  const run = async (store: Writes): Promise<CommandResult> => {
    const result = await store.execute(given, context, key);
    if ("resource" in result) etags.splice(0, etags.length, result.resource.etag, ...etags.slice(0, 2));
    return result;
  };
  return { description: JSON.stringify({ command: given, context, key }), run };
}

function lastSeen({ random, model }: StepContext): Step {
  const seen = new Map([[random.pick([...model.customers(), customer("nobody")]).id, random.whole(0, NEW_YEAR)]]);
  return { description: "updateLastSeen", run: (store) => store.updateLastSeen(seen) };
}

// Readings of tanks

const fill = (random: Random): number => (random.chance(0.9) ? random.whole(0, 10_000) / 100 : random.between(0, 100));

type ReadingsContext = {
  readonly random: Random;
  readonly readings: ReturnType<ModelStore["readings"]>;
  /** The instant of some reading of the tank, or where its first will be. */
  readonly known: number;
  readonly most: number;
};

function appended({ random, readings }: ReadingsContext, count: number): [number, number][] {
  let at = readings[0]?.created_at ?? NEW_YEAR;
  const step = random.pick([1, 60_000, 86_400_000]);
  return times(count, () => {
    at += random.whole(1, step);
    return [at, fill(random)];
  });
}

const TANK_READINGS: Readonly<Record<string, (context: ReadingsContext) => (readonly [at: number, fill: number])[]>> = {
  append: (context) => appended(context, context.random.whole(1, 3)),
  "append many": (context) => appended(context, context.random.whole(10, Math.min(400, context.most))),
  late: ({ random, known }) =>
    times(random.whole(1, 5), () => [known + random.pick([-1, 1, 2, random.whole(-1e6, 1e6)]), fill(random)]),
  "before all": ({ random, readings, most }) => {
    const oldest = readings.at(-1)?.created_at ?? NEW_YEAR;
    return times(random.whole(1, Math.min(300, most)), () => [oldest - random.whole(1, 1e9), fill(random)]);
  },
  "repeated, some corrected": ({ random, readings }) => {
    const from = random.whole(0, readings.length);
    const again = readings.slice(from, from + random.whole(1, 200)).map(({ created_at, fill_percentage }) => {
      return [created_at, random.chance(0.1) ? fill(random) : fill_percentage] as const;
    });
    return random.chance(0.3) ? [...again, ...again.toReversed()] : again;
  },
  // Blocks are split again and again.
  "dense at one place": ({ random, known, most }) =>
    times(random.whole(50, Math.min(600, most)), () => [known + random.whole(-2000, 2000), fill(random)]),
  unordered: ({ random, known, most }) => {
    const [count, step] = [random.whole(1, most), random.pick([1, 1000, 900_000])];
    const readings = times(count, (i): [number, number] => [known + (i - count / 2) * step, fill(random)]);
    return shuffled(random, readings);
  },
};

function tankReadings({ random, model, size, isExportable = false }: StepContext): Step {
  if (random.chance(0.05) && !isExportable) {
    const at = random.pick([FIRST, FIRST + 1, LAST - 1, LAST, -1, 0, 1]);
    return ingest([{ tank: EDGE_TANK, at, fill: fill(random) }]);
  }
  const tankId = random.pick([BUSY_TANK, BUSY_TANK, ...TANKS, "nobody"]);
  const readings = model.readings(tankId);
  const known = readings.length === 0 ? NEW_YEAR : random.pick(readings).created_at;
  const [name, make] = random.pick(Object.entries(TANK_READINGS));
  const sent = make({ random, readings, known, most: size.bulk }).map(([at, value]): SentReading => {
    return {
      tank: random.chance(0.9) ? tankId : random.pick(TANKS),
      at: Math.max(within(at), isExportable ? 0 : FIRST),
      fill: value,
    };
  });
  return { ...ingest(sent), description: `${sent.length} readings of ${tankId}: ${name}` };
}

// Readings of devices

const PAYLOADS: readonly ((random: Random) => object)[] = [
  (random) => ({ distance: random.whole(0, 2500) }),
  (random) => ({ level: random.whole(0, 300) }),
  (random) => ({ p: random.whole(0, 120) }),
  (random) => ({ fill_percentage: random.whole(0, 100) }),
  () => ({ p: "12" }),
  () => ({ "a\u0000b": 'quote " and \\ and \u2028', deep: [{ x: null }] }),
];

/** Of few sources, recent and older; sometimes more than can be pending. No two devices measure at the same instant. */
function deviceReadings({ random, now, isExportable }: StepContext): Step {
  const sources = times(random.whole(1, 4), () => randomSource(random, isExportable ? 0 : 0.15));
  const length = random.whole(1, random.chance(0.05) ? 1500 : 12);
  const sourceOf = Uint32Array.from({ length }, () => random.whole(0, sources.length - 1));
  const step = random.pick([1000, 60_000]);
  const createdAt = Float64Array.from(sourceOf, (index) => {
    const place = DEVICES.map(deviceKey).indexOf(sources[index]?.id ?? "");
    return now - random.whole(0, length + 5) * step - (now % 100) + place;
  });
  const payloads = new Map<number, string>();
  const fills = Float64Array.from(sourceOf, (index, position) => {
    if (sources[index]?.kind === "tank" || random.chance(0.5)) return fill(random);
    payloads.set(position, JSON.stringify(random.pick(PAYLOADS)(random)));
    return Number.NaN;
  });
  return ingestBatch({ sources, sourceOf, createdAt, fill: fills, payloads }, `${length} readings of ${JSON.stringify(sources)}`);
}

/** Sometimes with a key that is bound to a customer. */
function randomSource(random: Random, boundShare: number): ReadingSource {
  const customerId = random.chance(boundShare) ? random.pick(CUSTOMERS) : null;
  if (random.chance(0.3)) return { kind: "tank", id: random.pick([...TANKS, "no tank"]), customerId };
  return { kind: "device", id: deviceKey(random.pick(DEVICES)), customerId };
}

// Imports

const importCustomers = (records: readonly CustomerRecord[], context: AuditContext): Step => ({
  description: `import of ${records.length} customers ${JSON.stringify(records.slice(0, 3))}`,
  run: (store) => store.importCustomers(records, context),
});
const importTanks = (records: readonly TankRecord[], context: AuditContext): Step => ({
  description: `import of ${records.length} tanks ${JSON.stringify(records.slice(0, 3))}`,
  run: (store) => store.importTanks(records, context),
});

function importFew({ random, now }: StepContext): Step {
  const context = { by: random.pick(CALLERS), at: now };
  const count = random.whole(1, 3);
  if (random.chance(0.3))
    return importCustomers(
      times(count, () => fewCustomer(random)),
      context,
    );
  if (random.chance(0.5))
    return importTanks(
      times(count, () => fewTank(random)),
      context,
    );
  const devices = times(count, () => fewDevice(random, now));
  return { description: `import ${JSON.stringify(devices)}`, run: (store) => store.importDevices(devices, context) };
}

function fewCustomer(random: Random): CustomerRecord {
  if (random.chance(0.2)) return { remove: random.pick([...CUSTOMERS, "nobody"]) };
  return { customer: customer(random.pick(CUSTOMERS), { name: random.pick(NAMES) }), deleted: random.chance(0.1) };
}

function fewTank(random: Random): TankRecord {
  if (random.chance(0.2)) return { remove: random.pick([...TANKS, "nobody"]) };
  const fields = { assigned_device_id: random.pick(DEVICES), min_fill_alert_percentage: random.whole(0, 100) };
  const upright = { kind: "upright", unit: "m", height: 2, sensor_height: 2.2 } as const;
  const shape = random.pick([{}, {}, { shape: null }, { shape: upright }]);
  const alerts = random.pick([
    {},
    {},
    { alerts: DEFAULT_TANK_ALERT_SETTINGS },
    { alerts: { silent_after: 3_600_000, paused_until: 5, runs_low_soon: true, leak: false } },
  ]);
  return { tank: tank(random.pick(TANKS), random.pick(CUSTOMERS), fields), deleted: random.chance(0.1), ...shape, ...alerts };
}

function fewDevice(random: Random, now: number): DeviceRecord {
  const id = deviceKey(random.pick(DEVICES));
  const until = now - random.whole(0, 20) * 60_000;
  const maybe = <T>(chance: number, value: T): T | undefined => (random.chance(chance) ? value : undefined);
  return {
    id,
    tank_id: maybe(0.4, random.pick([null, ...TANKS])),
    since: maybe(0.6, random.pick([EARLIEST, until])),
    profile: maybe(0.6, random.pick([null, "milesight-em500-udl"])),
    dropped: maybe(0.5, random.whole(0, 50)),
    assignments: maybe(0.6, random.pick([[], [{ device: id, until, tankId: random.pick(TANKS) }]])),
  };
}

// Many entries often share an instant, an e-mail address or an owner.
const INSTANTS = [NEW_YEAR, NEW_YEAR, NEW_YEAR + 1, NEW_YEAR - 1, 0, FIRST];
const instant = (random: Random): number => (random.chance(0.7) ? random.pick(INSTANTS) : random.whole(-1e12, NEW_YEAR));
const email = (random: Random): string => (random.chance(0.6) ? (EMAILS[0] as string) : random.pick(EMAILS));
const owner = (random: Random): string => (random.chance(0.6) ? (CUSTOMERS[0] as string) : random.pick(CUSTOMERS));

const newCustomer = (random: Random) => (id: string) => ({
  customer: customer(id, { email: email(random), created_at: instant(random) }),
  deleted: false,
});
const newTank = (random: Random) => (id: string) => ({
  tank: tank(id, owner(random), { created_at: instant(random) }),
  deleted: false,
});

function newObjects<R>(random: Random, prefix: string, count: number, make: (id: string) => R): R[] {
  return times(count, () => make(`${random.pick(["", "A", "é", "😀"])}${prefix}${random.whole(0, 1e9)}`));
}

function importMany({ random, model, now, size }: StepContext): Step {
  const context = { by: random.pick(CALLERS), at: now };
  if (random.chance(0.5)) {
    const lists = { live: model.customers(), deleted: model.deletedCustomers(), most: size.customers * 1.5, bulk: size.bulk };
    const move = (one: Customer): Customer => ({ ...one, email: email(random) });
    const changed = changeMany(random, lists, move, (count) => newObjects(random, "c", count, newCustomer(random)));
    return importCustomers(
      changed.map((one) => ("object" in one ? { customer: one.object, deleted: one.deleted } : one)),
      context,
    );
  }
  const lists = { live: model.tanks(), deleted: model.deletedTanks(), most: size.tanks * 1.5, bulk: size.bulk };
  const move = (one: Tank): Tank => ({ ...one, owner_id: random.chance(0.05) ? "nobody" : owner(random) });
  const changed = changeMany(random, lists, move, (count) => newObjects(random, "t", count, newTank(random)));
  return importTanks(
    changed.map((one) => ("object" in one ? { tank: one.object, deleted: one.deleted } : one)),
    context,
  );
}

type Lists<T> = { readonly live: readonly T[]; readonly deleted: readonly T[]; readonly most: number; readonly bulk: number };
type Removal = { readonly remove: string };

/** Objects are created, deleted, restored, moved to another list, given another date, or sent again. Above `most`, more go than come. */
function changeMany<T extends Customer | Tank, R>(
  random: Random,
  { live, deleted, most, bulk }: Lists<T>,
  move: (one: T) => T,
  create: (count: number) => R[],
): (R | Removal | { readonly object: T; readonly deleted: boolean })[] {
  const isFull = live.length > most + bulk;
  const change = isFull ? "remove" : random.pick(["create", "create", "remove", "restore", "move", "redate", "repeat"]);
  const count = isFull
    ? random.whole(live.length >> 1, live.length)
    : random.pick([1, 1, random.whole(2, 5), random.whole(1, bulk)]);
  if (change === "create") return create(count);
  const chosen = someOf(random, change === "restore" ? deleted : live, count);
  if (change === "remove") return [...chosen.map(({ id }) => ({ remove: id })), { remove: "nobody" }];
  return chosen.map((one) => {
    if (change === "move") return { object: move(one), deleted: false };
    if (change !== "redate") return { object: one, deleted: random.chance(0.02) };
    const created_at = instant(random);
    return { object: { ...one, created_at, updated_at: Math.max(one.updated_at, created_at) }, deleted: false };
  });
}

/** Neighbours, or any. */
function someOf<T>(random: Random, list: readonly T[], count: number): readonly T[] {
  if (random.chance(0.3)) return shuffled(random, list).slice(0, count);
  const from = random.whole(0, Math.max(0, list.length - count));
  return list.slice(from, from + count);
}
