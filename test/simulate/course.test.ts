import assert from "node:assert/strict";
import test from "node:test";
import { Course } from "../../src/simulate/course.ts";
import { seededFleet } from "../../src/simulate/fleet.ts";
import { MAKERS } from "../../src/simulate/makers.ts";
import type { Message } from "../../src/simulate/message.ts";

const START = Date.parse("2026-11-14T09:30:00.000Z");
const HOUR = 3_600_000;
type Note = { readonly device: number; readonly at: number; readonly fill: number };

/** So many turns, one every `step` milliseconds, then all that is kept back. */
function story(seed: string, { turns = 5000, tanks = 30, step = 100 } = {}) {
  const notes: Note[] = [];
  const course = new Course(seededFleet(seed, tanks, MAKERS), seed, {
    measured(number, device, at, fill) {
      assert.equal(number, notes.length);
      notes.push({ device, at, fill });
    },
  });
  const live: Message[] = [];
  for (let i = 0; i < turns; i++) live.push(...course.next(START + i * step));
  const rest = course.rest();
  return { notes, live, rest, messages: [...live, ...rest] };
}

test("the same seed and clock make the same messages, to the letter; another seed others", () => {
  const one = story("a");
  assert.deepEqual(story("a"), one);
  assert.notDeepEqual(story("b").messages, one.messages);
});

test("another clock changes instants and levels, and nothing of what happens", () => {
  const numbers = (step: number) => story("a", { step }).messages.map((message) => message.numbers);
  assert.deepEqual(numbers(7), numbers(3000));
});

test("every reading goes out, whatever happens to its device", () => {
  const { notes, messages } = story("a");
  assert.equal(notes.length, 5000);
  assert.equal(new Set(messages.flatMap(({ numbers }) => numbers)).size, 5000);
});

test("some messages come twice, at once or later, and are the same to the letter", () => {
  const { messages } = story("a");
  const copies = Map.groupBy(messages, (message) => JSON.stringify(message));
  const repeated = [...copies.values()].filter(({ length }) => length > 1);
  assert.ok(repeated.length > messages.length * 0.015 && repeated.length < messages.length * 0.06, `${repeated.length}`);
  const gaps = repeated.map(([first, second]) => messages.lastIndexOf(second as Message) - messages.indexOf(first as Message));
  assert.ok(gaps.some((gap) => gap === 1) && gaps.some((gap) => gap > 20));
  // Nothing is sent for another reading: a number is in one message alone.
  const senders = Map.groupBy(
    [...copies.keys()].map((text) => JSON.parse(text) as Message).flatMap((m) => m.numbers),
    (n) => n,
  );
  for (const [number, { length }] of senders) assert.equal(length, 1, `reading ${number} is in ${length} messages`);
});

test("some devices are cut off and send what they kept later, in order or shuffled", () => {
  const { messages } = story("a");
  const lists = messages.filter(({ by, numbers }) => by === "own" && numbers.length > 1).map(({ numbers }) => numbers);
  assert.ok(lists.length > 10, `${lists.length} backlogs in one message`);
  const isRising = (list: readonly number[]) => list.every((number, i) => i === 0 || number > (list[i - 1] ?? 0));
  const rising = lists.filter(isRising).length;
  assert.ok(rising > 0 && rising < lists.length, `${rising} of ${lists.length} in order`);
  for (const { length } of lists) assert.ok(length >= 3 && length <= 13, `${length} readings`);
  const late = messages
    .map(({ numbers }) => Math.min(...numbers))
    .filter((number, i, all) => number < Math.max(...all.slice(Math.max(0, i - 50), i)));
  assert.ok(late.length > 50, `${late.length} messages are older than some before them`);
});

test("what is kept back at the end is sent then", () => {
  const { live, rest, notes } = story("a", { tanks: 300, turns: 3000 });
  assert.ok(rest.length > 10);
  const sent = new Set(live.flatMap(({ numbers }) => numbers));
  const missing = notes.flatMap((_, number) => (sent.has(number) ? [] : [number]));
  assert.ok(missing.length > 0);
  const restOf = new Set(rest.flatMap(({ numbers }) => numbers));
  assert.deepEqual(
    missing.filter((number) => !restOf.has(number)),
    [],
  );
});

test("a device has one reading for an instant, even when its clock stands still", () => {
  const { notes } = story("a", { tanks: 3, step: 0 });
  for (const [device, own] of Map.groupBy(notes, (note) => note.device)) {
    assert.ok(
      own.every(({ at }, i) => i === 0 || at > (own[i - 1]?.at ?? 0)),
      `device ${device}`,
    );
  }
});

test("levels sink for hours, are filled up, and go on where the last simulation ended", () => {
  const { notes } = story("a", { tanks: 5, turns: 5 * 2000, step: 12_000 });
  for (const [device, own] of Map.groupBy(notes, (note) => note.device)) {
    const fills = own.map(({ fill }) => fill);
    assert.ok(
      Math.min(...fills) > 5 && Math.min(...fills) < 30 && Math.max(...fills) > 75 && Math.max(...fills) < 95,
      `${device}`,
    );
    const risen = fills.filter((fill, i) => i > 0 && fill > (fills[i - 1] ?? 0) + 1).length;
    assert.ok(risen > 0 && risen < fills.length / 10, `device ${device} rose ${risen} times`);
  }
  const later = Date.parse("2026-11-14T12:00:00Z");
  const fillOf = (fleet: ReturnType<typeof seededFleet>) => fleet.fillAt(0, later) ?? 0;
  const [one, other] = [seededFleet("a", 5, MAKERS), seededFleet("a", 5, MAKERS)];
  one.fillAt(0, later - HOUR);
  assert.ok(Math.abs(fillOf(one) - fillOf(other)) < 1);
});

test("a fleet has devices of all makers, each with a name of its own; seeds share none", () => {
  const names = (seed: string) => Array.from({ length: 5000 }, (_, i) => seededFleet(seed, 5000, MAKERS).device(i));
  const [one, two] = [names("a"), names("b")];
  assert.deepEqual(new Set(one.map(({ maker }) => maker)), new Set(MAKERS));
  assert.equal(new Set([...one, ...two].map(({ id }) => id)).size, 10_000);
  assert.equal(new Set([...one, ...two].map(({ tankId }) => tankId)).size, 10_000);
});

test("a hundred thousand devices take a few megabytes", (t) => {
  const fleet = seededFleet("many", 100_000, MAKERS);
  const course = new Course(fleet, "many", { measured: () => {} });
  const before = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed;
  for (let i = 0; i < 120_000; i++) course.next(START + i);
  const grown = (process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed - before) / 1e6;
  t.diagnostic(`${grown.toFixed(1)} MB more`);
  assert.ok(grown < 100, `${grown} MB`);
});
