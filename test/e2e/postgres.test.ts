// The commands with DATABASE_URL=postgres://…

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { suite, test } from "node:test";
import { Mqtt5Broker } from "../support/mqtt5-broker.ts";
import { type Database, postgresDatabase, restoredFrom } from "../support/postgres/database.ts";
import type { Lifetime } from "../support/service.ts";
import { until } from "../support/until.ts";
import * as fixtures from "./fixtures.ts";
import { type Workspace, workspace } from "./program.ts";
import { connectToAll, list, logEvents, texts } from "./requests.ts";

const { createKey, DIFFICULT_FLEET, FIVE_PATHS, importLines, manyLines, ndjson, reading, SMALL_FLEET } = fixtures;

type PostgresWorkspace = Workspace & { readonly database: Database };

async function postgresWorkspace(life: Lifetime, database?: Database): Promise<PostgresWorkspace> {
  const own = database ?? (await postgresDatabase(life));
  return { ...workspace({ after: own.closeFirst }, { DATABASE_URL: own.url }), database: own };
}

const CSV = `tank_id,created_at,fill_percentage\n${Array.from({ length: 500 }, (_, i) => `b1,${new Date(Date.UTC(2026, 1) + i * 60_000).toISOString()},${i / 8}\n`).join("")}`;

