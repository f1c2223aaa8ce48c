// What happens in a simulation, turn by turn: devices report one after the other; now and then one is cut off, keeps what it
// measures and sends it later, in order or not; and now and then a message comes twice, at once or after a while. Chance is
// the seed's alone, so that the same seed makes the same happen; only instants, and levels with them, come from the clock.

import type { Instant } from "../domain/instant.ts";
import type { Told } from "./delivery.ts";
import type { Device, Fleet } from "./device.ts";
import { fillOf, type Measured, type Message, messagesOf, valueAt } from "./message.ts";
import { type Random, type Seed, seeded } from "./random.ts";

/** By turn of a device, and then in its turns. */
const CUT_OFF = { chance: 0.02, shortest: 3, longest: 12 };
/** By message; `later` in turns of all. */
const REPEATED = { atOnce: 0.02, later: 0.01, soonest: 20, latest: 400 };
const IN_ORDER = 0.5;

type CutOff = { turnsLeft: number; readonly backlog: Measured[] };

export class Course {
  readonly #fleet: Fleet;
  readonly #random: Random;
  readonly #told: Pick<Told, "measured">;
  /** The instant of each device's last reading: a tank has one reading for an instant. */
  readonly #last: Float64Array;
  readonly #cutOff = new Map<number, CutOff>();
  readonly #repeats = new Map<number, Message[]>();
  #turn = 0;
  #measured = 0;

  constructor(fleet: Fleet, seed: Seed, told: Pick<Told, "measured">) {
    this.#fleet = fleet;
    this.#random = seeded(`${seed}/course`);
    this.#told = told;
    this.#last = new Float64Array(fleet.size);
  }

  /** The turn of the next device: all that is sent then. */
  next(now: Instant): readonly Message[] {
    const number = this.#turn % this.#fleet.size;
    const due = this.#repeats.get(++this.#turn) ?? [];
    this.#repeats.delete(this.#turn);
    const device = this.#fleet.device(number);
    const reading = this.#measure(device, number, now);
    return reading === undefined ? due : [...due, ...this.#report(device, number, reading)];
  }

  /** What was kept back: all devices are heard again, and nothing is repeated any more. */
  rest(): readonly Message[] {
    const backlogs = [...this.#cutOff].flatMap(([number, { backlog }]) => this.#send(this.#fleet.device(number), backlog));
    const repeats = [...this.#repeats.values()].flat();
    this.#cutOff.clear();
    this.#repeats.clear();
    return [...backlogs, ...repeats];
  }

  #measure(device: Device, number: number, now: Instant): Measured | undefined {
    const at = Math.max(now, (this.#last[number] ?? 0) + 1);
    const fill = this.#fleet.fillAt(number, at);
    if (fill === undefined) return undefined;
    this.#last[number] = at;
    const reading = { number: this.#measured++, at, value: valueAt(device, fill) };
    this.#told.measured(reading.number, number, at, fillOf(device, reading.value));
    return reading;
  }

  #report(device: Device, number: number, reading: Measured): Message[] {
    const away = this.#cutOff.get(number);
    if (away === undefined) {
      if (!this.#random.chance(CUT_OFF.chance)) return this.#send(device, [reading]);
      this.#cutOff.set(number, { turnsLeft: this.#random.whole(CUT_OFF.shortest, CUT_OFF.longest), backlog: [reading] });
      return [];
    }
    away.backlog.push(reading);
    if (--away.turnsLeft > 0) return [];
    this.#cutOff.delete(number);
    return this.#send(device, away.backlog);
  }

  #send(device: Device, readings: readonly Measured[]): Message[] {
    const inOrder = readings.length === 1 || this.#random.chance(IN_ORDER);
    const messages = messagesOf(device, inOrder ? readings : shuffled(readings, this.#random), this.#random);
    return messages.flatMap((message) => {
      if (this.#random.chance(REPEATED.atOnce)) return [message, message];
      if (this.#random.chance(REPEATED.later)) this.#repeatLater(message);
      return [message];
    });
  }

  #repeatLater(message: Message): void {
    const turn = this.#turn + this.#random.whole(REPEATED.soonest, REPEATED.latest);
    this.#repeats.set(turn, [...(this.#repeats.get(turn) ?? []), message]);
  }
}

/** Fisher and Yates' way. */
function shuffled<T>(list: readonly T[], random: Random): T[] {
  const mixed = [...list];
  for (let i = mixed.length - 1; i > 0; i--) {
    const j = random.whole(0, i);
    [mixed[i], mixed[j]] = [mixed[j] as T, mixed[i] as T];
  }
  return mixed;
}
