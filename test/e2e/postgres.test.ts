// Every command with DATABASE_URL=postgres://…

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { suite, test } from "node:test";
import { type Database, postgresDatabase, restoredFrom } from "../support/postgres/database.ts";
import { ask, list, statusOf, untilStatus } from "./ask.ts";
import { customer, FIVE_CALLS, importLines, makeKey, manyLines, ndjson, reading, SMALL_FLEET, tank } from "./fleet.ts";
import { type Home, home, type Lifetime } from "./program.ts";

/** A folder to run the program in, with PostgreSQL for its database. */
async function postgresHome(life: Lifetime, database?: Database): Promise<Home & { database: Database }> {
  const own = database ?? (await postgresDatabase(life));
  const here = home({ after: own.closeFirst });
  const on = { DATABASE_URL: own.url };
  return {
    ...here,
    database: own,
    run: (words, more) => here.run(words, { ...more, env: { ...on, ...more?.env } }),
    launch: (words, more) => here.launch(words, { ...more, env: { ...on, ...more?.env } }),
    start: (words, more) => here.start(words, { ...more, env: { ...on, ...more?.env } }),
  };
}

const DIFFICULT = [
  ...SMALL_FLEET,
  customer("ünï·cøde 🛢", { email: "zoë@söhne.example", name: 'Zoë "the Tank" O\u2019Brien \\ Söhne\\N', phone: "\\." }),
  customer("early", { created_at: "1969-12-31T23:59:59.999Z", updated_at: "2026-01-01T00:00:00.001Z" }),
  tank("of,a\"strange'name\\t", "ünï·cøde 🛢", { capacity: 0.1, location: { latitude: -89.999999, longitude: 180 } }),
  ...Array.from({ length: 300 }, (_, i) => reading("of,a\"strange'name\\t", i, i / 3)),
  reading("scrapped", 5, 7),
  { object: "telemetry", tank_id: "a2", created_at: "1970-01-01T00:00:00.000Z", fill_percentage: 0 },
];

const CSV = `tank_id,created_at,fill_percentage\n${Array.from({ length: 500 }, (_, i) => `b1,${new Date(Date.UTC(2026, 1) + i * 60_000).toISOString()},${i / 8}\n`).join("")}`;

const answersOf = (service: { url: string }, key: string) =>
  Promise.all(FIVE_CALLS.map(async (path) => (await ask(service, path, key)).text));

