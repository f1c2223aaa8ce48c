// Simulated histories of tanks, of which the truth is known: level, deliveries and leaks, and beside them what a sensor reports,
// with noise, gaps and false readings. The same seed gives the same history.

import type { Instant } from "../../../src/domain/instant.ts";
import { type Random, type Seed, seeded } from "../../../src/simulate/random.ts";
import { hourlyUse, type Use } from "./tank-use.ts";
import { temperatureAt, type Weather, weatherOf } from "./weather.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export type Delivery = { readonly startedAt: Instant; readonly endedAt: Instant; readonly from: number; readonly to: number };
type SimulatedLeak = { readonly from: Instant; readonly perDay: number };

export type TankHistory = {
  readonly use: Use;
  readonly latitude: number;
  readonly isLpg: boolean;
  /** Time between readings. */
  readonly interval: number;
  readonly readings: readonly { readonly at: Instant; readonly fill: number }[];
  /** Instants of readings that are false: not those of the level, or those of a sensor that is stuck. */
  readonly falseAt: ReadonlySet<Instant>;
  readonly stuckAt: ReadonlySet<Instant>;
  readonly deliveries: readonly Delivery[];
  readonly leak: SimulatedLeak | undefined;
  readonly levelAt: (at: Instant) => number;
};

export type HistoryOptions = {
  readonly seed: Seed;
  readonly use: Use;
  readonly latitude: number;
  readonly start: Instant;
  readonly days: number;
  readonly interval: number;
  readonly isLpg?: boolean;
  readonly leak?: SimulatedLeak;
  /** Tanks of one town share their weather. */
  readonly town?: Seed;
};

export function tankHistory(options: HistoryOptions): TankHistory {
  const { seed, use, latitude, start, days, interval, isLpg = false, leak } = options;
  const weather = weatherOf(latitude, options.town ?? seed, start, days);
  const weekday = (Math.floor(start / DAY) + 3) % 7;
  const usePerHour = hourlyUse(use, weather, weekday, seeded(`${seed}/use`));
  if (leak !== undefined) {
    for (let hour = Math.ceil((leak.from - start) / HOUR); hour < usePerHour.length; hour++) {
      usePerHour[hour] = (usePerHour[hour] ?? 0) + leak.perDay / 24;
    }
  }
  const { levels, deliveries } = deliver(usePerHour, use, start, seeded(`${seed}/deliveries`));
  const levelAt = (at: Instant): number => levelOf(levels, deliveries, start, at);
  const sensor = readSensor({ ...options, isLpg }, weather, levelAt, seeded(`${seed}/sensor`));
  return { use, latitude, isLpg, interval, deliveries, leak, levelAt, ...sensor };
}

/** Levels at full hours, with what was delivered before, and the deliveries. */
function deliver(
  usePerHour: Float64Array,
  use: Use,
  start: Instant,
  random: Random,
): { levels: Float64Array; deliveries: Delivery[] } {
  const isBusy = use === "site";
  const orderAt = isBusy ? random.between(40, 55) : random.between(15, 40);
  const fullAt = random.between(80, 97);
  const daysToDeliver = isBusy ? 1 : 6;
  const levels = new Float64Array(usePerHour.length + 1);
  const deliveries: Delivery[] = [];
  let level = random.between(orderAt, fullAt);
  let dueHour = Number.POSITIVE_INFINITY;
  for (let hour = 0; hour < usePerHour.length; hour++) {
    levels[hour] = level;
    if (hour % 24 === 0 && dueHour === Number.POSITIVE_INFINITY && level < orderAt) {
      dueHour = hour + 24 * random.whole(0, daysToDeliver) + random.whole(6, 17);
    }
    if (hour >= dueHour && level < fullAt - 5) {
      // One delivery in five is less than a full one.
      const to = random.chance(0.2) ? Math.min(fullAt, level + random.between(10, 35)) : fullAt - random.between(0, 5);
      const startedAt = start + hour * HOUR + random.whole(1, 50) * MINUTE;
      // Two trucks take hours instead of minutes.
      const minutes = random.chance(0.08) ? random.whole(180, 480) : random.whole(10, 50);
      deliveries.push({ startedAt, endedAt: startedAt + minutes * MINUTE, from: level, to });
      level = to;
      dueHour = Number.POSITIVE_INFINITY;
    }
    level = Math.max(0, level - (usePerHour[hour] ?? 0));
  }
  levels[usePerHour.length] = level;
  return { levels, deliveries };
}

