// check and backup.

import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { suite, test } from "node:test";
import { mountSmallDisk, SMALL_DISK } from "../faults/disks.ts";
import { until } from "../support/until.ts";
import * as fixtures from "./fixtures.ts";
import { pagesOf } from "./killed-import.ts";
import { LAUNCHER, type Workspace, workspace } from "./program.ts";
import { get, list } from "./requests.ts";

const { createKey, importLines, manyLines, ndjson, reading, SMALL_FLEET } = fixtures;

function corrupt({ path }: Workspace, sql: string): void {
  const db = new DatabaseSync(path("tanks.db"), { timeout: 5000, enableForeignKeyConstraints: false });
  db.exec(sql);
  db.close();
}

suite("check", () => {
  test("no errors: nothing on stdout, exit 0; each error is a line, exit 1; only --repair changes anything", async (t) => {
    const here = workspace(t);
    await importLines(here, SMALL_FLEET);
    for (const words of [["check"], ["check", "--repair"], ["check", "--json"]]) {
      const { code, stdout, stderr } = await here.run(words);
      assert.deepEqual([code, stdout, stderr], [0, "", "checked 3 customers, 4 tanks, 4 readings: no errors\n"]);
    }
    corrupt(here, "UPDATE customer SET tank_count = 9 WHERE id = 'ada'; UPDATE head SET total = 30 WHERE total = 3");
    const found = "customer ada: it has 2 tanks, tank_count says 9\ntank a1: it has 3 readings, the total says 30\n";
    for (let i = 0; i < 2; i++) {
      const { code, stdout, stderr } = await here.run(["check"]);
      assert.deepEqual([code, stdout], [1, found]);
      assert.match(stderr, /^checked 3 customers, 4 tanks, 4 readings: 2 errors\n[^\n]*--repair[^\n]*\n$/);
    }
    assert.deepEqual(fixtures.jsonLines((await here.run(["check", "--json"])).stdout), [
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
    assert.match((await here.run(["check"])).stderr, /: 2 errors\n[^\n]*--repair[^\n]*\n$/);
    const { code, stdout, stderr } = await here.run(["check", "--repair"]);
    assert.equal(code, 1);
    assert.match(stdout, /^customer bob: .* \(repaired\)\ntank b1: capacity: must be above 0; correct it and import it again\n$/);
    assert.match(stderr, /: 2 errors, 1 repaired\n$/);
    assert.match((await here.run(["check"])).stderr, /: 1 error\n$/, "no advice to repair it");
    await importLines(here, [fixtures.tank("b1", "bob", { capacity: 5, shape: null, alerts: {} })], "right.ndjson");
    assert.equal((await here.run(["check"])).code, 0);
  });

  test("damage is reported and never repaired; an export leaves it out, and an import of the whole object replaces it", async (t) => {
    const here = workspace(t);
    await importLines(here, SMALL_FLEET);
    const sound = (await here.run(["export"])).stdout;
    // A fill of hundredths becomes another one, within the rules.
    corrupt(here, "UPDATE head SET data = CAST(substr(data, 1, 7) || x'0100' || substr(data, 10) AS BLOB) WHERE total = 3");
    corrupt(here, "UPDATE customer SET name = 'Adb' WHERE id = 'ada'; UPDATE tank SET capacity = 7 WHERE id = 'b1'");
    const damaged =
      /^customer ada: .*checksum.*\ntank a1: the head from the start, of \d+ bytes, is damaged: restore a backup\ntank b1: .*checksum.*\n$/;
    for (const words of [["check"], ["check", "--repair"]]) {
      const { code, stdout } = await here.run(words);
      assert.equal(code, 1);
      assert.match(stdout, damaged);
    }
    const { code, stdout, stderr } = await here.run(["export"]);
    assert.equal(code, 1);
    const left = sound
      .split("\n")
      .filter((line) => !/"id":"(ada|b1)","object":"(customer|tank)"|"tank_id":"a1","created_at"/.test(line));
    assert.deepEqual(stdout.split("\n"), left);
    assert.match(
      stderr,
      /^left out: customer ada is damaged\nleft out: tank b1 is damaged\nleft out: tank a1: the head from the start is damaged\n/,
    );

    const lines = fixtures.jsonLines(sound).filter(({ object }) => object === "customer" || object === "tank");
    await importLines(here, lines, "again.ndjson");
    assert.match((await here.run(["check"])).stdout, /^tank a1: [^\n]*\n$/);
  });

  test("while a page is damaged, check says what to do, and an export has all that is on other pages", async (t) => {
    const here = workspace(t);
    const ids = Array.from({ length: 100 }, (_, i) => `t${i}`);
    const lines = ids.flatMap((id) => [fixtures.tank(id, "c"), reading(id, 0, 50)]);
    await importLines(here, [fixtures.customer("c"), ...lines]);
    const db = new DatabaseSync(here.path("tanks.db"));
    const [, second] = db.prepare("SELECT pageno, pgsize, ncell FROM dbstat WHERE name = 'tank' AND pagetype = 'leaf'").all();
    db.close();
    const [page, bytes, damaged] = Object.values(second ?? {}).map(Number) as [number, number, number];
    const file = readFileSync(here.path("tanks.db"));
    writeFileSync(here.path("tanks.db"), file.fill(0x5a, (page - 1) * bytes, page * bytes));

    const checked = await here.run(["check"]);
    assert.equal(checked.code, 1);
    assert.match(checked.stdout, /: restore a backup\n$/);
    const { code, stderr } = await here.run(["export", "rest.ndjson"]);
    assert.equal(code, 1);
    assert.match(stderr, /\d+ lines exported.*\nthe export is not complete, since the database is damaged: restore a backup\n$/);
    const rest = fixtures.jsonLines(readFileSync(here.path("rest.ndjson"), "utf8"));
    const tanks = new Set(rest.filter(({ object }) => object === "tank").map(({ id }) => id));
    assert.equal(tanks.size, ids.length - damaged);
    const left = stderr.match(/(?<=^left out: tank )\w+(?= cannot be read: )/gm);
    assert.deepEqual(left?.toSorted(), ids.filter((id) => !tanks.has(id)).toSorted());
    const readings = rest.filter(({ object }) => object === "telemetry").map(({ tank_id }) => tank_id);
    assert.deepEqual(readings, ids, "also those of the tanks that are left out");
  });

  test("a running service sees a repair, and check finds no errors while it runs and an import writes", async (t) => {
    const here = workspace(t);
    const readings = Array.from({ length: 1000 }, (_, i) => reading("t", i, i % 101));
    await importLines(here, [fixtures.customer("c"), fixtures.tank("t", "c"), ...readings]);
    const key = await createKey(here);
    const service = await here.start();
    const path = `/v1/tanks/t/telemetry?created_at_gte=${reading("t", 1, 0)["created_at"]}`;
    corrupt(here, "UPDATE head SET total = 7; DELETE FROM reading_index");
    for (const page of ["/v1/tanks/t/telemetry", path]) {
      assert.equal((await get(service, page, key)).status, 503, "rather no response than a wrong one");
    }
    assert.equal((await here.run(["check", "--repair"])).code, 0);
    assert.equal((await list(service, path, key)).total_items, 999);

    writeFileSync(here.path("many.ndjson"), ndjson(manyLines(20_000)));
    const importing = here.launch(["import", "many.ndjson"]).exited;
    let isDone = false;
    void importing.finally(() => {
      isDone = true;
    });
    for (let checks = 0; !isDone || checks < 2; checks++) {
      const { code, stdout, stderr } = await here.run(["check", checks % 2 === 0 ? "--json" : "--repair"]);
      assert.deepEqual([code, stdout], [0, ""], stderr);
    }
    assert.equal((await importing).code, 0);
    assert.match((await service.stop()).stderr, /tank t: the head from \S+ is damaged/);
  });
});

// Limits the size of files.
const skip = process.platform !== "linux";

suite("a backup", () => {
  test("a backup during an import is a consistent snapshot, and can be used as a database", async (t) => {
    const here = workspace(t);
    const LINES = 40_000;
    writeFileSync(here.path("many.ndjson"), ndjson(manyLines(LINES)));
    await createKey(here);
    const importing = here.launch(["import", "many.ndjson", "--json"]);
    const pages = pagesOf(here.path("tanks.db"));
    await until("the import has begun", () => pagesOf(here.path("tanks.db")) > pages + 20, 30_000);
    const { code, stderr, stdout } = await here.run(["backup", "copy.db"]);
    assert.deepEqual([code, stdout], [0, ""], stderr);
    const imported = await importing.exited;
    assert.match(imported.stdout, new RegExp(`"read":${LINES},"new":${LINES}`), "the import was not interrupted");
    assert.deepEqual(readdirSync(here.folder).sort(), ["copy.db", "many.ndjson", "tanks.db"]);
    const copy = { env: { DATABASE_URL: "sqlite:copy.db" } };
    const checked = await here.run(["check"], copy);
    assert.equal(checked.code, 0, checked.stdout);
    t.diagnostic(checked.stderr);
    const copied = await here.run(["customer", "list", "--json"], copy);
    assert.ok(fixtures.jsonLines(copied.stdout).length > 0, copied.stderr);
  });

  test("a backup that does not fit on its disk fails in one line with the reason, and leaves no file", { skip }, async (t) => {
    const here = workspace(t);
    await importLines(here, SMALL_FLEET);
    const files = readdirSync(here.folder);
    const program = ["bash", "-c", `ulimit -f 64; exec "$0" "$@"`, process.execPath, LAUNCHER] as const;
    const { code, stderr } = await here.spawn(["backup", "copy.db"], { program });
    assert.equal(code, 1);
    assert.match(stderr, /^tank-monitor: cannot write copy\.db: [^\n]*(full|I\/O)[^\n]*\n$/);
    assert.deepEqual(readdirSync(here.folder), files);
  });
});

test("commands say that the disk is full", { skip: SMALL_DISK.skip }, async (t) => {
  const here = workspace(t);
  const disk = await mountSmallDisk(t);
  await importLines(here, SMALL_FLEET);
  assert.equal((await here.run(["backup", "copy.db"])).code, 0);
  const env = { DATABASE_URL: `sqlite:${disk.folder}/tanks.db` };
  assert.equal((await here.run(["restore", "copy.db"], { env })).code, 0);
  // A connection that has the -shm file, without which nothing can be opened on a full disk.
  using other = new DatabaseSync(`${disk.folder}/tanks.db`);
  other.exec("PRAGMA journal_mode = WAL; BEGIN; SELECT count(*) FROM tank");
  disk.fill();
  writeFileSync(here.path("many.ndjson"), ndjson(manyLines(10_000)));
  const imported = await here.run(["import", "many.ndjson"], { env });
  assert.equal(imported.code, 1);
  assert.match(imported.stderr, /^tank-monitor: The disk of the database is full\..*\n$/m);
  other.close();
  for (const words of ["key create --name x", "restore copy.db --force"]) {
    const { code, stderr } = await here.run(words.split(" "), { env });
    assert.equal(code, 1);
    assert.match(stderr, /^tank-monitor: [^\n]*(?:disk of (?:the database|\S+tanks\.db) is full\.|no space left)[^\n]*\n$/i);
  }
});
