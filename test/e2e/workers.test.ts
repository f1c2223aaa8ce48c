// serve --workers: several processes, one service.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, suite, test } from "node:test";
import { postgresDatabase } from "../support/postgres/database.ts";
import { ask } from "./ask.ts";
import { importLines, makeKey, SMALL_FLEET } from "./fleet.ts";
import { type Home, home as homeIn, type Lifetime, type Service, sharedLife } from "./program.ts";
import { type Connection, connectToAll, entries, told, until } from "./workers.ts";

const ENGINES: Readonly<Record<string, (life: Lifetime) => Promise<Record<string, string>>>> = {
  SQLite: async () => ({}),
  PostgreSQL: async (life) => ({ DATABASE_URL: (await postgresDatabase(life)).url }),
};

for (const [engine, settings] of Object.entries(ENGINES))
  suite(`several workers on ${engine}`, () => {
    const life = sharedLife();
    let here: Home;
    let service: Service;
    let key: string;
    let manager: string;
    let all: Connection[];

    before(async () => {
      const home = homeIn(life);
      const env = await settings(life);
      here = { ...home, run: (words) => home.run(words, { env }), launch: (words) => home.launch(words, { env }) };
      await importLines(here, SMALL_FLEET);
      [key, manager] = await Promise.all([makeKey(here), makeKey(here, "--role", "manage")]);
      service = await home.start(["serve", "--workers", "2"], { env });
      all = await connectToAll(life, service);
    });

    test("all answer on one address, which is told once, and every line of the log is whole and says whose it is", async () => {
      assert.deepEqual(
        all.map(({ worker }) => worker),
        [1, 2],
      );
      const [listening, ...more] = told(service, "listening");
      assert.deepEqual([listening?.["workers"], listening?.["url"], more], [2, service.url, []]);
      assert.equal(new Set(told(service, "worker_started").map(({ pid }) => pid)).size, 2);
      await Promise.all(all.map(async ({ ask }) => Promise.all(Array.from({ length: 50 }, () => ask("/v1/tanks", key)))));
      const lines = await until("a line a request", () => {
        const requests = told(service, "request").filter(({ route }) => route === "/v1/tanks");
        return requests.length >= 100 && requests;
      });
      assert.deepEqual(new Set(lines.map(({ worker }) => worker)), new Set([1, 2]));
      assert.equal(entries(service).length, service.stderr().trimEnd().split("\n").length, "there is nothing but whole lines");
    });

    test("a key's limit holds for all of them together, to the request", async () => {
      const rate = 20;
      const limited = await makeKey(here, "--rate", `${rate}`);
      const started = performance.now();
      const asked = all.flatMap((connection) => Array.from({ length: 100 }, () => connection.ask("/v1/tanks", limited)));
      const answers = await Promise.all(asked);
      const refilled = Math.ceil(((performance.now() - started) / 1000) * rate);
      const passed = answers.filter(({ status }) => status === 200).length;
      assert.ok(
        passed >= rate * 2 && passed <= rate * 2 + refilled,
        `${passed} passed of a burst of ${rate * 2} and ${refilled}`,
      );
      const ofEach = all.map((_, i) => answers.slice(i * 100, i * 100 + 100).filter(({ status }) => status === 200).length);
      assert.ok(Math.min(...ofEach) > 0, `each has let some through: ${ofEach}`);
    });

    test("wrong keys from one address are throttled by all of them together", async () => {
      const started = performance.now();
      const answers = await Promise.all(all.flatMap(({ ask }) => Array.from({ length: 60 }, () => ask("/v1/tanks", "tm_wrong"))));
      const refilled = Math.ceil((performance.now() - started) / 1000);
      const toldWrong = answers.filter(({ status }) => status === 401).length;
      assert.ok(toldWrong >= 30 && toldWrong <= 30 + refilled, `${toldWrong} were told that they are wrong`);
      assert.ok(answers.every(({ status }) => status === 401 || status === 429));
      for (const { ask } of all) assert.equal((await ask("/v1/tanks", key)).status, 200);
    });

    test("a revoked key is refused by each of them within a second", async (t) => {
      const { stdout, stderr } = await here.run(["key", "create", "--name", "soon gone"]);
      const [secret, [id = ""]] = [stdout.trim(), /key_\w+/.exec(stderr) ?? []];
      for (const { ask } of all) assert.equal((await ask("/v1/tanks", secret)).status, 200);
      let since: number | undefined;
      const refusedAfter = Promise.all(
        all.map(async ({ ask }) => {
          // It is used all the time, so each has it fresh in memory.
          while ((await ask("/v1/tanks", secret)).status === 200);
          return performance.now();
        }),
      );
      const revoking = here.launch(["key", "revoke", id]);
      await revoking.said(/ revoked/);
      since = performance.now();
      const milliseconds = (await refusedAfter).map((at) => Math.round(at - since));
      t.diagnostic(`refused ${milliseconds} ms after the command said so`);
      assert.ok(Math.max(...milliseconds) < 1000, `${milliseconds}`);
    });

    test("/metrics tells of all of them, whoever is asked", async () => {
      const line =
        /^tank_monitor_request_duration_seconds_count\{route="\/v1\/customers\/:id",method="GET",status="200"\} (\d+)$/m;
      for (const [i, { ask }] of all.entries()) {
        for (let n = 0; n < 3 + i; n++) assert.equal((await ask("/v1/customers/ada", key)).status, 200);
      }
      for (const { ask } of all) {
        const { status, text } = await ask("/metrics", manager);
        assert.equal(status, 200);
        assert.equal(line.exec(text)?.[1], "7", "3 of one and 4 of the other");
        assert.match(text, /^tank_monitor_request_duration_seconds_bucket\{le="5",route="\/v1\/customers\/:id",.*\} 7$/m);
        for (const worker of [1, 2])
          assert.match(text, new RegExp(`^process_resident_memory_bytes\\{worker="${worker}"\\} \\d+$`, "m"));
        assert.equal(text.match(/^# TYPE tank_monitor_request_duration_seconds /gm)?.length, 1);
      }
    });

    test("each runs with the flags of the program", { skip: process.platform !== "linux" }, () => {
      for (const { pid } of told(service, "worker_started")) {
        assert.match(readFileSync(`/proc/${pid}/cmdline`, "utf8"), /\0--max-semi-space-size=8\0/);
      }
    });
  });

suite("starting several workers", { concurrency: 2 }, () => {
  test("WORKERS does the same as --workers, and an empty database is told of once", async (t) => {
    const service = await homeIn(t).start(["serve"], { env: { WORKERS: "3" } });
    await service.said(/The database is empty[\s\S]*\/docs/);
    assert.equal((await ask(service, "/readyz")).status, 200);
    const { stderr, code } = await service.stop();
    assert.equal(stderr.match(/The database is empty/g)?.length, 1);
    assert.equal(stderr.match(/"event":"worker_started"/g)?.length, 3);
    assert.equal(code, 0);
  });

  const more = { patience: 30_000 };
  const complaint = /^tank-monitor: [^\n]+\n$/;

  test("a port in use, an address of elsewhere, no database: one line and exit 1, as with one process", async (t) => {
    const here = homeIn(t);
    const { url } = await here.start();
    const { port } = new URL(url);
    for (const [words, env, says] of [
      [["--port", port], {}, new RegExp(`port ${port}.*in use`)],
      [["--host", "203.0.113.7"], {}, /203\.0\.113\.7/],
      [["--host", "no-such-host.invalid"], {}, /no-such-host\.invalid/],
      [[], { DATABASE_URL: "sqlite:." }, /cannot be (opened|created)/],
    ] as const) {
      const { code, stdout, stderr } = await here.run(["serve", "--workers", "3", ...words], { env, ...more });
      assert.match(stderr, complaint);
      assert.match(stderr, says);
      assert.deepEqual([code, stdout], [1, ""]);
    }
    assert.equal((await ask({ url }, "/readyz")).status, 200);
  });

  test("a database of another kind is a wrong call: one line and exit 2", async (t) => {
    const env = { DATABASE_URL: "mysql://root:hunter2@localhost/tanks" };
    const { code, stderr } = await homeIn(t).run(["serve", "--workers", "2"], { env, ...more });
    assert.match(stderr, complaint);
    assert.equal(code, 2);
  });
});
