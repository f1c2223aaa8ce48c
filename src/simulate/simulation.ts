// A simulation: devices take their turns at an even pace, and what they send is delivered until it is safe.

import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "../domain/instant.ts";
import { Course } from "./course.ts";
import { deliverAll, type Told, type Way } from "./delivery.ts";
import type { Fleet } from "./device.ts";
import { SECOND } from "./durations.ts";
import { Outbox } from "./outbox.ts";
import type { Seed } from "./random.ts";

/** Messages that wait to be sent, at most. */
const OUTBOX = 5000;
const LONGEST_PAUSE_MS = 50;

export type Simulation = {
  readonly fleet: Fleet;
  readonly seed: Seed;
  readonly way: Way;
  /** Readings a second, of all devices together. */
  readonly rate: number;
  readonly clock: Clock;
  readonly told: Told;
  /** Ends it: what devices keep back is sent, and all that is under way is delivered. */
  readonly end: AbortSignal;
  /** Ends it at once: what is not delivered by then is given up. */
  readonly hurry: AbortSignal;
};

/** Resolves when everything is delivered or given up; rejects with what trying again does not mend. */
export async function simulate({ fleet, seed, way, rate, clock, told, end, hurry }: Simulation): Promise<void> {
  const course = new Course(fleet, seed, told);
  const outbox = new Outbox(OUTBOX);
  const failed = new AbortController();
  const stop = AbortSignal.any([hurry, failed.signal]);
  const delivering = deliverAll(outbox, way, told, (error) => failed.abort(error), stop);
  await takeTurns(course, outbox, rate, clock, AbortSignal.any([end, stop]));
  for (const message of course.rest()) outbox.put(message);
  outbox.close();
  await delivering;
  if (failed.signal.aborted) throw failed.signal.reason;
}

/** Turns that fall into a time when nothing more could be sent are left out. */
async function takeTurns(course: Course, outbox: Outbox, rate: number, clock: Clock, end: AbortSignal): Promise<void> {
  const beat = Math.min(SECOND / rate, LONGEST_PAUSE_MS);
  let before = performance.now();
  let due = 1;
  while (!end.aborted) {
    for (; due >= 1 && !outbox.isFull && !end.aborted; due--) for (const message of course.next(clock())) outbox.put(message);
    await pause(beat, undefined, { signal: end }).catch(() => {});
    const now = performance.now();
    due = Math.min(rate + 1, due + ((now - before) / SECOND) * rate);
    before = now;
  }
}
