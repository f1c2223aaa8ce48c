import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { suite, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { customer, importLines, manyLines, ndjson, reading, SMALL_FLEET, tank } from "./fixtures.ts";
import { workspace } from "./program.ts";

suite("an import", { concurrency: 2 }, () => {
  test("the summary says what came of every line: read, new, changed, unchanged, rejected", async (t) => {
    const here = workspace(t);
    writeFileSync(here.path("fleet.ndjson"), ndjson(SMALL_FLEET));
    const first = await here.run(["import", "fleet.ndjson"]);
    assert.equal(first.stdout, "11 read: 11 new, 0 changed, 0 unchanged, 0 rejected\n");
    assert.equal(first.code, 0);

    const again = await here.run(["import", "fleet.ndjson", "--json"]);
    assert.equal(again.stdout, '{"read":11,"new":0,"changed":0,"unchanged":11,"rejected":0,"waiting":0}\n');
    assert.equal(again.code, 0);

    writeFileSync(
      here.path("changes.ndjson"),
      ndjson([customer("ada", { name: "Ada" }), reading("b1", 0, 13), reading("b1", 1, 9)]),
    );
    const changed = await here.run(["import", "changes.ndjson", "--json"]);
    assert.equal(changed.stdout, '{"read":3,"new":1,"changed":2,"unchanged":0,"rejected":0,"waiting":0}\n');
  });

  test("lines that cannot be taken are told by number and reason, kept in a file, and stop nothing else: exit 1", async (t) => {
    const here = workspace(t);
    const lines = [
      JSON.stringify(customer("ada")),
      "{not json",
      JSON.stringify(tank("a1", "nobody")),
      "",
      JSON.stringify(tank("a1", "ada")),
      JSON.stringify(reading("a1", 0, 101)),
      JSON.stringify(reading("nowhere", 0, 50)),
      JSON.stringify(reading("a1", 1, 50)),
    ];
    writeFileSync(here.path("mixed.ndjson"), lines.join("\n"));
    const { code, stdout, stderr } = await here.run(["import", "mixed.ndjson", "--json"]);
    assert.equal(code, 1);
    assert.equal(stdout, '{"read":7,"new":3,"changed":0,"unchanged":0,"rejected":4,"waiting":0}\n');
    for (const [number, word] of [
      [2, "JSON"],
      [3, "owner_id"],
      [6, "fill_percentage"],
      [7, "tank_id"],
    ]) {
      assert.match(stderr, new RegExp(`^mixed\\.ndjson:${number}: .*${word}`, "m"));
    }
    const rejects = readFileSync(here.path("mixed.ndjson.rejects.ndjson"), "utf8").trimEnd().split("\n");
    const parsed = rejects.map((line) => JSON.parse(line) as { line: number; reason: string; text: string });
    assert.deepEqual(
      parsed.map(({ line, text }) => [line, text]),
      [2, 3, 6, 7].map((number) => [number, lines[number - 1]]),
    );
    for (const { reason } of parsed) assert.ok(reason.length > 0);

    // Mended and imported again, the file of rejects is gone.
    writeFileSync(here.path("mixed.ndjson"), ndjson([customer("ada")]));
    assert.equal((await here.run(["import", "mixed.ndjson"])).code, 0);
    assert.equal(existsSync(here.path("mixed.ndjson.rejects.ndjson")), false);
  });

  test("readings come in as CSV, and everything from stdin with -", async (t) => {
    const here = workspace(t);
    const piped = await here.run(["import", "-", "--json"], { input: ndjson(SMALL_FLEET) });
    assert.equal(piped.stdout, '{"read":11,"new":11,"changed":0,"unchanged":0,"rejected":0,"waiting":0}\n');

    const rows = ["a2,2026-02-01T00:00:00Z,55.5", '"a2",2026-02-01T01:00:00+01:00,55.5', "b1,2026-02-01T00:00:00Z,x"];
    writeFileSync(here.path("readings.csv"), ["tank_id,created_at,fill_percentage", ...rows, ""].join("\r\n"));
    const csv = await here.run(["import", "readings.csv", "--json"]);
    assert.equal(csv.stdout, '{"read":3,"new":1,"changed":0,"unchanged":1,"rejected":1,"waiting":0}\n');
    assert.match(csv.stderr, /^readings\.csv:4: .*fill_percentage/m);
    assert.equal(csv.code, 1);

    const out = await here.run(["export", "--csv"]);
    assert.match(out.stdout, /^tank_id,created_at,fill_percentage\n(.+\n){5}$/);
    assert.match(out.stdout, /^a2,2026-02-01T00:00:00\.000Z,55\.5$/m);
  });

  test("several files are taken in their order, and counted together", async (t) => {
    const here = workspace(t);
    writeFileSync(here.path("1.ndjson"), ndjson([customer("ada")]));
    writeFileSync(here.path("2.ndjson"), ndjson([tank("a1", "ada")]));
    writeFileSync(here.path("3.csv"), "tank_id,created_at,fill_percentage\na1,2026-02-01T00:00:00Z,5\n");
    const { code, stdout } = await here.run(["import", "1.ndjson", "2.ndjson", "3.csv", "--json"]);
    assert.equal(stdout, '{"read":3,"new":3,"changed":0,"unchanged":0,"rejected":0,"waiting":0}\n');
    assert.equal(code, 0);
  });

  test("--dry-run counts what would happen, changes nothing, and leaves nothing behind", async (t) => {
    const here = workspace(t);
    await importLines(here, SMALL_FLEET);
    const wish = [customer("ada", { name: "Ada" }), customer("carl"), tank("c1", "carl"), ...SMALL_FLEET.slice(3)];
    writeFileSync(here.path("wish.ndjson"), ndjson(wish));
    const before = await here.run(["export"]);
    const files = readdirSync(here.folder).sort();

    const dry = await here.run(["import", "wish.ndjson", "--dry-run", "--json"]);
    assert.equal(dry.stdout, '{"read":11,"new":2,"changed":1,"unchanged":8,"rejected":0,"waiting":0}\n');
    assert.equal(dry.code, 0);
    assert.deepEqual(readdirSync(here.folder).sort(), files);
    assert.equal((await here.run(["export"])).stdout, before.stdout);

    const real = await here.run(["import", "wish.ndjson", "--json"]);
    assert.equal(real.stdout, dry.stdout, "the rehearsal told what happened");
    assert.notEqual((await here.run(["export"])).stdout, before.stdout);
  });

  test("--dry-run stopped with Ctrl-C leaves nothing behind either", async (t) => {
    const here = workspace(t);
    writeFileSync(here.path("many.ndjson"), ndjson(manyLines(60_000)));
    await importLines(here, SMALL_FLEET);
    const files = readdirSync(here.folder).sort();
    const dry = here.launch(["import", "many.ndjson", "--dry-run"]);
    while (!readdirSync(here.folder).some((name) => !files.includes(name) && !name.startsWith("tanks.db-"))) await pause(5);
    await pause(100);
    dry.kill("SIGINT");
    await dry.exited;
    assert.deepEqual(
      readdirSync(here.folder).filter((name) => !name.startsWith("tanks.db-")),
      files,
    );
  });

  test("rejects that cannot be kept in a file are told all the same, and stop nothing else", async (t) => {
    const here = workspace(t);
    writeFileSync(here.path("mixed.ndjson"), `{not json\n${ndjson(SMALL_FLEET)}`);
    mkdirSync(here.path("mixed.ndjson.rejects.ndjson"));
    const { code, stdout, stderr } = await here.run(["import", "mixed.ndjson", "--json"]);
    assert.doesNotMatch(stderr, /should not have happened|^\s+at /m);
    assert.match(stderr, /^mixed\.ndjson:1: /m);
    assert.equal(stdout, '{"read":12,"new":11,"changed":0,"unchanged":0,"rejected":1,"waiting":0}\n');
    assert.equal(code, 1);
  });
});