suite("PostgreSQL", { concurrency: 2 }, () => {
  test("lines and CSV are imported, served, and restored from a backup with keys; importing them again changes nothing", async (t) => {
    const here = await postgresWorkspace(t);
    writeFileSync(here.path("many.ndjson"), ndjson([...DIFFICULT_FLEET, ...manyLines(2000)]));
    writeFileSync(here.path("more.csv"), CSV);
    const count = DIFFICULT_FLEET.length + 2000 + 500;
    const all = `{"read":${count},"new":${count},"changed":0,"unchanged":0,"rejected":0,"pending":0,"assumed_utc":0}\n`;
    const dry = await here.run(["import", "many.ndjson", "more.csv", "--dry-run", "--json"]);
    assert.equal(dry.stdout, all, dry.stderr);
    assert.equal((await here.run(["export"])).stdout, "", "a dry run changes nothing");
    const imported = await here.run(["import", "many.ndjson", "more.csv", "--json"]);
    assert.equal(imported.stdout, all, imported.stderr);
    const key = await createKey(here);
    const service = await here.start();
    const responses = await texts(service, FIVE_PATHS, key);
    assert.equal((await list(service, "/v1/tanks/b1/telemetry", key)).total_items, 501);
    const again = await here.run(["import", "many.ndjson", "more.csv", "--json"]);
    assert.match(again.stdout, new RegExp(`"new":0,"changed":0,"unchanged":${count},"rejected":0`));
    assert.deepEqual(await texts(service, FIVE_PATHS, key), responses);
    const checked = await here.run(["check"]);
    assert.equal(checked.code, 0, checked.stderr);

    const backup = await here.run(["backup", "copy.sql"]);
    assert.deepEqual([backup.code, backup.stdout], [0, ""], backup.stderr);
    await importLines(here, [reading("a1", 9, 1)], "later.ndjson");
    const there = await postgresWorkspace(t, await restoredFrom(here.path("copy.sql"), t));
    assert.deepEqual(await texts(await there.start(), FIVE_PATHS, key), responses);
    await importLines(there, [reading("a1", 9, 1)], "later.ndjson");
    const exported = await Promise.all([here.run(["export"]), there.run(["export"])]);
    assert.equal(exported[0].stdout, exported[1].stdout);

    const { code, stderr } = await service.stop();
    assert.equal(code, 0);
    assert.ok(!stderr.includes(new URL(here.database.url).password), "the password is not logged");
  });

  test("an export from SQLite to PostgreSQL and back loses nothing", async (t) => {
    const here = await postgresWorkspace(t);
    const on = (url: string) => ({ env: { DATABASE_URL: url } });
    writeFileSync(here.path("lines.ndjson"), ndjson(DIFFICULT_FLEET));
    assert.equal((await here.run(["import", "lines.ndjson"], on("sqlite:first.db"))).code, 0);
    assert.equal((await here.run(["export", "first.ndjson"], on("sqlite:first.db"))).code, 0);
    assert.equal((await here.run(["import", "first.ndjson"])).code, 0);
    assert.equal((await here.run(["export", "second.ndjson"])).code, 0);
    assert.equal((await here.run(["import", "second.ndjson"], on("sqlite:third.db"))).code, 0);
    const third = await here.run(["export"], on("sqlite:third.db"));
    // The order differs by engine.
    const sorted = (text: string) => text.split("\n").sort();
    const first = sorted(readFileSync(here.path("first.ndjson"), "utf8"));
    assert.equal(first.filter((line) => !line.includes('"object":"device"')).length, DIFFICULT_FLEET.length + 1);
    assert.deepEqual(sorted(readFileSync(here.path("second.ndjson"), "utf8")), first);
    assert.deepEqual(sorted(third.stdout), first);
  });

  test("two workers on one database give the same responses, store each message once, and reject a rotated key within a second", async (t) => {
    const here = await postgresWorkspace(t);
    await importLines(here, SMALL_FLEET);
    const created = await here.run(["key", "create", "--name", "mine", "--customer", "ada", "--expires", "90d"]);
    const [key, [id = ""]] = [created.stdout.trim(), /key_\w+/.exec(created.stderr) ?? []];
    // Messages of MQTT 3.1.1 cannot be shared: one worker subscribes.
    const broker = await new Mqtt5Broker().listen(t);
    const MQTT_URL = `mqtt://127.0.0.1:${broker.port}?protocol=3.1.1`;
    const service = await here.start(["serve", "--workers", "2"], { env: { MQTT_URL } });
    const workers = await connectToAll({ after: here.database.closeFirst }, service);
    await importLines(here, [reading("a1", 9, 1)], "later.ndjson");
    for (const worker of workers) assert.match((await worker.get("/v1/tanks/a1/telemetry", key)).text, /"total_items":4\}$/);
    const subscribed = () => logEvents(service, "broker_connected").length;
    await until("one has subscribed", () => subscribed() === 1);
    for (let count = 1; count <= 20; count++) {
      broker.publish("tanks/device-a1/readings", `{"fill_percentage":${count}}`);
      await until("it is acknowledged", () => broker.acknowledged.length >= count);
    }
    for (const worker of workers) assert.match((await worker.get("/v1/tanks/a1/telemetry", key)).text, /"total_items":24\}$/);
    assert.deepEqual([subscribed(), broker.acknowledged.length], [1, 20]);
    const rotated = await here.run(["key", "rotate", id, "--overlap", "0s"]);
    assert.equal(rotated.code, 0, rotated.stderr);
    for (const worker of workers) {
      await until("a rejection", async () => (await worker.get("/v1/tanks", key)).status === 401, 1000);
      assert.equal((await worker.get("/v1/tanks", rotated.stdout.trim())).status, 200);
    }
  });

  test("records are created, changed, deleted, restored and provisioned, and all of it is in the audit log", async (t) => {
    const { url, closeFirst } = await postgresDatabase(t);
    const cli = await fixtures.cliOnDatabase({ after: closeFirst }, SMALL_FLEET, { DATABASE_URL: url });

    await cli.output("customer", "create", "--id", "eve", "--name", "Eve", "--email", "eve@x.example");
    await cli.output("tank", "update", "a1", "--owner", "eve", "--device", "device-b1", "--swap");
    await cli.output("customer", "delete", "eve", "--tanks");
    await cli.output("customer", "restore", "eve");
    writeFileSync(cli.workspace.path("x.csv"), "id,min_fill_alert_percentage,profile\na1,90,elsys\nb1,5,\n");
    assert.match(await cli.output("provision", "x.csv"), /tanks: 0 new, 2 changed, 0 unchanged\n$/);
    assert.equal((await cli.items("device", "show", "device-b1"))[0]?.["profile"], "elsys");

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
