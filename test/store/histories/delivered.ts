// Readings by device, delivered by several processes at once: shuffled, repeated, before and while devices are moved.

import assert from "node:assert/strict";
import type { Store } from "../../../src/domain/store.ts";
import { type Random, seeded } from "../../../src/simulate/random.ts";
import { deliver, type Sent } from "../../support/arrivals.ts";
import type { Lifetime } from "../../support/service.ts";
import type { Engine } from "../conformance/engine.ts";
import { checked, customer, everything, putCustomers, putTanks, tank, waitingOf } from "../conformance/objects.ts";
import { MovingFleet, measuredBetween, sharesOf } from "./moving-fleet.ts";
import { Sender } from "./sender.ts";

type Size = { readonly rounds: number /** Readings of each device in a round. */; readonly each: number };

const ROUND = 6000;
const MOVES = 3;
const PROCESSES = 2;

/** Two processes of their own, and this one. */
class Senders {
  readonly #processes: readonly Sender[];
  readonly #store: Store;

  private constructor(processes: readonly Sender[], store: Store) {
    this.#processes = processes;
    this.#store = store;
  }

  static async start(life: Lifetime, url: string, store: Store): Promise<Senders> {
    return new Senders(await Promise.all(Array.from({ length: PROCESSES }, () => Sender.start(life, url))), store);
  }

  /** Resolves when all of it is acknowledged. */
  async deliver([own = [], ...shares]: readonly Sent[][][]): Promise<void> {
    const elsewhere = this.#processes.map(async (process, i) => {
      const share = shares[i] ?? [];
      process.handOver(share.map((sent) => ({ kind: "arrivals", sent })));
      const told = await process.acknowledged(share.length);
      if (told.length < share.length) throw new Error("a process that delivers has ended");
    });
    await Promise.all([...elsewhere, ...own.map((sent) => deliver(this.#store, ...sent))]);
  }

  async end(): Promise<void> {
    await Promise.all(this.#processes.map((process) => process.end()));
  }
}

export async function deliverWithMovesBefore(
  engine: Engine,
  life: Lifetime,
  seed: string,
  { rounds, each }: Size,
): Promise<void> {
  const random = seeded(seed);
  await telling(seed, async () => {
    const { store, reopen, url } = await engine.open(life);
    const fleet = new MovingFleet(random);
    await fleet.begin(store, 0);
    for (let round = 1; round < rounds; round++) {
      for (let i = 0; i < MOVES; i++) await fleet.move(store, round * ROUND);
    }
    const sent = measuredBetween(random, 0, rounds * ROUND, rounds * each);
    const senders = await Senders.start(life, url, await reopen());
    await senders.deliver(sharesOf(random, sent, PROCESSES + 1));
    await senders.end();
    await fleet.expect(store, sent);
  });
}

/** What is measured before a move may arrive while it is made, and after it; what is measured after it, after it. */
export async function deliverWhileMoving(engine: Engine, life: Lifetime, seed: string, { rounds, each }: Size): Promise<void> {
  const random = seeded(seed);
  await telling(seed, async () => {
    const { store, reopen, url } = await engine.open(life);
    const fleet = new MovingFleet(random);
    await fleet.begin(store, 0);
    const senders = await Senders.start(life, url, await reopen());
    const sent: Sent[] = [];
    for (let round = 1; round < rounds; round++) {
      sent.push(...measuredBetween(random, (round - 1) * ROUND, round * ROUND, each));
      const shares = sharesOf(random, sent, PROCESSES + 1);
      const moving = (async () => {
        for (let i = 0; i < MOVES; i++) await fleet.move(store, round * ROUND);
      })();
      await Promise.all([senders.deliver(shares), moving]);
    }
    await senders.end();
    await fleet.expect(store, sent);
  });
}

const SERVES = "serves";
const WAITS = "waits";

/** What was acknowledged is there after the process was killed: in its tank, or waiting; and no portion of it in part. */
export async function deliverAndBeKilled(engine: Engine, life: Lifetime, seed: string): Promise<void> {
  const random = seeded(seed);
  await telling(seed, async () => {
    const { store, reopen, url, settled } = await engine.open(life);
    await putCustomers(store, customer("a"));
    await putTanks(store, tank("served", "a", { assigned_device_id: SERVES }));
    await store.close();
    const portions = Array.from({ length: 60 }, (_, i) => portionOf(random, i));
    const sender = await Sender.start(life, url);
    sender.handOver(portions.map((sent) => ({ kind: "arrivals", sent })));
    const told = (await sender.acknowledged(random.whole(1, 30))).length + (await sender.kill()).length;
    await settled();
    const again = await reopen();
    const waited = (await waitingOf(again, WAITS))?.[0] ?? 0;
    await putTanks(again, tank("later", "a", { assigned_device_id: WAITS }));
    const there = new Set([...(await instantsOf(again, "served")), ...(await instantsOf(again, "later"))]);
    const kept = portions.filter((sent) => sent.some((one) => there.has(one.at)));
    assert.deepEqual(kept, portions.slice(0, kept.length), "the first portions are there");
    assert.ok(kept.length >= told, `${told} were acknowledged, ${kept.length} are there`);
    assert.equal(there.size, kept.flat().length, "each of them whole");
    assert.equal(waited, kept.flat().filter((one) => "device" in one && one.device === WAITS).length);
    assert.deepEqual((await checked(again)).findings, []);
  });
}

function portionOf(random: Random, number: number): Sent[] {
  return Array.from({ length: random.whole(1, 12) }, (_, i) => {
    return { device: random.pick([SERVES, WAITS]), at: number * 100 + i, fill: number };
  });
}

async function instantsOf(store: Store, tankId: string): Promise<number[]> {
  const found = (await everything(store)).flatMap((one) =>
    one.kind === "readings" && one.tankId === tankId ? one.readings : [],
  );
  return found.map(({ created_at }) => created_at);
}

async function telling(seed: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    throw new Error(`seed ${seed}: ${(cause as Error).message}`, { cause });
  }
}
