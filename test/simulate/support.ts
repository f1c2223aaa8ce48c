// Runs a simulation of a given number of readings as fast as possible.

import type { Clock } from "../../src/domain/instant.ts";
import { type Fleet, seededFleet } from "../../src/simulate/fleet.ts";
import { httpClient, httpTransport } from "../../src/simulate/http.ts";
import { registerFleet } from "../../src/simulate/register.ts";
import { type Summary, Tally, type VerificationResult, verify } from "../../src/simulate/results.ts";
import { MAKERS } from "../../src/simulate/sensors.ts";
import { type MessageTransport, simulate } from "../../src/simulate/simulation.ts";
import type { Service } from "../support/service.ts";

type Run = {
  readonly fleet: Fleet;
  readonly transport: MessageTransport;
  readonly count: number;
  readonly clock?: Clock;
  readonly rate?: number;
  readonly abort?: AbortSignal;
  readonly onMeasured?: (number: number) => void;
};

export async function runSimulation(run: Run): Promise<{ readonly summary: Summary; readonly tally: Tally }> {
  const { fleet, transport, count, clock = Date.now, rate = 5000, abort = new AbortController().signal } = run;
  const stop = new AbortController();
  const tally = new Tally(true);
  const observer = {
    measured(number: number, device: number, at: number, fill: number) {
      tally.measured(number, device, at, fill);
      run.onMeasured?.(number);
      if (number + 1 >= count) stop.abort();
    },
    sent: tally.sent.bind(tally),
    resent: tally.resent.bind(tally),
    result: tally.result.bind(tally),
    undelivered: tally.undelivered.bind(tally),
  };
  await simulate({ fleet, seed: "test", transport, rate, clock, observer, stop: stop.signal, abort });
  return { summary: tally.summary(), tally };
}

type SentFleet = { readonly seed?: string; readonly tanks?: number; readonly count: number; readonly clock?: Clock };

/** Sends to a running service, and verifies its telemetry afterwards. */
export async function sendTo(
  service: Service,
  { seed = "test", tanks = 10, count, clock = Date.now }: SentFleet,
): Promise<Summary & { readonly verification: VerificationResult }> {
  const manager = httpClient(service.url, await service.key({ role: "manage" }));
  const fleet = seededFleet(seed, tanks, MAKERS);
  await registerFleet(fleet, manager, () => {});
  const transport = httpTransport(httpClient(service.url, await service.key({ role: "ingest" })));
  const { summary, tally } = await runSimulation({ fleet, transport, count, clock });
  return { ...summary, verification: await verify(tally, fleet, manager, () => {}) };
}

export const verified = (readings: number, tanks: number): VerificationResult => ({
  tanks,
  readings,
  missing: 0,
  different: 0,
  unexpected: 0,
  differences: [],
});
