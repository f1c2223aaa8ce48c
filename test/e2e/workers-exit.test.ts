// The exit of a worker, of the supervisor, or of all: other requests succeed, and no process is left behind.

import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { connect as open, type Socket } from "node:net";
import { after, before, suite, test } from "node:test";
import { until } from "../support/until.ts";
import { createKey, importLines, SMALL_FLEET } from "./fixtures.ts";
import { type Lifetime, type RunningProgram, type Service, suiteLifetime, type Workspace, workspace } from "./program.ts";
import { type Connection, connectToAll, get, isRunning, logEvents, workerPids } from "./requests.ts";

const SERVE = ["serve", "--workers", "2"];
const BODY = "size=2";

const EXIT_TIMEOUT_MS = 30_000;

/** Sends a request but for its last byte. */
async function startRequest(life: Lifetime, { url }: Service, key: string): Promise<{ finish: () => Promise<string> }> {
  const { hostname, port } = new URL(url);
  const socket: Socket = open(Number(port), hostname);
  life.after(() => socket.destroy());
  socket.on("error", () => {});
  await once(socket, "connect");
  const head = [
    "GET /v1/tanks HTTP/1.1",
    "Host: x",
    "Connection: close",
    `X-API-Key: ${key}`,
    "Content-Type: application/x-www-form-urlencoded",
  ];
  socket.write(`${head.join("\r\n")}\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY.slice(0, -1)}`);
  return {
    async finish() {
      socket.write(BODY.slice(-1));
      let text = "";
      for await (const chunk of socket) text += chunk;
      return text;
    },
  };
}

/** So many that each worker has some. */
async function startRequests(life: Lifetime, service: Service, key: string): Promise<() => Promise<void>> {
  const started = await Promise.all(Array.from({ length: 24 }, () => startRequest(life, service, key)));
  // A worker that answers a later connection has accepted the earlier ones.
  await connectToAll(life, service);
  return async () => {
    const responses = await Promise.all(started.map(({ finish }) => finish()));
    for (const response of responses) assert.match(response, /^HTTP\/1\.1 200 OK\r\n[\s\S]*"total_items":3\}$/);
  };
}

