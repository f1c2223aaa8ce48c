// serve --workers: several processes, one service.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, suite, test } from "node:test";
import { postgresDatabase } from "../support/postgres/database.ts";
import { until } from "../support/until.ts";
import { createKey, importLines, SMALL_FLEET } from "./fixtures.ts";
import { type Service, suiteLifetime, type Workspace, workspace } from "./program.ts";
import { type Connection, connectToAll, get, logEntries, logEvents } from "./requests.ts";

/** A key in constant use, hence fresh in the memory of every worker, is rejected by all of them within a second of its revocation. */
async function rejectsRevokedKey(here: Workspace, connections: readonly Connection[]): Promise<void> {
  const { stdout, stderr } = await here.run(["key", "create", "--name", "to be revoked"]);
  const [secret, [id = ""]] = [stdout.trim(), /key_\w+/.exec(stderr) ?? []];
  for (const connection of connections) assert.equal((await connection.get("/v1/tanks", secret)).status, 200);
  const rejectedAt = Promise.all(
    connections.map(async (connection) => {
      while ((await connection.get("/v1/tanks", secret)).status === 200);
      return performance.now();
    }),
  );
  await here.launch(["key", "revoke", id]).waitForOutput(/ revoked/);
  const revokedAt = performance.now();
  const milliseconds = (await rejectedAt).map((at) => Math.round(at - revokedAt));
  assert.ok(Math.max(...milliseconds) < 1000, `${milliseconds}`);
}

