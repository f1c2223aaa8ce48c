// The commands with DATABASE_URL=postgres://…

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { suite, test } from "node:test";
import { type Database, postgresDatabase, restoredFrom } from "../support/postgres/database.ts";
import {
  cliOnDatabase,
  createKey,
  customer,
  FIVE_PATHS,
  importLines,
  manyLines,
  ndjson,
  reading,
  SMALL_FLEET,
  tank,
} from "./fixtures.ts";
import { type Lifetime, type Workspace, workspace } from "./program.ts";
import { list, statusOf, texts, waitForStatus } from "./requests.ts";

type PostgresWorkspace = Workspace & { readonly database: Database };

async function postgresWorkspace(life: Lifetime, database?: Database): Promise<PostgresWorkspace> {
  const own = database ?? (await postgresDatabase(life));
  return { ...workspace({ after: own.closeFirst }, { DATABASE_URL: own.url }), database: own };
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

suite("PostgreSQL", { concurrency: 2 }, () => {
  test("lines and CSV are imported and served, and importing them again changes nothing", async (t) => {
    const here = await postgresWorkspace(t);
    writeFileSync(here.path("many.ndjson"), ndjson([...DIFFICULT, ...manyLines(20_000)]));
    writeFileSync(here.path("more.csv"), CSV);
    const count = DIFFICULT.length + 20_000 + 500;
    const dry = await here.run(["import", "many.ndjson", "more.csv", "--dry-run", "--json"]);
    assert.equal(dry.stdout, `{"read":${count},"new":${count},"changed":0,"unchanged":0,"rejected":0,"waiting":0}\n`, dry.stderr);
    assert.equal((await here.run(["export"])).stdout, "", "a dry run changes nothing");

    const imported = await here.run(["import", "many.ndjson", "more.csv", "--json"]);
    assert.equal(
      imported.stdout,
      `{"read":${count},"new":${count},"changed":0,"unchanged":0,"rejected":0,"waiting":0}\n`,
      imported.stderr,
    );
    const key = await createKey(here);
    const service = await here.start();
    const responses = await texts(service, FIVE_PATHS, key);
    assert.equal((await list(service, "/v1/tanks/b1/telemetry", key)).total_items, 501);
    assert.equal((await list(service, "/v1/tanks/tank-7/telemetry?page=2&size=100", key)).data.length, 99);

    const again = await here.run(["import", "many.ndjson", "more.csv", "--json"]);
    assert.match(again.stdout, new RegExp(`"new":0,"changed":0,"unchanged":${count},"rejected":0`));
    assert.deepEqual(await texts(service, FIVE_PATHS, key), responses);
    const checked = await here.run(["check"]);
    assert.equal(checked.code, 0, checked.stderr);
    const { code, stderr } = await service.stop();
    assert.equal(code, 0);
    assert.ok(!stderr.includes(new URL(here.database.url).password), "the password is not logged");
  });

  test("an export from SQLite to PostgreSQL and back loses nothing", async (t) => {
    const here = await postgresWorkspace(t);
    const on = (url: string) => ({ env: { DATABASE_URL: url } });
    writeFileSync(here.path("lines.ndjson"), ndjson(DIFFICULT));
    assert.equal((await here.run(["import", "lines.ndjson"], on("sqlite:first.db"))).code, 0);
    assert.equal((await here.run(["export", "first.ndjson"], on("sqlite:first.db"))).code, 0);
    assert.equal((await here.run(["import", "first.ndjson"])).code, 0);
    assert.equal((await here.run(["export", "second.ndjson"])).code, 0);
    assert.equal((await here.run(["import", "second.ndjson"], on("sqlite:third.db"))).code, 0);
    const third = await here.run(["export"], on("sqlite:third.db"));
    // The order differs by engine.
    const sorted = (text: string) => text.split("\n").sort();
    const first = sorted(readFileSync(here.path("first.ndjson"), "utf8"));
    assert.equal(first.filter((line) => !line.includes('"object":"device"')).length, DIFFICULT.length + 1);
    assert.deepEqual(sorted(readFileSync(here.path("second.ndjson"), "utf8")), first);
    assert.deepEqual(sorted(third.stdout), first);
  });

  test("keys are created, rotated and listed", async (t) => {
    const here = await postgresWorkspace(t);
    await importLines(here, SMALL_FLEET);
    const made = await here.run(["key", "create", "--name", "mine", "--customer", "ada", "--expires", "90d"]);
    const [id = ""] = /key_\w+/.exec(made.stderr) ?? [];
    const service = await here.start();
    assert.equal((await list(service, "/v1/tanks", made.stdout.trim())).total_items, 2);
    const rotated = await here.run(["key", "rotate", id, "--overlap", "0s"]);
    assert.equal(rotated.code, 0, rotated.stderr);
    await waitForStatus(service, made.stdout.trim(), 401, 1000);
    assert.equal(await statusOf(service, rotated.stdout.trim()), 200);
    const listed = (await here.run(["key", "list", "--json"])).stdout.trimEnd().split("\n");
    assert.equal(listed.length, 2);
    assert.ok(!listed.join("").includes(rotated.stdout.trim()));
  });

  test("two services on one database give the same responses, and reject a revoked key within a second", async (t) => {
    const here = await postgresWorkspace(t);
    await importLines(here, SMALL_FLEET);
    const made = await here.run(["key", "create", "--name", "shared"]);
    const key = made.stdout.trim();
    const [id = ""] = /key_\w+/.exec(made.stderr) ?? [];
    const services = await Promise.all([here.start(), here.start()]);
    const [one, other] = await Promise.all(services.map((service) => texts(service, FIVE_PATHS, key)));
    assert.deepEqual(one, other);
    await importLines(here, [reading("a1", 9, 1)], "later.ndjson");
    for (const service of services) assert.equal((await list(service, "/v1/tanks/a1/telemetry", key)).total_items, 4);
    const revoking = here.launch(["key", "revoke", id]);
    await revoking.waitForOutput(/ revoked/);
    await Promise.all(services.map((service) => waitForStatus(service, key, 401, 1000)));
  });

  test("a backup of a running service restores everything in a new database, with keys", async (t) => {
    const here = await postgresWorkspace(t);
    await importLines(here, DIFFICULT);
    const key = await createKey(here);
    const responses = await texts(await here.start(), FIVE_PATHS, key);
    const made = await here.run(["backup", "copy.sql"]);
    assert.deepEqual([made.code, made.stdout], [0, ""], made.stderr);
    await importLines(here, [reading("a1", 9, 1)], "later.ndjson");

    const there = await postgresWorkspace(t, await restoredFrom(here.path("copy.sql"), t));
    assert.deepEqual(await texts(await there.start(), FIVE_PATHS, key), responses);
    await importLines(there, [reading("a1", 9, 1)], "later.ndjson");
    const exported = await Promise.all([here.run(["export"]), there.run(["export"])]);
    assert.equal(exported[0].stdout, exported[1].stdout);

    const nowhere = await here.run(["backup", "no/such/folder/copy.sql"], { timeoutMs: 15_000 });
    assert.match(nowhere.stderr, /^tank-monitor: cannot write [^\n]+: no such folder: no\/such\/folder\n$/);
    assert.equal(nowhere.code, 1);
    assert.ok(!existsSync(here.path("no")));
  });

  test("the demo runs on an empty database, and refuses one with records", async (t) => {
    const here = await postgresWorkspace(t);
    const demo = here.launch(["demo"]);
    const [, url = "", key = ""] = await demo.waitForOutput(/(http:\/\/[\w.:]+)[\s\S]*?(tm_[0-9A-Za-z]{36})/);
    for (const path of ["/v1/customers", "/v1/tanks"]) assert.ok((await list({ url }, path, key)).total_items > 100);
    demo.kill("SIGTERM");
    assert.equal((await demo.exited).code, 0);
    const other = await postgresWorkspace(t);
    await importLines(other, SMALL_FLEET);
    const { code, stderr } = await other.spawn(["demo"]);
    assert.equal(code, 1);
    assert.match(stderr, /empty/);
  });

  test("records are created, changed, deleted, restored and provisioned, and all of it is in the audit log", async (t) => {
    const { url, closeFirst } = await postgresDatabase(t);
    const cli = await cliOnDatabase({ after: closeFirst }, SMALL_FLEET, { DATABASE_URL: url });

    await cli.output("customer", "create", "--id", "eve", "--name", "Eve", "--email", "eve@x.example");
    await cli.output("tank", "update", "a1", "--owner", "eve", "--device", "device-b1", "--swap");
    await cli.output("customer", "delete", "eve", "--tanks");
    await cli.output("customer", "restore", "eve");
    writeFileSync(cli.workspace.path("x.csv"), "id,min_fill_alert_percentage\na1,90\nb1,5\n");
    assert.match(await cli.output("provision", "x.csv"), /tanks: 0 new, 2 changed, 0 unchanged\n$/);

    const fleet = await cli.items("fleet");
    assert.deepEqual(
      fleet.map(({ id, margin }) => [id, margin]),
      [
        ["a1", -10.75],
        ["b1", 7],
        ["a2", null],
      ],
    );
    assert.deepEqual(
      (await cli.items("tank", "list", "--device", "device-a1")).map(({ id }) => id),
      ["b1"],
    );
    assert.deepEqual((await cli.items("audit", "--id", "a1", "--by", "command line")).map(({ action }) => action).slice(0, 4), [
      "changed",
      "restored",
      "deleted",
      "changed",
    ]);
    assert.match(await cli.output("key", "create", "--name", "x", "--customer", "eve"), /^tm_\w{36}\n$/);
    assert.deepEqual(
      (await cli.items("key", "list")).map(({ customer_id, state }) => [customer_id, state]),
      [["eve", "active"]],
    );
  });
});