suite("the exit of workers", () => {
  const life = suiteLifetime();
  let here: Workspace;
  let key: string;
  let manager: string;

  before(async () => {
    here = workspace(life);
    await importLines(here, SMALL_FLEET);
    [key, manager] = await Promise.all([createKey(here), createKey(here, "--role", "manage")]);
  });

  const pidOf = (service: Service, worker: number): number =>
    workerPids(service).get(worker) ?? assert.fail(`no worker ${worker}`);
  const waitForExits = (service: Service, count: number) =>
    until(`${count} exits`, () => logEvents(service, "worker_exited").length >= count, EXIT_TIMEOUT_MS);
  const waitForReplacement = (service: Service, old: number, worker: number) =>
    until("a replacement", () => pidOf(service, worker) !== old && pidOf(service, worker), EXIT_TIMEOUT_MS);

  suite("by kill -9", () => {
    let service: Service;
    let killed: number;

    before(async () => {
      service = await here.start(SERVE);
    });
    after(() => service.stop());

    test("kill -9 of one: only its connections break, it is replaced, and no count falls", async (t) => {
      const [one, other] = (await connectToAll(t, service)) as [Connection, Connection];
      for (const connection of [one, other]) assert.equal((await connection.get("/v1/tanks/a1", key)).status, 200);
      const countIn = async (): Promise<number> =>
        Number(/_count\{route="\/v1\/tanks\/:id".*\} (\d+)/.exec((await other.get("/metrics", manager)).text)?.[1]);
      assert.equal(await countIn(), 2);

      killed = one.worker;
      const victim = pidOf(service, killed);
      const statuses = new Map<number, number>();
      let isReplaced = false;
      const load = (async () => {
        while (!isReplaced) {
          const { status } = await other.get("/v1/tanks", key);
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        }
      })();
      const broken = assert.rejects(async () => {
        for (;;) await one.get("/v1/tanks", key);
      });
      process.kill(victim, "SIGKILL");
      await broken;
      const fresh = await waitForReplacement(service, victim, one.worker).finally(() => {
        isReplaced = true;
      });
      await load;
      assert.deepEqual([...statuses.keys()], [200], `all of ${statuses.get(200)} requests to the other succeed`);
      assert.ok(!isRunning(victim) && isRunning(fresh));
      const [end, ...more] = logEvents(service, "worker_exited");
      assert.deepEqual(
        [end?.["worker"], end?.["pid"], end?.["reason"], end?.["restartInMs"]],
        [one.worker, victim, "killed by SIGKILL", 0],
      );
      assert.deepEqual(more, []);
      assert.equal((await connectToAll(t, service)).length, 2);
      assert.equal(await countIn(), 2, "requests of the killed worker are still counted");
    });

    test("one that is killed repeatedly is replaced after growing delays", async () => {
      for (let exits = 2; exits <= 3; exits++) {
        const victim = pidOf(service, killed);
        process.kill(victim, "SIGKILL");
        await waitForExits(service, exits);
        await waitForReplacement(service, victim, killed);
      }
      assert.deepEqual(
        logEvents(service, "worker_exited").map(({ restartInMs }) => restartInMs),
        [0, 250, 500],
      );
      assert.equal((await get(service, "/readyz")).status, 200);
    });

    test("kill -9 of all: a new connection waits for the next worker, at the same address", async () => {
      for (const pid of workerPids(service).values()) process.kill(pid, "SIGKILL");
      await waitForExits(service, 5);
      assert.equal((await get(service, "/v1/tanks", key)).status, 200);
    });
  });

  test("SIGTERM to one: it completes its requests, stops, and is replaced", async (t) => {
    const service = await here.start(SERVE);
    const finish = await startRequests(t, service, key);
    const victim = pidOf(service, 1);
    process.kill(victim, "SIGTERM");
    await finish();
    await waitForExits(service, 1);
    const [end] = logEvents(service, "worker_exited");
    assert.deepEqual([end?.["pid"], end?.["reason"], end?.["level"]], [victim, "stopped", 30]);
    await waitForReplacement(service, victim, 1);
    await service.stop();
  });

  for (const [name, reaches] of [
    ["SIGTERM to the supervisor", "parent"],
    ["Ctrl-C, which reaches all processes, twice", "all"],
  ] as const) {
    test(`${name}: requests are completed, new connections refused, exit 0, nothing left behind`, async (t) => {
      const service = await here.start(SERVE);
      const workers = [...workerPids(service).values()];
      const finish = await startRequests(t, service, key);
      if (reaches === "parent") {
        service.kill("SIGTERM");
      } else {
        for (const pid of [...workers, ...workers]) process.kill(pid, "SIGINT");
        service.kill("SIGINT");
        service.kill("SIGINT");
      }
      await service.waitForOutput(/"event":"stopping"/);
      await until("connections are refused", () =>
        get(service, "/healthz")
          .then(() => false)
          .catch(() => true),
      );
      await finish();
      const { code, signal, stderr } = await service.exited;
      assert.deepEqual([code, signal], [0, null]);
      assert.equal(stderr.match(/"event":"stopping"/g)?.length, 1);
      assert.match(stderr, /"event":"stopped".*\n$/);
      assert.doesNotMatch(stderr, /"event":"worker_exited"/);
      assert.deepEqual(workers.filter(isRunning), []);
      assert.deepEqual(readdirSync(here.folder).sort(), ["fleet.ndjson", "tanks.db"]);
    });
  }

  for (const [moment, reached] of [
    [
      "before the first worker listens",
      (empty: Workspace) => until("a database", () => existsSync(empty.path("tanks.db")), EXIT_TIMEOUT_MS),
    ],
    [
      "when the first worker listens",
      (_: Workspace, service: RunningProgram) => service.waitForOutput(/"event":"worker_started"/),
    ],
  ] as const) {
    test(`SIGTERM ${moment}: exit 0, and no process is left`, async (t) => {
      const empty = workspace(t);
      const service = empty.launch(SERVE);
      await reached(empty, service);
      service.kill("SIGTERM");
      const { code, stderr } = await service.exited;
      assert.equal(code, 0, stderr);
      assert.match(stderr, /"event":"stopped".*\n$/);
      for (const [, pid] of stderr.matchAll(/"pid":(\d+)/g)) assert.ok(!isRunning(Number(pid)));
    });
  }

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
});