suite("several workers", () => {
  const life = suiteLifetime();
  let here: Workspace;
  let service: Service;
  let key: string;
  let manager: string;
  let all: Connection[];

  before(async () => {
    here = workspace(life);
    await importLines(here, SMALL_FLEET);
    [key, manager] = await Promise.all([createKey(here), createKey(here, "--role", "manage")]);
    service = await here.start(["serve", "--workers", "2"]);
    all = await connectToAll(life, service);
  });

  test("all respond at one address, which is logged once; each log line is complete and has its worker's number", async () => {
    const [listening, ...more] = logEvents(service, "listening");
    assert.deepEqual([listening?.["workers"], listening?.["url"], more], [2, service.url, []]);
    assert.equal(new Set(logEvents(service, "worker_started").map(({ pid }) => pid)).size, 2);
    await Promise.all(all.flatMap((connection) => Array.from({ length: 50 }, () => connection.get("/v1/tanks", key))));
    const lines = await until("a line for each request", () => {
      const requests = logEvents(service, "request").filter(({ route }) => route === "/v1/tanks");
      return requests.length >= 100 && requests;
    });
    assert.deepEqual(new Set(lines.map(({ worker }) => worker)), new Set([1, 2]));
    assert.equal(logEntries(service).length, service.stderr().trimEnd().split("\n").length, "nothing but JSON lines");
  });

  test("a key's rate limit holds for all workers together, to the request", async () => {
    const rate = 20;
    const limited = await createKey(here, "--rate", `${rate}`);
    const started = performance.now();
    const requests = all.flatMap((connection) => Array.from({ length: 100 }, () => connection.get("/v1/tanks", limited)));
    const passed = (await Promise.all(requests)).map(({ status }) => status === 200);
    const refilled = Math.ceil(((performance.now() - started) / 1000) * rate);
    const count = passed.filter(Boolean).length;
    assert.ok(count >= rate * 2 && count <= rate * 2 + refilled, `${count} passed of a burst of ${rate * 2} and ${refilled}`);
    assert.ok(passed.slice(0, 100).includes(true) && passed.slice(100).includes(true), "some passed on each worker");
  });

  test("wrong keys from one address are throttled by all workers together", async () => {
    const started = performance.now();
    const requests = all.flatMap((connection) => Array.from({ length: 60 }, () => connection.get("/v1/tanks", "tm_wrong")));
    const statuses = (await Promise.all(requests)).map(({ status }) => status);
    const refilled = Math.ceil((performance.now() - started) / 1000);
    const rejected = statuses.filter((status) => status === 401).length;
    assert.ok(rejected >= 30 && rejected <= 30 + refilled, `${rejected} got 401`);
    assert.ok(statuses.every((status) => status === 401 || status === 429));
    for (const connection of all) assert.equal((await connection.get("/v1/tanks", key)).status, 200);
  });

  test("a revoked key is rejected by each worker within a second", () => rejectsRevokedKey(here, all));

  test("/metrics of each worker counts the requests of all", async () => {
    const count =
      /^tank_monitor_request_duration_seconds_count\{route="\/v1\/customers\/:id",method="GET",status="200"\} (\d+)$/m;
    for (const [i, connection] of all.entries()) {
      for (let n = 0; n < 3 + i; n++) assert.equal((await connection.get("/v1/customers/ada", key)).status, 200);
    }
    for (const connection of all) {
      const { status, text } = await connection.get("/metrics", manager);
      assert.equal(status, 200);
      assert.equal(count.exec(text)?.[1], "7", "3 of one and 4 of the other");
      assert.match(text, /^tank_monitor_request_duration_seconds_bucket\{le="5",route="\/v1\/customers\/:id",.*\} 7$/m);
      for (const worker of [1, 2])
        assert.match(text, new RegExp(`^process_resident_memory_bytes\\{worker="${worker}"\\} \\d+$`, "m"));
      assert.equal(text.match(/^# TYPE tank_monitor_request_duration_seconds /gm)?.length, 1);
    }
  });

  test("each worker runs with the program's flags", { skip: process.platform !== "linux" }, () => {
    for (const { pid } of logEvents(service, "worker_started")) {
      assert.match(readFileSync(`/proc/${pid}/cmdline`, "utf8"), /\0--max-semi-space-size=8\0/);
    }
  });
});

test("several workers on PostgreSQL: all respond, and a revoked key is rejected by each within a second", async (t) => {
  const { url, closeFirst } = await postgresDatabase(t);
  const life = { after: closeFirst };
  const here = workspace(life, { DATABASE_URL: url });
  await importLines(here, SMALL_FLEET);
  await rejectsRevokedKey(here, await connectToAll(life, await here.start(["serve", "--workers", "2"])));
});

suite("starting several workers", { concurrency: 2 }, () => {
  test("WORKERS has the effect of --workers, and the advice for an empty database is printed once", async (t) => {
    const service = await workspace(t).start(["serve"], { env: { WORKERS: "3" } });
    await service.waitForOutput(/The database is empty[\s\S]*\/docs/);
    assert.equal((await get(service, "/readyz")).status, 200);
    const { stderr, code } = await service.stop();
    assert.equal(stderr.match(/The database is empty/g)?.length, 1);
    assert.equal(stderr.match(/"event":"worker_started"/g)?.length, 3);
    assert.equal(code, 0);
  });

  test("a port in use, a foreign address, an unusable database: one line and the exit code of a single process", async (t) => {
    const here = workspace(t);
    const { url } = await here.start();
    const { port } = new URL(url);
    for (const [words, env, message, exitCode] of [
      [["--port", port], {}, new RegExp(`port ${port}.*in use`), 1],
      [["--host", "203.0.113.7"], {}, /203\.0\.113\.7/, 1],
      [[], { DATABASE_URL: "sqlite:." }, /cannot be (opened|created)/, 1],
      [[], { DATABASE_URL: "mysql://root:hunter2@localhost/tanks" }, /DATABASE_URL/, 2],
    ] as const) {
      const { code, stdout, stderr } = await here.spawn(["serve", "--workers", "3", ...words], { env, timeoutMs: 30_000 });
      assert.match(stderr, /^tank-monitor: [^\n]+\n$/);
      assert.match(stderr, message);
      assert.deepEqual([code, stdout], [exitCode, ""]);
    }
    assert.equal((await get({ url }, "/readyz")).status, 200);
  });
});
