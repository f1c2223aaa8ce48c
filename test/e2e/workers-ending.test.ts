// The end of a worker, of its parent, or of all: nobody else is disturbed, and nobody is left over.

import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { connect as open, type Socket } from "node:net";
import { before, suite, test } from "node:test";
import { ask } from "./ask.ts";
import { importLines, makeKey, SMALL_FLEET } from "./fleet.ts";
import { type Home, home, type Lifetime, type Running, type Service, sharedLife } from "./program.ts";
import { type Connection, connectToAll, isRunning, pids, told, until } from "./workers.ts";

const SERVE = ["serve", "--workers", "2"];
const BODY = "size=2";

/** A request that has arrived in part: its last byte is still to come. */
async function halfAsked(life: Lifetime, { url }: Service, key: string): Promise<{ finish: () => Promise<string> }> {
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
async function manyHalfAsked(life: Lifetime, service: Service, key: string): Promise<() => Promise<void>> {
  const asked = await Promise.all(Array.from({ length: 24 }, () => halfAsked(life, service, key)));
  // Whoever answers a later connection has taken the earlier ones in.
  await connectToAll(life, service);
  return async () => {
    const answers = await Promise.all(asked.map(({ finish }) => finish()));
    for (const answer of answers) assert.match(answer, /^HTTP\/1\.1 200 OK\r\n[\s\S]*"total_items":3\}$/);
  };
}

