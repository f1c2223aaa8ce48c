import assert from "node:assert/strict";
import test from "node:test";
import { seededFleet } from "../../src/simulate/fleet.ts";
import type { Message } from "../../src/simulate/messages.ts";
import { seeded } from "../../src/simulate/random.ts";
import { Scenario } from "../../src/simulate/scenario.ts";
import { MAKERS } from "../../src/simulate/sensors.ts";

const START = Date.parse("2026-11-14T09:30:00.000Z");
const HOUR = 3_600_000;
type Measured = { readonly device: number; readonly at: number; readonly fill: number };

/** One report every `step` milliseconds, then the rest. */
function play(seed: string, { reports = 5000, tanks = 30, step = 100 } = {}) {
  const measured: Measured[] = [];
  const scenario = new Scenario(seededFleet(seed, tanks, MAKERS), seed, {
    measured(number, device, at, fill) {
      assert.equal(number, measured.length);
      measured.push({ device, at, fill });
    },
  });
  const messages: Message[] = [];
  for (let i = 0; i < reports; i++) messages.push(...scenario.next(START + i * step));
  return { measured, messages: [...messages, ...scenario.rest()] };
}

const { measured, messages } = play("a");

test("the same seed and clock give identical messages; another seed gives others", () => {
  assert.deepEqual(play("a").messages, messages);
  assert.notDeepEqual(play("b").messages, messages);
});

test("another clock changes instants and fills, but not what happens", () => {
  const numbers = (step: number) => play("a", { step }).messages.map((message) => message.numbers);
  assert.deepEqual(numbers(7), numbers(3000));
});

test("every reading is sent", () => {
  assert.equal(measured.length, 5000);
  assert.equal(new Set(messages.flatMap(({ numbers }) => numbers)).size, 5000);
});

test("some messages are sent twice, immediately or later, and are identical", () => {
  const copies = Map.groupBy(messages, (message) => JSON.stringify(message));
  const repeated = [...copies.values()].filter(({ length }) => length > 1);
  assert.ok(repeated.length > messages.length * 0.015 && repeated.length < messages.length * 0.06, `${repeated.length}`);
  const delays = repeated.map(([first, second]) => messages.lastIndexOf(second as Message) - messages.indexOf(first as Message));
  assert.ok(delays.some((delay) => delay === 1) && delays.some((delay) => delay > 20));
  const distinct = [...copies.values()].flatMap(([message]) => message?.numbers ?? []);
  assert.equal(new Set(distinct).size, distinct.length, "a reading is in one distinct message only");
});

test("some devices go offline and send their backlog later, in order or shuffled", () => {
  const backlogs = messages.filter(({ format, numbers }) => format === "json" && numbers.length > 1);
  assert.ok(backlogs.length > 10, `${backlogs.length} backlogs`);
  const inOrder = backlogs.filter(({ numbers }) => numbers.every((number, i) => i === 0 || number > (numbers[i - 1] ?? 0)));
  assert.ok(inOrder.length > 0 && inOrder.length < backlogs.length, `${inOrder.length} of ${backlogs.length} in order`);
  for (const { numbers } of backlogs) assert.ok(numbers.length >= 3 && numbers.length <= 13, `${numbers.length} readings`);
  const late = messages
    .map(({ numbers }) => Math.min(...numbers))
    .filter((number, i, all) => number < Math.max(...all.slice(Math.max(0, i - 50), i)));
  assert.ok(late.length > 50, `${late.length} messages are older than some before them`);
});

test("a device has one reading per instant, even while the clock stands still", () => {
  const { measured } = play("a", { tanks: 3, step: 0 });
  for (const [device, own] of Map.groupBy(measured, (reading) => reading.device)) {
    const isRising = own.every(({ at }, i) => i === 0 || at > (own[i - 1]?.at ?? 0));
    assert.ok(isRising, `device ${device}`);
  }
});

test("fills sink for hours, are refilled, and continue in the next simulation", () => {
  const { measured } = play("a", { tanks: 5, reports: 5 * 2000, step: 12_000 });
  for (const [device, own] of Map.groupBy(measured, (reading) => reading.device)) {
    const fills = own.map(({ fill }) => fill);
    const [min, max] = [Math.min(...fills), Math.max(...fills)];
    assert.ok(min > 5 && min < 30 && max > 75 && max < 95, `device ${device}: ${min} to ${max}`);
    const rises = fills.filter((fill, i) => i > 0 && fill > (fills[i - 1] ?? 0) + 1).length;
    assert.ok(rises > 0 && rises < fills.length / 10, `device ${device} rose ${rises} times`);
  }
  const later = START + 3 * HOUR;
  const [used, fresh] = [seededFleet("a", 5, MAKERS), seededFleet("a", 5, MAKERS)];
  used.fillAt(0, later - HOUR);
  assert.ok(Math.abs((used.fillAt(0, later) ?? 0) - (fresh.fillAt(0, later) ?? 100)) < 1);
});

test("a fleet has devices of all makers with unique ids, also across seeds", () => {
  const devices = ["a", "b"].flatMap((seed) => {
    const fleet = seededFleet(seed, 5000, MAKERS);
    return Array.from({ length: 5000 }, (_, i) => fleet.device(i));
  });
  assert.deepEqual(new Set(devices.map(({ maker }) => maker)), new Set(MAKERS));
  assert.equal(new Set(devices.map(({ id }) => id)).size, 10_000);
  assert.equal(new Set(devices.map(({ tankId }) => tankId)).size, 10_000);
});

test("random numbers are evenly or normally distributed, stay within their bounds, and reach both", () => {
  const random = seeded("numbers");
  const draws = times(20_000, () => random.between(-1, 3));
  assert.ok(draws.every((value) => value >= -1 && value < 3) && Math.abs(mean(draws) - 1) < 0.05);
  assert.deepEqual(new Set(times(1000, () => random.whole(1, 6))), new Set([1, 2, 3, 4, 5, 6]));
  const hits = times(20_000, () => (random.chance(0.3) ? 1 : 0));
  assert.ok(Math.abs(mean(hits) - 0.3) < 0.02);
  const normal = times(20_000, () => random.normal(10, 2));
  assert.ok(Math.abs(mean(normal) - 10) < 0.1);
  assert.ok(Math.abs(Math.sqrt(mean(normal.map((value) => (value - 10) ** 2))) - 2) < 0.1);
});

const times = <T>(count: number, draw: () => T): T[] => Array.from({ length: count }, draw);
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
