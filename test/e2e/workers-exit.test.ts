// The exit of a worker, of the supervisor, or of all: other requests succeed, and no process is left behind.

import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { after, suite, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { until } from "../support/until.ts";
import { createKey, importLines, SMALL_FLEET } from "./fixtures.ts";
import { type Service, workspace } from "./program.ts";
import { type Connection, connectToAll, get, isRunning, logEvents, workerPids } from "./requests.ts";
import { expectStopped, startRequests } from "./stopping-workers.ts";

const SERVE = ["serve", "--workers", "2"];
const EXIT_TIMEOUT_MS = 30_000;

const here = workspace({ after });
await importLines(here, SMALL_FLEET);
const key = await createKey(here);
const manager = await createKey(here, "--role", "manage");

const pidOf = (service: Service, worker: number): number => workerPids(service).get(worker) ?? assert.fail(`no worker ${worker}`);
const waitForExits = (service: Service, count: number) =>
  until(`${count} exits`, () => logEvents(service, "worker_exited").length >= count, EXIT_TIMEOUT_MS);
const waitForReplacement = (service: Service, old: number, worker: number) =>
  until("a replacement", () => pidOf(service, worker) !== old && pidOf(service, worker), EXIT_TIMEOUT_MS);

suite("one service", async () => {
  const service = await here.start(SERVE);
  let killed = 0;

  test("kill -9 of one: only its connections break, it is replaced, and no count falls", async (t) => {
    const [one, other] = (await connectToAll(t, service)) as [Connection, Connection];
    for (const connection of [one, other]) assert.equal((await connection.get("/v1/tanks/a1", key)).status, 200);
    const countIn = async (): Promise<number> =>
      Number(/_count\{route="\/v1\/tanks\/:id".*\} (\d+)/.exec((await other.get("/metrics", manager)).text)?.[1]);
    assert.equal(await countIn(), 2);

    killed = one.worker;
    const victim = pidOf(service, killed);
    const statuses = new Set<number>();
    let isReplaced = false;
    const load = (async () => {
      for (; !isReplaced; await pause(5)) statuses.add((await other.get("/v1/tanks", key)).status);
    })();
    const broken = assert.rejects(async () => {
      for (;;) await one.get("/v1/tanks", key);
    });
    process.kill(victim, "SIGKILL");
    await broken;
    const fresh = await waitForReplacement(service, victim, killed).finally(() => {
      isReplaced = true;
    });
    await load;
    assert.deepEqual([...statuses], [200], "all requests to the other succeed");
    assert.ok(!isRunning(victim) && isRunning(fresh));
    const exits = logEvents(service, "worker_exited").map((exit) => [exit["worker"], exit["pid"], exit["reason"]]);
    assert.deepEqual(exits, [[killed, victim, "killed by SIGKILL"]]);
    assert.equal((await connectToAll(t, service)).length, 2);
    assert.equal(await countIn(), 2, "requests of the killed worker are still counted");
  });

  test("kill -9 of all: a new connection waits for the next worker, at the same address; the one killed before, for a delay", async () => {
    const pids = [...workerPids(service).values()];
    for (const pid of pids) process.kill(pid, "SIGKILL");
    await waitForExits(service, 3);
    assert.equal((await get(service, "/v1/tanks", key)).status, 200);
    await until("both run again", () => logEvents(service, "worker_started").length === 5, EXIT_TIMEOUT_MS);
    const delays = logEvents(service, "worker_exited").map(({ worker, restartInMs }) => [worker === killed, restartInMs]);
    assert.deepEqual(delays.slice(1).sort(), [
      [false, 0],
      [true, 250],
    ]);
  });

  test("SIGTERM to one: it completes its requests, stops, and is replaced", async (t) => {
    const finish = await startRequests(t, service, key);
    const victim = pidOf(service, 1);
    process.kill(victim, "SIGTERM");
    await finish();
    await waitForExits(service, 4);
    const exit = logEvents(service, "worker_exited").at(-1);
    assert.deepEqual([exit?.["pid"], exit?.["reason"], exit?.["level"]], [victim, "stopped", 30]);
    await waitForReplacement(service, victim, 1);
  });

  test("SIGTERM to the supervisor: requests are completed, connections refused, exit 0, nothing left behind", async (t) => {
    const workers = [...workerPids(service).values()];
    const finish = await startRequests(t, service, key);
    service.kill("SIGTERM");
    await service.waitForOutput(/"event":"stopping"/);
    const isRefused = () =>
      get(service, "/healthz").then(
        () => false,
        () => true,
      );
    await until("connections are refused", isRefused);
    await finish();
    await expectStopped(here, service, workers);
  });
});

test("SIGTERM before the first worker listens: exit 0, and no process is left", async (t) => {
  const empty = workspace(t);
  const service = empty.launch(SERVE);
  await until("a database", () => existsSync(empty.path("tanks.db")), EXIT_TIMEOUT_MS);
  service.kill("SIGTERM");
  const { code, stderr } = await service.exited;
  assert.equal(code, 0, stderr);
  assert.match(stderr, /"event":"stopped".*\n$/);
  for (const [, pid] of stderr.matchAll(/"pid":(\d+)/g)) assert.ok(!isRunning(Number(pid)));
});

test("kill -9 of the supervisor: the workers complete their requests, and exit", async (t) => {
  const service = await here.start(SERVE);
  const workers = [...workerPids(service).values()];
  const finish = await startRequests(t, service, key);
  service.kill("SIGKILL");
  await service.exited;
  await finish();
  await until("the exit of all workers", () => !workers.some(isRunning), EXIT_TIMEOUT_MS);
  await assert.rejects(get(service, "/healthz"));
  assert.deepEqual(readdirSync(here.folder).sort(), ["fleet.ndjson", "tanks.db"]);
});