suite("the end of workers", () => {
  const life = sharedLife();
  let here: Home;
  let key: string;
  let manager: string;

  before(async () => {
    here = home(life);
    await importLines(here, SMALL_FLEET);
    [key, manager] = await Promise.all([makeKey(here), makeKey(here, "--role", "manage")]);
  });

  const pidOf = (service: Service, worker: number): number => pids(service).get(worker) ?? assert.fail(`no worker ${worker}`);
  const ended = (service: Service, count: number) =>
    until(`${count} ends`, () => {
      const ends = told(service, "worker_exited");
      return ends.length >= count && ends;
    });
  const replaced = (service: Service, old: number, worker: number) =>
    until("a replacement", () => pidOf(service, worker) !== old && pidOf(service, worker));

  test("kill -9 of one: its connections end, the other's go on, it is replaced, and the counts do not fall", async (t) => {
    const service = await here.start(SERVE);
    const [one, other] = (await connectToAll(t, service)) as [Connection, Connection];
    for (const { ask } of [one, other]) assert.equal((await ask("/v1/tanks/a1", key)).status, 200);
    const countIn = async (): Promise<number> =>
      Number(/_count\{route="\/v1\/tanks\/:id".*\} (\d+)/.exec((await other.ask("/metrics", manager)).text)?.[1]);
    assert.equal(await countIn(), 2);

    const victim = pidOf(service, one.worker);
    const statuses = new Map<number, number>();
    let isReplaced = false;
    const load = (async () => {
      while (!isReplaced) {
        const { status } = await other.ask("/v1/tanks", key);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    })();
    const broken = assert.rejects(async () => {
      for (;;) await one.ask("/v1/tanks", key);
    });
    process.kill(victim, "SIGKILL");
    await broken;
    const fresh = await replaced(service, victim, one.worker).finally(() => {
      isReplaced = true;
    });
    await load;
    assert.deepEqual([...statuses.keys()], [200], `undisturbed, ${statuses.get(200)} times`);
    assert.ok(!isRunning(victim) && isRunning(fresh));
    const [end, ...more] = told(service, "worker_exited");
    assert.deepEqual(
      [end?.["worker"], end?.["pid"], end?.["reason"], end?.["restartInMs"]],
      [one.worker, victim, "killed by SIGKILL", 0],
    );
    assert.deepEqual(more, []);
    assert.equal((await connectToAll(t, service)).length, 2);
    assert.equal(await countIn(), 2, "what the dead one had counted is still counted");
    await service.stop();
  });

  test("one that dies again and again is replaced after growing pauses", async () => {
    const service = await here.start(SERVE);
    for (let deaths = 1; deaths <= 3; deaths++) {
      const victim = pidOf(service, 2);
      process.kill(victim, "SIGKILL");
      await ended(service, deaths);
      await replaced(service, victim, 2);
    }
    assert.deepEqual(
      told(service, "worker_exited").map(({ restartInMs }) => restartInMs),
      [0, 250, 500],
    );
    assert.equal((await ask(service, "/readyz")).status, 200);
    await service.stop();
  });

  test("kill -9 of all: who connects meanwhile waits for the next one, on the same address", async () => {
    const service = await here.start(SERVE);
    for (const pid of pids(service).values()) process.kill(pid, "SIGKILL");
    await ended(service, 2);
    assert.equal((await ask(service, "/v1/tanks", key)).status, 200);
    await service.stop();
  });

  test("SIGTERM to one: it answers what is under way, ends in order, and is replaced", async (t) => {
    const service = await here.start(SERVE);
    const finish = await manyHalfAsked(t, service, key);
    const victim = pidOf(service, 1);
    process.kill(victim, "SIGTERM");
    await finish();
    const [end] = await ended(service, 1);
    assert.deepEqual([end?.["pid"], end?.["reason"], end?.["level"]], [victim, "stopped", 30]);
    await replaced(service, victim, 1);
    await service.stop();
  });

  for (const [name, reaches] of [
    ["SIGTERM to the parent", "parent"],
    ["Ctrl-C, which reaches all of them, twice", "all"],
  ] as const) {
    test(`${name}: all that is under way is answered, nobody new gets in, exit 0, nothing left behind`, async (t) => {
      const service = await here.start(SERVE);
      const workers = [...pids(service).values()];
      const finish = await manyHalfAsked(t, service, key);
      if (reaches === "parent") {
        service.kill("SIGTERM");
      } else {
        for (const pid of [...workers, ...workers]) process.kill(pid, "SIGINT");
        service.kill("SIGINT");
        service.kill("SIGINT");
      }
      await service.said(/"event":"stopping"/);
      await until("connections are refused", () =>
        ask(service, "/healthz")
          .then(() => false)
          .catch(() => true),
      );
      await finish();
      const { code, signal, stderr } = await service.ended;
      assert.deepEqual([code, signal], [0, null]);
      assert.equal(stderr.match(/"event":"stopping"/g)?.length, 1);
      assert.match(stderr, /"event":"stopped".*\n$/);
      assert.doesNotMatch(stderr, /"event":"worker_exited"/);
      assert.deepEqual(workers.filter(isRunning), []);
      assert.deepEqual(readdirSync(here.folder).sort(), ["fleet.ndjson", "tanks.db"]);
    });
  }

  for (const [moment, reached] of [
    ["before the first answers", (empty: Home) => until("a database", () => existsSync(empty.path("tanks.db")))],
    ["when the first answers", (_: Home, service: Running) => service.said(/"event":"worker_started"/)],
  ] as const) {
    test(`SIGTERM ${moment}: exit 0, and nobody is left over`, async (t) => {
      const empty = home(t);
      const service = empty.launch(SERVE);
      await reached(empty, service);
      service.kill("SIGTERM");
      const { code, stderr } = await service.ended;
      assert.equal(code, 0, stderr);
      assert.match(stderr, /"event":"stopped".*\n$/);
      for (const [, pid] of stderr.matchAll(/"pid":(\d+)/g)) assert.ok(!isRunning(Number(pid)));
    });
  }

  test("kill -9 of the parent: the workers answer what is under way, and end", async (t) => {
    const service = await here.start(SERVE);
    const workers = [...pids(service).values()];
    const finish = await manyHalfAsked(t, service, key);
    service.kill("SIGKILL");
    await service.ended;
    await finish();
    await until("the end of all workers", () => !workers.some(isRunning));
    await assert.rejects(ask(service, "/healthz"));
    assert.deepEqual(readdirSync(here.folder).sort(), ["fleet.ndjson", "tanks.db"]);
  });
});
