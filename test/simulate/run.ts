// A simulation of so many readings, as fast as it goes, with a book kept on it.

import type { Clock } from "../../src/domain/instant.ts";
import { byHttp } from "../../src/simulate/by-http.ts";
import { caller } from "../../src/simulate/call.ts";
import type { Told, Way } from "../../src/simulate/delivery.ts";
import type { Fleet } from "../../src/simulate/device.ts";
import { seededFleet } from "../../src/simulate/fleet.ts";
import { Ledger } from "../../src/simulate/ledger.ts";
import { MAKERS, type Maker } from "../../src/simulate/makers.ts";
import { provision } from "../../src/simulate/provision.ts";
import { simulate } from "../../src/simulate/simulation.ts";
import { type Summary, Tally } from "../../src/simulate/tally.ts";
import { type Verification, verify } from "../../src/simulate/verify.ts";
import type { Service } from "../support/service.ts";

type Run = {
  readonly fleet: Fleet;
  readonly way: Way;
  readonly count: number;
  readonly seed?: string;
  readonly clock?: Clock;
  readonly rate?: number;
  readonly hurry?: AbortSignal;
  /** Told of every reading that is measured. */
  readonly watch?: (number: number) => void;
};

export async function simulated(run: Run): Promise<{ readonly summary: Summary; readonly ledger: Ledger }> {
  const { fleet, way, count, seed = "test", clock = Date.now, rate = 5000, hurry, watch } = run;
  const end = new AbortController();
  const ledger = new Ledger();
  const tally = new Tally(ledger);
  const told: Told = {
    measured(number, device, at, fill) {
      tally.measured(number, device, at, fill);
      watch?.(number);
      if (number + 1 >= count) end.abort();
    },
    sent: (readings) => tally.sent(readings),
    again: (readings) => tally.again(readings),
    outcome: (number, outcome) => tally.outcome(number, outcome),
    undelivered: (readings) => tally.undelivered(readings),
  };
  const signals = { end: end.signal, hurry: hurry ?? new AbortController().signal };
  await simulate({ fleet, seed, way, rate, clock, told, ...signals });
  return { summary: tally.summary(), ledger };
}

type Wishes = Partial<Pick<Run, "count" | "clock" | "rate" | "watch" | "seed">> & {
  readonly tanks?: number;
  readonly makers?: readonly Maker[];
  readonly registered?: boolean;
  /** HTTP, unless another way is given. */
  readonly way?: (ingestKey: string) => Way | Promise<Way>;
};

/** Devices that send to a running service, and what its telemetry is found to be afterwards. */
export async function sentTo(service: Service, wishes: Wishes = {}): Promise<Summary & { readonly found: Verification }> {
  const { tanks = 10, makers = MAKERS, count = 500, seed = "test", registered = true, way: open, ...rest } = wishes;
  const manager = caller(service.url, await service.key({ role: "manage" }));
  const fleet = seededFleet(seed, tanks, makers);
  if (registered) await provision(fleet, manager, () => {});
  const key = await service.key({ role: "ingest" });
  const way = open === undefined ? byHttp(caller(service.url, key)) : await open(key);
  const { summary, ledger } = await simulated({ fleet, way, count, seed, ...rest }).finally(() => way.close());
  return { ...summary, found: await verify(ledger, fleet, manager, () => {}) };
}

export const asItMustBe = (readings: number, tanks: number): Verification => ({
  tanks,
  readings,
  missing: 0,
  different: 0,
  strange: 0,
  faults: [],
});
