import assert from "node:assert/strict";
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { suite, test } from "node:test";
import { createKey, FIVE_PATHS, importLines, manyLines, ndjson, reading, SMALL_FLEET } from "./fixtures.ts";
import { workspace } from "./program.ts";
import { get, list } from "./requests.ts";

suite("a backup", { concurrency: 2 }, () => {
  test("a backup made while an import runs is whole, of one moment, and can be served from", async (t) => {
    const here = workspace(t);
    const lines = ndjson(manyLines(80_000));
    writeFileSync(here.path("many.ndjson"), lines);
    const key = await createKey(here);
    const importing = here.launch(["import", "many.ndjson", "--json"]);
    await new Promise((resolve) => setTimeout(resolve, 400));
    const { code, stderr, stdout } = await here.run(["backup", "copy.db"]);
    assert.deepEqual([code, stdout], [0, ""], stderr);
    const imported = await importing.exited;
    assert.match(imported.stdout, /"read":80000,"new":80000/, "the import was not disturbed");
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

  test("a backup overwrites nothing", async (t) => {
    const here = workspace(t);
    await importLines(here, SMALL_FLEET);
    writeFileSync(here.path("precious"), "precious");
    const { code, stderr } = await here.run(["backup", "precious"]);
    assert.equal(code, 1);
    assert.match(stderr, /^tank-monitor: precious [^\n]+\n$/);
    assert.equal(readFileSync(here.path("precious"), "utf8"), "precious");
  });

  test("a backup put back as backup --help says brings that moment back, after a crash too", async (t) => {
    const here = workspace(t);
    const { stdout: help } = await here.run(["backup", "--help"]);
    for (const step of [/stop the service/, /in the place of the database/, /-wal and\s+-shm/, /start the service/]) {
      assert.match(help, step);
    }
    await importLines(here, SMALL_FLEET);
    const key = await createKey(here);
    const first = await here.start();
    const answers = () => Promise.all(FIVE_PATHS.map(async (path) => (await get(first, path, key)).text));
    const before = await answers();
    assert.equal((await here.run(["backup", "copy.db"])).code, 0);
    await importLines(here, [reading("a1", 9, 1)], "later.ndjson");
    assert.notDeepEqual(await answers(), before);
    first.kill("SIGKILL");
    await first.exited;

    copyFileSync(here.path("copy.db"), here.path("tanks.db"));
    for (const end of ["-wal", "-shm"]) rmSync(here.path(`tanks.db${end}`), { force: true });
    const second = await here.start();
    assert.deepEqual(await Promise.all(FIVE_PATHS.map(async (path) => (await get(second, path, key)).text)), before);
  });
});