suite("PostgreSQL", { concurrency: 2 }, () => {
  test("import of lines and of CSV, serve, and the same files again change nothing", async (t) => {
    const here = await postgresHome(t);
    writeFileSync(here.path("many.ndjson"), ndjson([...DIFFICULT, ...manyLines(20_000)]));
    writeFileSync(here.path("more.csv"), CSV);
    const count = DIFFICULT.length + 20_000 + 500;
    const tried = await here.run(["import", "many.ndjson", "more.csv", "--dry-run", "--json"]);
    assert.equal(
      tried.stdout,
      `{"read":${count},"new":${count},"changed":0,"unchanged":0,"rejected":0,"waiting":0}\n`,
      tried.stderr,
    );
    assert.equal((await here.run(["export"])).stdout, "", "a dry run leaves nothing");

    const taken = await here.run(["import", "many.ndjson", "more.csv", "--json"]);
    assert.equal(
      taken.stdout,
      `{"read":${count},"new":${count},"changed":0,"unchanged":0,"rejected":0,"waiting":0}\n`,
      taken.stderr,
    );
    const key = await makeKey(here);
    const service = await here.start();
    const answers = await answersOf(service, key);
    assert.equal((await list(service, "/v1/tanks/b1/telemetry", key)).total_items, 501);
    assert.equal((await list(service, "/v1/tanks/tank-7/telemetry?page=2&size=100", key)).data.length, 99);

    const again = await here.run(["import", "many.ndjson", "more.csv", "--json"]);
    assert.match(again.stdout, new RegExp(`"new":0,"changed":0,"unchanged":${count},"rejected":0`));
    assert.deepEqual(await answersOf(service, key), answers);
    const checked = await here.run(["check"]);
    assert.equal(checked.code, 0, checked.stderr);
    const { code, stderr } = await service.stop();
    assert.equal(code, 0);
    assert.ok(!stderr.includes(new URL(here.database.url).password), "the log does not tell the password");
  });

  test("from SQLite to PostgreSQL and back, everything is the same", async (t) => {
    const here = await postgresHome(t);
    const on = (url: string) => ({ env: { DATABASE_URL: url } });
    writeFileSync(here.path("lines.ndjson"), ndjson(DIFFICULT));
    assert.equal((await here.run(["import", "lines.ndjson"], on("sqlite:first.db"))).code, 0);
    assert.equal((await here.run(["export", "first.ndjson"], on("sqlite:first.db"))).code, 0);
    assert.equal((await here.run(["import", "first.ndjson"])).code, 0);
    assert.equal((await here.run(["export", "second.ndjson"])).code, 0);
    assert.equal((await here.run(["import", "second.ndjson"], on("sqlite:third.db"))).code, 0);
    const third = await here.run(["export"], on("sqlite:third.db"));
    // Each engine has an order of its own.
    const sorted = (text: string) => text.split("\n").sort();
    const first = sorted(readFileSync(here.path("first.ndjson"), "utf8"));
    assert.equal(first.filter((line) => !line.includes('"object":"device"')).length, DIFFICULT.length + 1);
    assert.deepEqual(sorted(readFileSync(here.path("second.ndjson"), "utf8")), first);
    assert.deepEqual(sorted(third.stdout), first);
  });

  test("keys are made, listed, rotated and revoked", async (t) => {
    const here = await postgresHome(t);
    await importLines(here, SMALL_FLEET);
    const made = await here.run(["key", "create", "--name", "mine", "--customer", "ada", "--expires", "90d"]);
    const [id = ""] = /key_\w+/.exec(made.stderr) ?? [];
    const service = await here.start();
    assert.equal((await list(service, "/v1/tanks", made.stdout.trim())).total_items, 2);
    const rotated = await here.run(["key", "rotate", id, "--overlap", "0s"]);
    assert.equal(rotated.code, 0, rotated.stderr);
    await untilStatus(service, made.stdout.trim(), 401, 1000);
    assert.equal(await statusOf(service, rotated.stdout.trim()), 200);
    const listed = (await here.run(["key", "list", "--json"])).stdout.trimEnd().split("\n");
    assert.equal(listed.length, 2);
    assert.ok(!listed.join("").includes(rotated.stdout.trim()));
  });

  test("two services on one database: what one is told, the other knows; a revoked key within a second", async (t) => {
    const here = await postgresHome(t);
    await importLines(here, SMALL_FLEET);
    const made = await here.run(["key", "create", "--name", "shared"]);
    const key = made.stdout.trim();
    const [id = ""] = /key_\w+/.exec(made.stderr) ?? [];
    const services = await Promise.all([here.start(), here.start()]);
    const [one, other] = await Promise.all(services.map((service) => answersOf(service, key)));
    assert.deepEqual(one, other);
    await importLines(here, [reading("a1", 9, 1)], "later.ndjson");
    for (const service of services) assert.equal((await list(service, "/v1/tanks/a1/telemetry", key)).total_items, 4);
    const revoking = here.launch(["key", "revoke", id]);
    await revoking.said(/ revoked/);
    await Promise.all(services.map((service) => untilStatus(service, key, 401, 1000)));
  });

  test("a backup, made while the service runs, brings everything back in a new database, keys too", async (t) => {
    const here = await postgresHome(t);
    await importLines(here, DIFFICULT);
    const key = await makeKey(here);
    const answers = await answersOf(await here.start(), key);
    const started = performance.now();
    const made = await here.run(["backup", "copy.sql"]);
    assert.ok(performance.now() - started < 8000, "it ends when it is done");
    assert.deepEqual([made.code, made.stdout], [0, ""], made.stderr);
    await importLines(here, [reading("a1", 9, 1)], "later.ndjson");

    const there = await postgresHome(t, await restoredFrom(here.path("copy.sql"), t));
    assert.deepEqual(await answersOf(await there.start(), key), answers);
    await importLines(there, [reading("a1", 9, 1)], "later.ndjson");
    const exported = await Promise.all([here.run(["export"]), there.run(["export"])]);
    assert.equal(exported[0].stdout, exported[1].stdout);

    const nowhere = await here.run(["backup", "no/such/folder/copy.sql"], { patience: 15_000 });
    assert.match(nowhere.stderr, /^tank-monitor: cannot write [^\n]+: no such folder: no\/such\/folder\n$/);
    assert.equal(nowhere.code, 1);
    assert.ok(!existsSync(here.path("no")));
  });

  test("the demo lives on an empty database, and leaves another alone", async (t) => {
    const here = await postgresHome(t);
    const demo = here.launch(["demo"]);
    const [, url = "", key = ""] = await demo.said(/(http:\/\/[\w.:]+)[\s\S]*?(tm_[0-9A-Za-z]{36})/);
    for (const path of ["/v1/customers", "/v1/tanks"]) assert.ok((await list({ url }, path, key)).total_items > 100);
    demo.kill("SIGTERM");
    assert.equal((await demo.ended).code, 0);
    const other = await postgresHome(t);
    await importLines(other, SMALL_FLEET);
    const refused = await other.run(["demo"]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /empty/);
  });
});