/** The deliveries as correct readings show them: from the last before to the first after, where the level rose by `least` between. */
export function visibleDeliveries({ readings, falseAt, stuckAt, deliveries, levelAt }: TankHistory, least: number): Delivery[] {
  const correct = readings.filter(({ at }) => !falseAt.has(at) && !stuckAt.has(at));
  const visible: Delivery[] = [];
  let next = 0;
  for (const delivery of deliveries) {
    while ((correct[next]?.at ?? Number.POSITIVE_INFINITY) < delivery.startedAt) next++;
    const before = correct[next - 1];
    let end = next;
    while ((correct[end]?.at ?? Number.POSITIVE_INFINITY) < delivery.endedAt) end++;
    const after = correct[end];
    if (before === undefined || after === undefined || visible.at(-1)?.endedAt === after.at) continue;
    const [from, to] = [levelAt(before.at), levelAt(after.at)];
    if (to - from >= least) visible.push({ startedAt: before.at, endedAt: after.at, from, to });
  }
  return visible;
}

function levelOf(levels: Float64Array, deliveries: readonly Delivery[], start: Instant, at: Instant): number {
  const hour = Math.min(levels.length - 2, Math.max(0, Math.floor((at - start) / HOUR)));
  const share = (at - start) / HOUR - hour;
  const [before, after] = [levels[hour] ?? 0, levels[hour + 1] ?? 0];
  // `levels` counts a delivery from the full hour after its start: while it lasts, only a part has arrived.
  const delivery = deliveries[firstEndingAfter(deliveries, start + hour * HOUR)];
  if (delivery === undefined || delivery.startedAt >= start + (hour + 1) * HOUR) return before + share * (after - before);
  const delivered = delivery.to - delivery.from;
  const used = before - (after - (delivery.startedAt >= start + hour * HOUR ? delivered : 0));
  const arrived = Math.min(1, Math.max(0, (at - delivery.startedAt) / (delivery.endedAt - delivery.startedAt)));
  const base = delivery.startedAt >= start + hour * HOUR ? before : before - delivered;
  return base - share * used + arrived * delivered;
}

function firstEndingAfter(deliveries: readonly Delivery[], at: Instant): number {
  let [low, high] = [0, deliveries.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((deliveries[middle]?.endedAt ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

type Sensed = Pick<TankHistory, "readings" | "falseAt" | "stuckAt">;

function readSensor(options: HistoryOptions, weather: Weather, levelAt: (at: Instant) => number, random: Random): Sensed {
  const { start, days, interval, isLpg } = options;
  const noise = random.pick([0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8]);
  const step = random.pick([0.01, 0.1, 0.1, 0.5, 1]);
  const lostShare = random.pick([0, 0.01, 0.05, 0.15]);
  const faults = faultsOf(options, random);
  const readings: { at: Instant; fill: number }[] = [];
  const [falseAt, stuckAt] = [new Set<Instant>(), new Set<Instant>()];
  const end = start + days * DAY;
  let fault = 0;
  let stuck: number | undefined;
  for (let due = start + Math.floor(random.next() * Math.min(interval, DAY)); due < end; due += interval) {
    const at = due + Math.floor(random.next() * 0.05 * interval);
    if (at >= end) break;
    while ((faults[fault]?.until ?? end) <= at) fault++;
    const current = faults[fault];
    const kind = current !== undefined && current.from <= at ? current.kind : undefined;
    if (kind !== "stuck") stuck = undefined;
    if (kind === "silent" || random.chance(lostShare)) continue;
    const swing = isLpg ? 1 + 0.0025 * (temperatureAt(weather, (at - start) / HOUR - 1) - 15) : 1;
    const sensed = random.normal(levelAt(at) * swing, noise);
    let fill = Math.min(100, Math.max(0, Math.round(sensed / step) * step));
    if (kind === "stuck") {
      stuckAt.add(at);
      stuck ??= fill;
      fill = stuck;
    }
    if (kind === "zero") fill = random.between(0, 2);
    if (kind === "high") fill = current?.value ?? 100;
    if (kind === "zero" || kind === "high") falseAt.add(at);
    readings.push({ at, fill: Number(fill.toFixed(2)) });
  }
  return { readings, falseAt, stuckAt };
}

type Fault = {
  readonly kind: "silent" | "stuck" | "zero" | "high";
  readonly from: Instant;
  readonly until: Instant;
  readonly value: number;
};

/** Returns faults in order of time, without overlaps. */
function faultsOf({ start, days, interval }: HistoryOptions, random: Random): Fault[] {
  const faults: Fault[] = [];
  const meanDays = random.pick([15, 40, 120]);
  for (let at = start; ; ) {
    at -= Math.floor(Math.log(1 - random.next()) * meanDays * DAY);
    if (at >= start + days * DAY) return faults;
    const kind = random.pick(["silent", "silent", "silent", "silent", "stuck", "zero", "zero", "high"] as const);
    // Silence from two hours to ten days, short ones more often; false readings are one, or some within two days.
    const silence = 2 * HOUR * 120 ** random.next();
    const some = random.chance(0.7) ? interval * 0.9 : Math.max(interval * 0.9, random.next() * 2 * DAY);
    const length = kind === "silent" ? silence : kind === "stuck" ? random.between(0.5, 5) * DAY : some;
    faults.push({ kind, from: at, until: at + length, value: random.between(90, 100) });
    at += length + Math.max(2 * DAY, 3 * interval);
  }
}
