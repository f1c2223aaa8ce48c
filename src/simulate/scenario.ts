// What happens in a simulation: devices report one after the other; some go offline, buffer their readings and send them
// later, in order or shuffled; some messages are sent twice, immediately or later. The seed alone decides what happens and in
// which order; instants, and fills with them, come from the clock.

import type { Instant } from "../domain/instant.ts";
import type { Fleet, SimulatedDevice } from "./fleet.ts";
import { fillOf, type MeasuredReading, type Message, messagesOf, valueAt } from "./messages.ts";
import { type Random, type Seed, seeded } from "./random.ts";

/** Probability per report of a device; the length is counted in its reports. */
const OFFLINE = { probability: 0.02, min: 3, max: 12 };
/** Probabilities per message; the delay is counted in reports of all devices. */
const DUPLICATES = { immediate: 0.02, delayed: 0.01, minDelay: 20, maxDelay: 400 };
const IN_ORDER_PROBABILITY = 0.5;

/** Readings are numbered from 0 in the order they are measured. `device` is a number too. */
export type ScenarioObserver = {
  readonly measured: (number: number, device: number, at: Instant, fill: number) => void;
};

type OfflinePeriod = { remaining: number; readonly backlog: MeasuredReading[] };

export class Scenario {
  readonly #fleet: Fleet;
  readonly #random: Random;
  readonly #observer: ScenarioObserver;
  /** The instant of each device's last reading: a tank has at most one reading per instant. */
  readonly #lastAt: Float64Array;
  readonly #offline = new Map<number, OfflinePeriod>();
  /** Duplicates to send, by the report they are sent with. */
  readonly #duplicates = new Map<number, Message[]>();
  #reports = 0;
  #measured = 0;

  constructor(fleet: Fleet, seed: Seed, observer: ScenarioObserver) {
    this.#fleet = fleet;
    this.#random = seeded(`${seed}/course`);
    this.#observer = observer;
    this.#lastAt = new Float64Array(fleet.size);
  }

  /** Lets the next device report. Returns all messages that are sent then. */
  next(now: Instant): readonly Message[] {
    const number = this.#reports % this.#fleet.size;
    const due = this.#duplicates.get(++this.#reports) ?? [];
    this.#duplicates.delete(this.#reports);
    const device = this.#fleet.device(number);
    const reading = this.#measure(device, number, now);
    return reading === undefined ? due : [...due, ...this.#report(device, number, reading)];
  }

  /** Ends all offline periods: the backlogs and the duplicates that are still to be sent. */
  rest(): readonly Message[] {
    const backlogs = [...this.#offline].flatMap(([number, { backlog }]) => this.#send(this.#fleet.device(number), backlog));
    const duplicates = [...this.#duplicates.values()].flat();
    this.#offline.clear();
    this.#duplicates.clear();
    return [...backlogs, ...duplicates];
  }

  #measure(device: SimulatedDevice, number: number, now: Instant): MeasuredReading | undefined {
    const at = Math.max(now, (this.#lastAt[number] ?? 0) + 1);
    const fill = this.#fleet.fillAt(number, at);
    if (fill === undefined) return undefined;
    this.#lastAt[number] = at;
    const reading = { number: this.#measured++, at, value: valueAt(device, fill) };
    this.#observer.measured(reading.number, number, at, fillOf(device, reading.value));
    return reading;
  }

  #report(device: SimulatedDevice, number: number, reading: MeasuredReading): Message[] {
    const offline = this.#offline.get(number);
    if (offline === undefined) {
      if (!this.#random.chance(OFFLINE.probability)) return this.#send(device, [reading]);
      this.#offline.set(number, { remaining: this.#random.whole(OFFLINE.min, OFFLINE.max), backlog: [reading] });
      return [];
    }
    offline.backlog.push(reading);
    if (--offline.remaining > 0) return [];
    this.#offline.delete(number);
    return this.#send(device, offline.backlog);
  }

  #send(device: SimulatedDevice, readings: readonly MeasuredReading[]): Message[] {
    const inOrder = readings.length === 1 || this.#random.chance(IN_ORDER_PROBABILITY);
    const messages = messagesOf(device, inOrder ? readings : shuffled(readings, this.#random));
    return messages.flatMap((message) => {
      if (this.#random.chance(DUPLICATES.immediate)) return [message, message];
      if (this.#random.chance(DUPLICATES.delayed)) this.#duplicateLater(message);
      return [message];
    });
  }

  #duplicateLater(message: Message): void {
    const report = this.#reports + this.#random.whole(DUPLICATES.minDelay, DUPLICATES.maxDelay);
    this.#duplicates.set(report, [...(this.#duplicates.get(report) ?? []), message]);
  }
}

/** Fisher-Yates. */
function shuffled<T>(list: readonly T[], random: Random): T[] {
  const result = [...list];
  for (let i = result.length - 1; i > 0; i--) {
    const j = random.whole(0, i);
    [result[i], result[j]] = [result[j] as T, result[i] as T];
  }
  return result;
}
