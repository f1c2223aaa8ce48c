// Several processes behind one address: a parent, which opens the address, keeps the buckets and gathers the counts, and
// workers, which answer. Lives here: whatever knows that there are several. May not: the service itself, which is app.ts in
// each worker. The parent opens no database.

import { BoundSocket } from "node:net";
import type { Config } from "../config.ts";
import { UserError } from "../domain/errors.ts";
import { listenComplaint, numericHost } from "../http/address.ts";
import { localLimits } from "../http/limits.ts";
import type { Log } from "../observe/log.ts";
import { Counts } from "./counts.ts";
import { type Ended, Member } from "./member.ts";
import type { Listening, ToParent } from "./messages.ts";
import { Pauses } from "./pauses.ts";

/** Longer than a worker waits for its own requests. */
const STOP_MS = 12_000;

export class Crew {
  readonly #config: Config;
  readonly #log: Log;
  readonly #limits = localLimits(Date.now);
  readonly #counts = new Counts();
  readonly #members = new Map<number, Member>();
  readonly #pauses = new Map<number, Pauses>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #address: BoundSocket | undefined;
  /** While open, that is from the first answer to the stop, whoever ends is replaced. */
  #state: "starting" | "open" | "stopping" = "starting";

  constructor(config: Config, log: Log) {
    this.#config = config;
    this.#log = log;
  }

  /** The first worker makes or migrates the database; if it cannot serve, nobody can. Resolves when all have had their try. */
  async start(): Promise<Listening> {
    const started = performance.now();
    const { workers } = this.#config;
    this.#address = await openAddress(this.#config);
    const { url, database, isEmpty } = await this.#hire(1).listening;
    if (this.#state === "starting") this.#state = "open";
    await Promise.allSettled(Array.from({ length: workers - 1 }, (_, i) => this.#hire(i + 2).listening));
    this.#log.observe({ kind: "listening", url, database, workers, milliseconds: performance.now() - started });
    return { url, database, isEmpty };
  }

  async stop(): Promise<void> {
    this.#state = "stopping";
    for (const timer of this.#timers) clearTimeout(timer);
    // While anyone holds the address, connections are taken in.
    this.#address?.[Symbol.dispose]();
    const members = [...this.#members.values()];
    for (const member of members) member.tell({ kind: "stop" });
    const impatient = setTimeout(() => {
      for (const member of members) member.kill();
    }, STOP_MS);
    await Promise.all(members.map(({ ended }) => ended));
    clearTimeout(impatient);
  }

  #hire(number: number): Member {
    if (this.#state === "stopping") throw new UserError("the service was stopped before it had started");
    const member: Member = new Member({
      number,
      config: this.#config,
      descriptor: this.#address?.fd() ?? -1,
      log: this.#log.pass,
      hear: (message) => this.#hear(member, message),
    });
    this.#members.set(number, member);
    member.listening.then(
      () => this.#log.observe({ kind: "worker_started", worker: number, pid: member.pid, milliseconds: member.age }),
      () => {},
    );
    member.ended.then((ended) => this.#lose(member, ended));
    return member;
  }

  #hear(member: Member, message: Extract<ToParent, { kind: "take" | "report" | "reports" }>): void {
    switch (message.kind) {
      case "take":
        member.tell({ kind: "taken", left: message.asks.map((ask) => this.#limits.take(...ask)) });
        return;
      case "report":
        this.#counts.hear(member.number, message.report);
        return;
      case "reports":
        this.#reportAll(member);
        return;
    }
  }

  async #reportAll(to: Member): Promise<void> {
    const listening = [...this.#members.values()].filter(({ isListening }) => isListening);
    await Promise.all(listening.map((member) => member.report()));
    to.tell({ kind: "reports", reports: this.#counts.all() });
  }

  #lose(member: Member, { how, inOrder }: Ended): void {
    const { number: worker, pid } = member;
    this.#members.delete(worker);
    this.#counts.end(worker);
    const pause = this.#state === "open" ? this.#pauseAfter(member) : null;
    if (pause !== null || (this.#state === "stopping" && !inOrder))
      this.#log.observe({ kind: "worker_exited", worker, pid, reason: how, isClean: inOrder, restartInMs: pause });
    if (pause === null) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#hire(worker);
    }, pause);
    this.#timers.add(timer);
  }

  #pauseAfter({ number, age }: Member): number {
    const pauses = this.#pauses.get(number) ?? new Pauses();
    this.#pauses.set(number, pauses);
    return pauses.next(age);
  }
}

/** Bound here and listened on by the workers: the system gives each connection to one that is waiting for it. */
async function openAddress({ host, port }: Config): Promise<BoundSocket> {
  if (process.platform === "win32") throw new UserError("several workers cannot share an address on Windows: use --workers 1.");
  try {
    return new BoundSocket({ host: await numericHost(host), port });
  } catch (error) {
    throw listenComplaint(error, { host, port });
  }
}
