// serve --workers: several processes, one service.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, suite, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Mqtt5Broker } from "../support/mqtt5-broker.ts";
import { metricErrors } from "../support/prometheus.ts";
import { until } from "../support/until.ts";
import { createKey, importLines, SMALL_FLEET } from "./fixtures.ts";
import { workspace } from "./program.ts";
import { connectToAll, get, list, logEntries, logEvents, workerPids } from "./requests.ts";
import { expectStopped, startRequests } from "./stopping-workers.ts";

const broker = await new Mqtt5Broker().listen({ after });
const here = workspace({ after });
const service = await here.start(["serve"], { env: { WORKERS: "2", MQTT_URL: `mqtt://127.0.0.1:${broker.port}` } });
const [advice] = await service.waitForOutput(/The database is empty[\s\S]*\/docs.*\n/);
await importLines(here, SMALL_FLEET);
const key = await createKey(here);
const manager = await createKey(here, "--role", "manage");
const all = await connectToAll({ after }, service);

suite("several workers", () => {
  test("WORKERS has the effect of --workers, and the advice for an empty database is printed once", async () => {
    assert.equal((await get(service, "/readyz")).status, 200);
    assert.equal(service.stderr().match(/The database is empty/g)?.length, 1);
    assert.equal(logEvents(service, "worker_started").length, 2);
  });

  test("all respond at one address, which is logged once; each log line is complete and has its worker's number", async () => {
    const [listening, ...more] = logEvents(service, "listening");
    assert.deepEqual([listening?.["workers"], listening?.["url"], more], [2, service.url, []]);
    assert.equal(new Set(logEvents(service, "worker_started").map(({ pid }) => pid)).size, 2);
    await Promise.all(all.flatMap((connection) => Array.from({ length: 50 }, () => connection.get("/v1/tanks", key))));
    const requests = await until("a line for each request", () => {
      const found = logEvents(service, "request").filter(({ route }) => route === "/v1/tanks");
      return found.length >= 100 && found;
    });
    assert.deepEqual(new Set(requests.map(({ worker }) => worker)), new Set([1, 2]));
    const lines = service.stderr().replace(advice, "").split("\n");
    assert.equal(
      logEntries(service).length,
      lines.filter((line) => line !== "").length,
      "nothing but JSON lines beside the advice",
    );
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

  test("a revoked key in constant use is rejected by each worker within a second", async () => {
    const { stdout, stderr } = await here.run(["key", "create", "--name", "to be revoked"]);
    const [secret, [id = ""]] = [stdout.trim(), /key_\w+/.exec(stderr) ?? []];
    for (const connection of all) assert.equal((await connection.get("/v1/tanks", secret)).status, 200);
    const rejectedAt = Promise.all(
      all.map(async (connection) => {
        while ((await connection.get("/v1/tanks", secret)).status === 200) await pause(5);
        return performance.now();
      }),
    );
    await here.launch(["key", "revoke", id]).waitForOutput(/ revoked/);
    const revokedAt = performance.now();
    const milliseconds = (await rejectedAt).map((at) => Math.round(at - revokedAt));
    assert.ok(Math.max(...milliseconds) < 1000, `${milliseconds}`);
  });

  test("/metrics of each worker counts the requests of all", async () => {
    // The number of tanks in a state is kept for half a minute.
    const isSorted = async () => (await list(service, "/insight/v1/fleet?state=low", key)).total_items === 1;
    await until("the fleet is sorted by the readings of the import", isSorted);
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

  test("/metrics of each worker has what is counted in the database once", async () => {
    for (const connection of all) {
      const { text } = await connection.get("/metrics", await createKey(here, "--role", "metrics"));
      const tanks = Array.from(text.matchAll(/^tank_monitor_tanks\{state="(\w+)"\} (\d+)$/gm), ([, state, count]) => [
        state,
        count,
      ]);
      const expected = { low: "1", ok: "0", silent: "1", unknown: "1" };
      assert.deepEqual(Object.fromEntries(tanks), expected);
      assert.equal(tanks.length, 4);
      assert.match(text, /^tank_monitor_pending_readings 0$/m);
      assert.deepEqual(metricErrors(text), []);
    }
  });

  test("each worker runs with the program's flags", { skip: process.platform !== "linux" }, () => {
    for (const { pid } of logEvents(service, "worker_started")) {
      assert.match(readFileSync(`/proc/${pid}/cmdline`, "utf8"), /\0--max-semi-space-size=8\0/);
    }
  });

  test("each message of an external broker is stored once, by the workers that share them", async () => {
    await until("both have subscribed", () => logEvents(service, "broker_connected").length === 2);
    for (let count = 1; count <= 20; count++) {
      broker.publish("tanks/device-a1/readings", `{"fill_percentage":${count}}`);
      await until("it is acknowledged", () => broker.acknowledged.length >= count);
    }
    const telemetry = await list(service, "/v1/tanks/a1/telemetry", key);
    assert.deepEqual([telemetry.total_items, broker.acknowledged.length], [23, 20]);
    assert.equal(logEvents(service, "broker_connected").length, 2);
  });

  test("Ctrl-C, which reaches all processes, twice: requests are completed, exit 0, nothing left behind", async (t) => {
    const workers = [...workerPids(service).values()];
    const finish = await startRequests(t, service, key);
    for (const pid of [...workers, ...workers]) process.kill(pid, "SIGINT");
    service.kill("SIGINT");
    service.kill("SIGINT");
    await service.waitForOutput(/"event":"stopping"/);
    await finish();
    await expectStopped(here, service, workers);
    assert.doesNotMatch(service.stderr(), /"event":"worker_exited"/);
  });
});
