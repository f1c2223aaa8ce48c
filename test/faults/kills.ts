// kill -9, at any moment, again and again: of the service, of one of its workers, or of their parent.

import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { Lifetime, Service } from "../e2e/program.ts";
import { isRunning, pids, until } from "../e2e/workers.ts";
import type { Engine } from "./engines.ts";
import { type Trial, trialOn } from "./trial.ts";

export type Kills = {
  readonly engine: Engine;
  readonly seed: string;
  readonly times: number;
  /** Processes that answer: one, or workers of a parent. */
  readonly processes: 1 | 2;
  /** Readings that are acknowledged before the next kill, at most. */
  readonly calm: number;
  readonly tell?: (killed: number) => void;
};

/** At once after an acknowledgement, which must not have come too early; or up to this much later, when anything may be under way. */
const MOMENT_MS = 30;
/** A start takes about as long. */
const START_MS = 800;

export async function surviveKills(life: Lifetime, { engine, seed, times, processes, calm, tell }: Kills): Promise<void> {
  const trial = await trialOn(life, engine, seed);
  const more = { WORKERS: String(processes) };
  let service = await trial.start(more);
  const stopSending = await trial.send(service);
  for (let kill = 0; kill < times; kill++) {
    await trial.ledger.untilAcknowledged(trial.chance.whole(1, calm));
    if (trial.chance.of(0.5)) await pause(trial.chance.next() * MOMENT_MS);
    if (processes > 1 && kill % 2 === 0) {
      await killWorker(service, trial);
      await trial.expectKept();
    } else {
      await killAll(service);
      await trial.expectKept();
      await trial.settle();
      if (processes === 1 && trial.chance.of(0.3)) await killStarting(trial);
      service = await trial.start(more);
    }
    tell?.(kill + 1);
  }
  await trial.ledger.untilAcknowledged(1);
  await stopSending();
  trial.ledger.settle();
  assert.ok(trial.tally.broken > 0, "senders were disturbed");
  await trial.expectAllKept(service);
  assert.equal((await service.stop()).code, 0);
}

async function killAll(service: Service): Promise<void> {
  const workers = [...pids(service).values()];
  service.kill("SIGKILL");
  assert.equal((await service.ended).signal, "SIGKILL");
  // Workers whose parent is gone stop by themselves, in order.
  await until("the workers have ended", () => !workers.some(isRunning));
}

/** Before it answers, mostly. */
async function killStarting({ chance, launch }: Trial): Promise<void> {
  const starting = launch();
  await pause(chance.next() * START_MS);
  starting.kill("SIGKILL");
  await starting.ended;
}

async function killWorker(service: Service, { chance }: Trial): Promise<void> {
  const before = pids(service);
  const number = chance.pick([1, 2]);
  const victim = before.get(number) ?? assert.fail(`there is no worker ${number}`);
  process.kill(victim, "SIGKILL");
  await until("a replacement", () => pids(service).get(number) !== victim);
}
