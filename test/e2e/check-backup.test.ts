// check and backup.

import assert from "node:assert/strict";
import { copyFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { suite, test } from "node:test";
import { until } from "../support/until.ts";
import {
  createKey,
  customer,
  FIVE_PATHS,
  importLines,
  jsonLines,
  manyLines,
  ndjson,
  reading,
  SMALL_FLEET,
  tank,
} from "./fixtures.ts";
import { type Workspace, workspace } from "./program.ts";
import { get, list, texts } from "./requests.ts";

function corrupt({ path }: Workspace, sql: string): void {
  const db = new DatabaseSync(path("tanks.db"), { timeout: 5000, enableForeignKeyConstraints: false });
  db.exec(sql);
  db.close();
}

suite("check", () => {
  test("a valid database: nothing on stdout, counts on stderr, exit 0", async (t) => {
    const here = workspace(t);
    await importLines(here, SMALL_FLEET);
    for (const words of [["check"], ["check", "--repair"], ["check", "--json"]]) {
      const { code, stdout, stderr } = await here.run(words);
      assert.deepEqual([code, stdout, stderr], [0, "", "checked 3 customers, 4 tanks, 4 readings: no errors\n"]);
    }
  });

  test("each error is a line, exit 1; only --repair changes anything, and exits with 0", async (t) => {
    const here = workspace(t);
    await importLines(here, SMALL_FLEET);
    corrupt(here, "UPDATE customer SET tank_count = 9 WHERE id = 'ada'; UPDATE head SET total = 30 WHERE total = 3");
    const found = "customer ada: it has 2 tanks, tank_count says 9\ntank a1: it has 3 readings, the total says 30\n";
    for (let i = 0; i < 2; i++) {
      const { code, stdout, stderr } = await here.run(["check"]);
      assert.deepEqual([code, stdout], [1, found]);
      assert.match(stderr, /^checked 3 customers, 4 tanks, 4 readings: 2 errors\n[^\n]*--repair[^\n]*\n$/);
    }
    const json = await here.run(["check", "--json"]);
    assert.deepEqual(jsonLines(json.stdout), [
      { where: "customer ada", what: "it has 2 tanks, tank_count says 9", repaired: false },
      { where: "tank a1", what: "it has 3 readings, the total says 30", repaired: false },
    ]);
    const repaired = await here.run(["check", "--repair"]);
    assert.deepEqual([repaired.code, repaired.stdout], [0, found.replaceAll("\n", " (repaired)\n")]);
    assert.match(repaired.stderr, /: 2 errors, 2 repaired\nchecking again\nchecked .*: no errors\n$/);
    assert.equal((await here.run(["check"])).code, 0);
  });

  test("an error that cannot be repaired has advice, and exit 1 remains", async (t) => {
    const here = workspace(t);
    await importLines(here, SMALL_FLEET);
    corrupt(here, "UPDATE tank SET capacity = -1 WHERE id = 'b1'; UPDATE customer SET tank_count = 0 WHERE id = 'bob'");
    const { code, stdout, stderr } = await here.run(["check", "--repair"]);
    assert.equal(code, 1);
    assert.match(stdout, /^customer bob: .* \(repaired\)\ntank b1: capacity: must be above 0; correct it and import it again\n$/);
    assert.match(stderr, /: 2 errors, 1 repaired\n$/);
    await importLines(here, [tank("b1", "bob", { capacity: 5 })], "right.ndjson");
    assert.equal((await here.run(["check"])).code, 0);
  });

  test("during an import, with a running service, it finds no errors", async (t) => {
    const here = workspace(t);
    await importLines(here, manyLines(5000), "first.ndjson");
    const key = await createKey(here);
    const service = await here.start();
    writeFileSync(here.path("more.ndjson"), ndjson(manyLines(60_000)));
    const importing = here.launch(["import", "more.ndjson"]).exited;
    let isDone = false;
    void importing.finally(() => {
      isDone = true;
    });
    for (let checks = 0; !isDone || checks < 2; checks++) {
      const { code, stdout, stderr } = await here.run(["check", checks % 2 === 0 ? "--json" : "--repair"]);
      assert.deepEqual([code, stdout], [0, ""], stderr);
    }
    assert.equal((await importing).code, 0);
    assert.equal((await list(service, "/v1/tanks", key)).total_items, 100);
    assert.equal((await service.stop()).code, 0);
  });

  test("a running service sees a repair", async (t) => {
    const here = workspace(t);
    const readings = Array.from({ length: 1000 }, (_, i) => reading("t", i, i % 101));
    await importLines(here, [customer("c"), tank("t", "c"), ...readings]);
    const key = await createKey(here);
    const service = await here.start();
    const path = `/v1/tanks/t/telemetry?created_at_gte=${reading("t", 1, 0)["created_at"]}`;
    corrupt(here, "UPDATE head SET total = 7; DELETE FROM reading_index");
    assert.equal((await list(service, "/v1/tanks/t/telemetry", key)).total_items, 7);
    const refused = await get(service, path, key);
    assert.equal(refused.status, 500, "rather no response than a wrong one");
    assert.equal((await here.run(["check", "--repair"])).code, 0);
    assert.equal((await list(service, path, key)).total_items, 999);
    assert.match((await service.stop()).stderr, /the rank index is damaged .* check --repair/);
  });
});

suite("a backup", () => {
  test("a backup during an import is a consistent snapshot, and can be served", async (t) => {
    const here = workspace(t);
    const lines = ndjson(manyLines(80_000));
    writeFileSync(here.path("many.ndjson"), lines);
    const key = await createKey(here);
    const importing = here.launch(["import", "many.ndjson", "--json"]);
    await until("the import has begun", () => statSync(here.path("tanks.db")).size > 100_000, 30_000);
    const { code, stderr, stdout } = await here.run(["backup", "copy.db"]);
    assert.deepEqual([code, stdout], [0, ""], stderr);
    const imported = await importing.exited;
    assert.match(imported.stdout, /"read":80000,"new":80000/, "the import was not interrupted");
    assert.deepEqual(readdirSync(here.folder).sort(), ["copy.db", "many.ndjson", "tanks.db"]);

    const copy = new DatabaseSync(here.path("copy.db"), { readOnly: true });
    assert.deepEqual({ ...copy.prepare("PRAGMA integrity_check").get() }, { integrity_check: "ok" });
    assert.deepEqual(copy.prepare("PRAGMA foreign_key_check").all(), []);
    copy.close();

    const from = { env: { DATABASE_URL: "sqlite:copy.db" } };
    const exported = (await here.run(["export"], from)).stdout;
    const readings = Map.groupBy(exported.matchAll(/^\{"object":"telemetry","tank_id":"([^"]+)"/gm), ([, tank]) => tank);
    t.diagnostic(`the backup holds ${exported.split("\n").length - 1} of 80000 lines`);
    const service = await here.start(["serve"], from);
    const tanks = await list(service, "/v1/tanks?size=1", key);
    assert.equal(tanks.total_items, exported.match(/^\{"id":"tank-/gm)?.length ?? 0);
    for (const id of tanks.total_items > 0 ? ["tank-0", "tank-99"] : []) {
      const { total_items } = await list(service, `/v1/tanks/${id}/telemetry`, key);
      assert.equal(total_items, readings.get(id)?.length ?? 0);
    }
  });

  test("a backup put in place as backup --help says restores its state, after a crash too", async (t) => {
    const here = workspace(t);
    const { stdout: help } = await here.run(["backup", "--help"]);
    for (const step of [/stop the service/, /in the place of the database/, /-wal and\s+-shm/, /start the service/]) {
      assert.match(help, step);
    }
    await importLines(here, SMALL_FLEET);
    const key = await createKey(here);
    const first = await here.start();
    const before = await texts(first, FIVE_PATHS, key);
    assert.equal((await here.run(["backup", "copy.db"])).code, 0);
    const again = await here.run(["backup", "copy.db"]);
    assert.deepEqual(
      [again.code, /^tank-monitor: copy\.db [^\n]+\n$/.test(again.stderr)],
      [1, true],
      "a file is not overwritten",
    );
    await importLines(here, [reading("a1", 9, 1)], "later.ndjson");
    assert.notDeepEqual(await texts(first, FIVE_PATHS, key), before);
    first.kill("SIGKILL");
    await first.exited;

    copyFileSync(here.path("copy.db"), here.path("tanks.db"));
    for (const end of ["-wal", "-shm"]) rmSync(here.path(`tanks.db${end}`), { force: true });
    const second = await here.start();
    assert.deepEqual(await texts(second, FIVE_PATHS, key), before);
  });
});
