// SIGKILL at random moments, of the service, one of its workers or their supervisor; and broken connections, of clients and to PostgreSQL.

import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { Service } from "../e2e/program.ts";
import { get, isRunning, workerPids } from "../e2e/requests.ts";
import { postgresDatabase, TEMPLATE_LOCALE } from "../support/postgres/database.ts";
import type { Lifetime } from "../support/service.ts";
import { tcpProxy } from "../support/tcp-proxy.ts";
import { until } from "../support/until.ts";
import { type Engine, type LoadSize, type Scenario, startScenario } from "./scenario.ts";

export type Kills = {
  readonly engine: Engine;
  readonly seed: string;
  readonly times: number;
  /** Processes that serve requests: one, or workers of a supervisor. */
  readonly processes: 1 | 2;
  /** At most this many readings are acknowledged between two interruptions. */
  readonly maxReadings: number;
  /** By default as much as possible. */
  readonly load?: LoadSize;
};

const TIMEOUT_MS = 30_000;
/** A kill comes right after an acknowledgement, which must not have been too early, or up to this much later. */
const MOMENT_MS = 30;
/** A start takes about as long. */
const START_MS = 800;

export async function surviveKills(life: Lifetime, { engine, seed, times, processes, maxReadings, load }: Kills): Promise<void> {
  const scenario = await startScenario(life, engine, seed, load);
  const more = { WORKERS: String(processes) };
  let service = await scenario.start(more);
  const stopSending = await scenario.send(service);
  for (let kill = 0; kill < times; kill++) {
    await scenario.ledger.untilAcknowledged(scenario.random.whole(1, maxReadings));
    if (scenario.random.chance(0.5)) await pause(scenario.random.next() * MOMENT_MS);
    if (processes > 1 && kill % 2 === 0) {
      await killWorker(service, scenario);
      await scenario.expectStored();
    } else {
      await killAll(service);
      await scenario.expectStored();
      await scenario.settle();
      if (processes === 1 && (kill === 0 || scenario.random.chance(0.3))) await killStarting(scenario);
      service = await scenario.start(more);
    }
  }
  await scenario.ledger.untilAcknowledged(1);
  await stopSending();
  scenario.ledger.settle();
  assert.ok(scenario.failures.broken > 0, "senders were disturbed");
  await scenario.expectAllStored(service);
  assert.equal((await service.stop()).code, 0);
}

async function killAll(service: Service): Promise<void> {
  const workers = [...workerPids(service).values()];
  service.kill("SIGKILL");
  assert.equal((await service.exited).signal, "SIGKILL");
  // Workers without a supervisor stop by themselves.
  await until("the workers have exited", () => !workers.some(isRunning), TIMEOUT_MS);
}

/** Mostly before it is ready. */
async function killStarting(scenario: Scenario): Promise<void> {
  const starting = scenario.launch();
  await pause(scenario.random.next() * START_MS);
  starting.kill("SIGKILL");
  await starting.exited;
}

async function killWorker(service: Service, { random }: Scenario): Promise<void> {
  const before = workerPids(service);
  const number = random.pick([1, 2]);
  const victim = before.get(number) ?? assert.fail(`there is no worker ${number}`);
  process.kill(victim, "SIGKILL");
  await until("a replacement", () => workerPids(service).get(number) !== victim, TIMEOUT_MS);
}

/** Connections of MQTT clients break `times` times, each after up to `maxReadings` acknowledged readings. */
export async function surviveBrokenConnections(
  life: Lifetime,
  { engine, seed, times, maxReadings, load }: Omit<Kills, "processes">,
): Promise<void> {
  const scenario = await startScenario(life, engine, seed, load);
  const service = await scenario.start();
  const proxy = await tcpProxy(life, `mqtt://127.0.0.1:${scenario.ports.mqtt}`);
  const stopSending = await scenario.send(service, proxy.url);
  for (let broken = 0; broken < times; broken++) {
    await scenario.ledger.untilAcknowledged(scenario.random.whole(1, maxReadings));
    await until("there is a connection to break", proxy.disconnect, TIMEOUT_MS);
  }
  await stopSending();
  assert.ok(scenario.failures.broken >= times, `${scenario.failures.broken} connections broke`);
  await scenario.expectAllStored(service);
}

const OF_SERVICE = "FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'tank-monitor'";
const SESSIONS = `SELECT pid ${OF_SERVICE} ORDER BY pid`;
const TERMINATE = "SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) AS pid";
/** Those within a statement or a transaction. */
const TERMINATE_BUSY = `SELECT pg_terminate_backend(pid) ${OF_SERVICE} AND state <> 'idle'`;

/** Sessions of the service on PostgreSQL are terminated `times` times: in turn busy ones, until a sender notices, and any of them. */
export async function surviveTerminatedSessions(
  life: Lifetime,
  { seed, times, maxReadings, load }: Omit<Kills, "engine" | "processes">,
): Promise<void> {
  const { url, query, closeFirst } = await postgresDatabase(life, { locale: TEMPLATE_LOCALE, withSchema: true });
  const open = async () => ({ url, life: { after: closeFirst } });
  const scenario = await startScenario(life, { name: "PostgreSQL", open }, seed, load);
  const { ledger, random, failures } = scenario;
  const service = await scenario.start();
  const stopSending = await scenario.send(service);
  const failed = () => failures.unavailable + failures.broken;

  async function terminateBusy(): Promise<void> {
    const before = failed();
    const terminate = async () => {
      await query(TERMINATE_BUSY);
      return failed() > before;
    };
    await until("a sender notices", terminate, TIMEOUT_MS);
  }

  async function terminateAny(): Promise<void> {
    const pids = (await query<{ pid: number }>(SESSIONS)).map(({ pid }) => pid);
    const some = pids.filter(() => random.chance(0.5));
    await query(TERMINATE, [some.length > 0 ? some : pids]);
  }

  for (let i = 0; i < times; i++) {
    await ledger.untilAcknowledged(random.whole(1, maxReadings));
    await (i % 2 === 0 ? terminateBusy() : terminateAny());
  }
  await ledger.untilAcknowledged(maxReadings);
  await stopSending();
  ledger.settle();
  assert.equal((await get(service, "/readyz")).status, 200);
  await scenario.expectAllStored(service);
  assert.equal((await service.stop()).code, 0, "the process is still the first one");
}
