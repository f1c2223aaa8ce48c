import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { suite, test } from "node:test";
import { ask, statusOf } from "./ask.ts";
import { importLines, makeKey, SMALL_FLEET } from "./fleet.ts";
import { type Finished, type Home, home } from "./program.ts";

function complainsOnce({ code, stderr, stdout }: Finished, says: RegExp, exitCode = 1): void {
  assert.match(stderr, /^tank-monitor: [^\n]+\n$/, "one line");
  assert.match(stderr, says);
  assert.deepEqual([code, stdout], [exitCode, ""]);
}

const serve = (here: Home, env: Record<string, string>): Promise<Finished> => here.run(["serve"], { env, patience: 30_000 });

suite("starting the service", { concurrency: 2 }, () => {
  test("an empty database: the service says what to do next", async (t) => {
    const service = await home(t).start();
    const [steps] = await service.said(/The database is empty[\s\S]*\/docs/);
    for (const command of ["customer create", "tank create", "key create", "provision", "import", "demo"])
      assert.match(steps, new RegExp(`npx tank-monitor ${command}`));
    assert.match(steps, new RegExp(`${service.url}/docs`));
    assert.equal((await ask(service, "/readyz")).status, 200);
  });

  test("a database that has something in it: no such advice, and the first answer comes quickly", async (t) => {
    const here = home(t);
    await importLines(here, SMALL_FLEET);
    const key = await makeKey(here);
    const started = performance.now();
    const service = await here.start();
    assert.equal(await statusOf(service, key), 200);
    const milliseconds = Math.round(performance.now() - started);
    t.diagnostic(`first answer after ${milliseconds} ms`);
    assert.ok(milliseconds < 3000, `${milliseconds} ms`);
    assert.doesNotMatch(service.stderr(), /empty/);
  });

  test("a port in use is one clear line, exit 1; the service that has it goes on", async (t) => {
    const here = home(t);
    const first = await here.start();
    const { port } = new URL(first.url);
    complainsOnce(await serve(here, { PORT: port }), new RegExp(`port ${port}.*in use`));
    for (const WORKERS of ["1", "2"]) {
      complainsOnce(await serve(here, { PORT: "0", MQTT: port, WORKERS }), new RegExp(`port ${port}.*in use`));
    }
    assert.equal((await ask(first, "/readyz")).status, 200);
  });

  test("a database that is not ours, no database, or a newer one's: one clear line, exit 1, and the file is left alone", async (t) => {
    const here = home(t);
    const foreign = new DatabaseSync(here.path("foreign.db"));
    foreign.exec("CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('mine')");
    foreign.close();
    writeFileSync(here.path("letter.db"), "Dear reader, this is no database.\n".repeat(50));
    await here.run(["key", "list"], { env: { DATABASE_URL: "sqlite:newer.db" } });
    const newer = new DatabaseSync(here.path("newer.db"));
    newer.exec("PRAGMA user_version = 1000");
    newer.close();

    for (const [name, says] of [
      ["foreign.db", /foreign\.db.*not one of Tank Monitor's/],
      ["letter.db", /letter\.db is not a database/],
      ["newer.db", /newer\.db.*newer/],
    ] as const) {
      const before = readFileSync(here.path(name));
      complainsOnce(await serve(here, { DATABASE_URL: `sqlite:${name}` }), says);
      assert.ok(readFileSync(here.path(name)).equals(before), `${name} is as it was`);
    }
  });

  test("a database in a place that cannot be: one clear line, exit 1", async (t) => {
    const here = home(t);
    writeFileSync(here.path("file"), "");
    for (const place of ["file/tanks.db", "."]) {
      complainsOnce(await serve(here, { DATABASE_URL: `sqlite:${place}` }), /cannot be (opened|created)/);
    }
  });

  test("services that start at once on a new database all come up", async (t) => {
    const here = home(t);
    for (let round = 0; round < 2; round++) {
      const more = { env: { DATABASE_URL: `sqlite:new/${round}/tanks.db` } };
      const services = await Promise.all([1, 2, 3].map(() => here.start(["serve"], more)));
      const statuses = await Promise.all(services.map(async (service) => (await ask(service, "/readyz")).status));
      assert.deepEqual(statuses, [200, 200, 200]);
      await Promise.all(services.map(({ stop }) => stop()));
    }
  });
});
