// The present of the demo fleet: tanks report in turn, a few each second, so that a watcher sees the fleet move.

import type { Instant } from "../domain/instant.ts";
import type { Reading, ReadingBatch } from "../domain/reading.ts";
import type { Tank } from "../domain/tank.ts";
import { SECOND } from "./durations.ts";
import { TankLife } from "./life.ts";
import type { Seed } from "./random.ts";

/** In this time every tank has its turn once. */
const ROUND = 100 * SECOND;

export type KnownTank = { readonly tank: Tank; readonly last: Reading };
type Member = { readonly id: string; readonly life: TankLife };

export class LivingFleet {
  readonly #members: readonly Member[];
  #turn = 0;
  #turnsDue = 0;
  #askedAt: Instant | undefined;

  constructor(known: Iterable<KnownTank>, seed: Seed) {
    this.#members = Array.from(known, ({ tank, last }) => {
      const start = { at: last.created_at, fill: last.fill_percentage };
      return { id: tank.id, life: new TankLife(tank, seed, start) };
    });
  }

  /** The readings of those whose turn has come since the last call, all at `now`; `undefined` where there is none. */
  nextReadings(now: Instant): ReadingBatch | undefined {
    const tankIds: string[] = [];
    const fills: number[] = [];
    for (const { id, life } of this.#membersDue(now)) {
      const reading = life.readingAt(now);
      if (reading === undefined) continue;
      tankIds.push(id);
      fills.push(reading.fill_percentage);
    }
    if (fills.length === 0) return undefined;
    return {
      tankIds,
      tank: Uint32Array.from(fills, (_, i) => i),
      createdAt: new Float64Array(fills.length).fill(now),
      fill: Float64Array.from(fills),
    };
  }

  /** However late the call comes, nobody is due twice. */
  #membersDue(now: Instant): Member[] {
    const elapsed = Math.max(0, now - (this.#askedAt ?? now - SECOND));
    this.#askedAt = now;
    this.#turnsDue = Math.min(this.#members.length, this.#turnsDue + (elapsed / ROUND) * this.#members.length);
    const due: Member[] = [];
    for (; this.#turnsDue >= 1; this.#turnsDue--) {
      const member = this.#members[this.#turn];
      this.#turn = (this.#turn + 1) % this.#members.length;
      if (member !== undefined) due.push(member);
    }
    return due;
  }
}
