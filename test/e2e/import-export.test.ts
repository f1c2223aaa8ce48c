// import and export.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { suite, test } from "node:test";
import { until } from "../support/until.ts";
import * as fixtures from "./fixtures.ts";
import { importDespiteKills, pagesOf } from "./killed-import.ts";
import { LAUNCHER, workspace } from "./program.ts";

const { customer, DIFFICULT_FLEET, importLines, jsonLines, manyLines, ndjson, SMALL_FLEET, tank } = fixtures;

suite("an import", () => {
  test("the summary counts lines; --dry-run predicts it, changes nothing, and leaves nothing behind", async (t) => {
    const here = workspace(t);
    writeFileSync(here.path("fleet.ndjson"), ndjson(SMALL_FLEET));
    const first = await here.run(["import", "fleet.ndjson"]);
    assert.deepEqual([first.code, first.stdout], [0, "11 read: 11 new, 0 changed, 0 unchanged, 0 rejected\n"]);

    const changes = [customer("ada", { name: "Ada" }), customer("carl"), tank("c1", "carl"), ...SMALL_FLEET.slice(3)];
    writeFileSync(here.path("changes.ndjson"), ndjson(changes));
    const before = await here.run(["export"]);
    const files = readdirSync(here.folder).sort();
    const dry = await here.run(["import", "changes.ndjson", "--dry-run", "--json"]);
    assert.equal(dry.stdout, '{"read":11,"new":2,"changed":1,"unchanged":8,"rejected":0,"pending":0,"assumed_utc":0}\n');
    assert.equal(dry.code, 0);
    assert.deepEqual(readdirSync(here.folder).sort(), files);
    assert.equal((await here.run(["export"])).stdout, before.stdout);
    assert.equal((await here.run(["import", "changes.ndjson", "--json"])).stdout, dry.stdout);
    assert.notEqual((await here.run(["export"])).stdout, before.stdout);
  });

  test("rejected lines are reported with number and reason, and kept in a file; the rest is imported: exit 1", async (t) => {
    const here = workspace(t);
    const lines = ["{not json", JSON.stringify(customer("ada")), "", JSON.stringify(tank("a1", "nobody"))];
    writeFileSync(here.path("mixed.ndjson"), lines.join("\n"));
    const { code, stdout, stderr } = await here.run(["import", "mixed.ndjson", "--json"]);
    assert.equal(code, 1);
    assert.equal(stdout, '{"read":3,"new":1,"changed":0,"unchanged":0,"rejected":2,"pending":0,"assumed_utc":0}\n');
    assert.match(stderr, /^mixed\.ndjson:1: .*JSON[\s\S]*^mixed\.ndjson:4: .*owner_id/m);
    const rejects = jsonLines(readFileSync(here.path("mixed.ndjson.rejects.ndjson"), "utf8"));
    assert.deepEqual(
      rejects.map(({ line, text, reason }) => [line, text, typeof reason]),
      [1, 4].map((number) => [number, lines[number - 1], "string"]),
    );

    writeFileSync(here.path("mixed.ndjson"), ndjson([customer("ada")]));
    assert.equal((await here.run(["import", "mixed.ndjson"])).code, 0);
    assert.equal(existsSync(here.path("mixed.ndjson.rejects.ndjson")), false);

    mkdirSync(here.path("mixed.ndjson.rejects.ndjson"));
    writeFileSync(here.path("mixed.ndjson"), `{not json\n${ndjson([customer("bob")])}`);
    const unwritten = await here.run(["import", "mixed.ndjson", "--json"]);
    assert.equal(unwritten.stdout, '{"read":2,"new":1,"changed":0,"unchanged":0,"rejected":1,"pending":0,"assumed_utc":0}\n');
    assert.match(unwritten.stderr, /^mixed\.ndjson:1: /m);
    assert.doesNotMatch(unwritten.stderr, /internal error|^\s+at /m);
  });

  test("an earlier list of rejected lines stays until the file has been read, and a dry run never removes it", async (t) => {
    const here = workspace(t);
    const list = here.path("x.csv.rejects.ndjson");
    const header = "tank_id,created_at,fill_percentage\n";
    const importing = async (contents: string | Buffer, ...words: readonly string[]) => {
      writeFileSync(here.path("x.csv"), contents);
      const { code } = await here.run(["import", "x.csv", ...words]);
      return [code, existsSync(list) ? readFileSync(list, "utf8") : undefined];
    };
    writeFileSync(list, "earlier");
    chmodSync(list, 0o640);
    assert.deepEqual(await importing("PK\x03\x04\x14\0"), [1, "earlier"], "not readable");
    assert.deepEqual(await importing(header, "--dry-run"), [0, "earlier"]);
    const [code, rejects] = await importing(`${header}nobody,2026-01-01,5\n`, "--dry-run");
    assert.deepEqual([code, jsonLines(String(rejects)).map(({ line }) => line)], [1, [2]]);
    assert.equal(statSync(list).mode & 0o777, 0o640);
    assert.deepEqual(await importing(header), [0, undefined]);
    assert.deepEqual(readdirSync(here.folder).sort(), ["tanks.db", "x.csv"]);
  });

  test("a file to which rejected lines of another one would be written is not imported with it", async (t) => {
    const here = workspace(t);
    for (const name of ["x.ndjson", "x.ndjson.rejects.ndjson", "stdin.rejects.ndjson"]) {
      writeFileSync(here.path(name), ndjson([customer(name)]));
    }
    symlinkSync("x.ndjson.rejects.ndjson", here.path("link.ndjson"));
    for (const [one, other, name] of [
      ["x.ndjson", "x.ndjson.rejects.ndjson", "x.ndjson"],
      ["link.ndjson", "x.ndjson", "x.ndjson"],
      ["-", "stdin.rejects.ndjson", "stdin"],
    ] as const) {
      const { code, stderr } = await here.run(["import", one, other]);
      assert.equal(code, 2);
      assert.match(
        stderr,
        new RegExp(`^tank-monitor: import: rejected lines of ${name} are written to \\S+: rename it[^\n]+\n$`),
      );
    }
    assert.deepEqual(existsSync(here.path("tanks.db")), false);
    assert.equal((await here.run(["import", "x.ndjson.rejects.ndjson"])).code, 0);
  });

  test("an interrupted import leaves no partial list of rejected lines", async (t) => {
    const here = workspace(t);
    writeFileSync(here.path("stdin.rejects.ndjson"), "earlier");
    const importing = here.launch(["import", "-"], { input: "{}\n".repeat(50_000), keepsInputOpen: true });
    await until("a partial list", () => readdirSync(here.folder).some((name) => name.includes(".partial-")), 30_000);
    importing.kill("SIGINT");
    assert.equal((await importing.exited).code, 130);
    assert.deepEqual(
      readdirSync(here.folder).filter((name) => name.includes("rejects")),
      ["stdin.rejects.ndjson"],
    );
    assert.equal(readFileSync(here.path("stdin.rejects.ndjson"), "utf8"), "earlier");
  });

  test("several files are imported in order and counted together, readings also as CSV, everything from stdin with -", async (t) => {
    const here = workspace(t);
    const piped = await here.spawn(["import", "-", "--json"], { input: ndjson(SMALL_FLEET) });
    assert.equal(piped.stdout, '{"read":11,"new":11,"changed":0,"unchanged":0,"rejected":0,"pending":0,"assumed_utc":0}\n');

    writeFileSync(here.path("1.ndjson"), ndjson([customer("carl")]));
    writeFileSync(here.path("2.ndjson"), ndjson([tank("c1", "carl")]));
    const rows = ["c1,2026-02-01T00:00:00Z,55.5", '"c1",2026-02-01T01:00:00+01:00,55.5', "b1,2026-02-01T00:00:00Z,x"];
    writeFileSync(here.path("3.csv"), ["tank_id,created_at,fill_percentage", ...rows, ""].join("\r\n"));
    const { code, stdout, stderr } = await here.run(["import", "1.ndjson", "2.ndjson", "3.csv", "--json"]);
    assert.equal(stdout, '{"read":5,"new":3,"changed":0,"unchanged":1,"rejected":1,"pending":0,"assumed_utc":0}\n');
    assert.match(stderr, /^3\.csv:4: .*fill_percentage/m);
    assert.equal(code, 1);
    const out = await here.run(["export", "--csv"]);
    assert.match(out.stdout, /^tank_id,created_at,fill_percentage\n(.+\n){5}$/);
    assert.match(out.stdout, /^c1,2026-02-01T00:00:00\.000Z,55\.5$/m);
  });

  test("readings of a German logger: semicolons, decimal commas, local times, and the time zone to read them in", async (t) => {
    const here = workspace(t);
    await importLines(here, SMALL_FLEET);
    const rows = ["a1;2026-07-01 08:00;50,5", "a1;01.07.2026 09:00;51", "a1;2026-07-01 10:00:30Z;52,25"];
    writeFileSync(here.path("x.csv"), ["tank_id;created_at;fill_percentage", ...rows, ""].join("\r\n"));
    const utc = await here.run(["import", "x.csv", "--dry-run"]);
    const counts = "3 read: 3 new, 0 changed, 0 unchanged, 0 rejected";
    assert.equal(utc.stdout, `${counts}; 2 times without an offset read as UTC (dry run: nothing was changed)\n`);
    const json = await here.run(["import", "x.csv", "--dry-run", "--json"]);
    assert.match(json.stdout, /"assumed_utc":2\}\n$/);
    const berlin = await here.run(["import", "x.csv", "--timezone", "Europe/Berlin"]);
    assert.deepEqual([berlin.code, berlin.stderr], [0, ""]);
    const { stdout } = await here.run(["export", "--csv"]);
    const expected = ["2026-07-01T06:00:00.000Z,50.5", "2026-07-01T07:00:00.000Z,51", "2026-07-01T10:00:30.000Z,52.25"];
    for (const reading of expected) assert.ok(stdout.includes(`\na1,${reading}\n`), stdout);
    const unknown = await here.run(["import", "x.csv", "--timezone", "Berlin"]);
    assert.deepEqual(
      [unknown.code, unknown.stderr],
      [2, 'tank-monitor: --timezone must be a time zone such as Europe/Berlin, not "Berlin"\n'],
    );
  });

  test("a file with another header, of Excel, or in UTF-16 is rejected in one line; what was imported before stays", async (t) => {
    const here = workspace(t);
    await importLines(here, SMALL_FLEET);
    const files: readonly (readonly [name: string, content: string | Buffer, message: RegExp])[] = [
      ["a.csv", "tank;time;fill\na1;2026-07-01;5\na1;2026-07-02;5\n", /the first line of a CSV file must be the header tank_id,/],
      ["b.csv", Buffer.from("PK\x03\x04\x14\0"), /this is an Excel file, .*: save the sheet as "CSV UTF-8"/],
      ["c.xlsx", Buffer.from("PK\x03\x04\x14\0"), /this is an Excel file, .*: save the sheet as "CSV UTF-8"/],
      ["d.xls", Buffer.from("d0cf11e0a1b11ae1", "hex"), /this is an Excel file: save the sheet as "CSV UTF-8"/],
      ["e.csv", Buffer.from("\ufefftank_id\tcreated_at\n", "utf16le"), /this is UTF-16 text: save the file as UTF-8/],
    ];
    for (const [name, content, message] of files) {
      writeFileSync(here.path(name), content);
      const { code, stdout, stderr } = await here.run(["import", "fleet.ndjson", name]);
      assert.deepEqual([code, stdout], [1, ""]);
      assert.match(stderr, new RegExp(`^tank-monitor: ${name}: ${message.source}[^\n]*\n$`));
      assert.equal(existsSync(here.path(`${name}.rejects.ndjson`)), false);
    }
  });

  test("CSV under another name, or from stdin, is rejected in one line; with the right name it is imported", async (t) => {
    const here = workspace(t);
    await importLines(here, SMALL_FLEET);
    const rows = "a1,2026-07-01T00:00:00Z,5\r\na1,2026-07-02T00:00:00Z,6\r\n";
    const quoted = `\ufeff"tank_id";"created_at";"fill_percentage"\r\n${rows}`;
    for (const contents of [`tank_id,created_at,fill_percentage\r\n${rows}`, quoted]) {
      writeFileSync(here.path("r.txt"), contents);
      const named = await here.run(["import", "r.txt"]);
      const expected =
        "r.txt: this is CSV, which is not expected here: rename the file so that its name ends in .csv, and import that";
      assert.deepEqual([named.code, named.stdout, named.stderr], [1, "", `tank-monitor: ${expected}\n`]);
    }
    const piped = await here.spawn(["import", "-"], { input: quoted });
    assert.deepEqual([piped.code, piped.stdout], [1, ""]);
    assert.match(piped.stderr, /^tank-monitor: stdin: this is CSV, [^\n]+: save it to a file whose name ends in \.csv[^\n]+\n$/);
    assert.equal(existsSync(here.path("r.txt.rejects.ndjson")), false);
    writeFileSync(here.path("r.csv"), `tank_id,created_at,fill_percentage\n${rows}`);
    assert.match((await here.run(["import", "r.csv"])).stdout, /^2 read: 2 new/);
    writeFileSync(here.path("lines.txt"), ndjson([customer("named-txt")]));
    assert.match((await here.run(["import", "lines.txt"])).stdout, /^1 read: 1 new/);
    writeFileSync(here.path("other.txt"), "tank,time\n");
    assert.match((await here.run(["import", "other.txt"])).stderr, /^other\.txt:1: .*JSON/);
  });

  test("--dry-run stopped with Ctrl-C leaves nothing behind either", async (t) => {
    const here = workspace(t);
    writeFileSync(here.path("many.ndjson"), ndjson(manyLines(40_000)));
    await importLines(here, SMALL_FLEET);
    const files = readdirSync(here.folder).sort();
    const dry = here.launch(["import", "many.ndjson", "--dry-run"]);
    const hasScratchFile = () => readdirSync(here.folder).some((name) => !files.includes(name) && !name.startsWith("tanks.db-"));
    await until("the dry run works on a copy", hasScratchFile, 30_000);
    dry.kill("SIGINT");
    await dry.exited;
    assert.deepEqual(
      readdirSync(here.folder).filter((name) => !name.startsWith("tanks.db-")),
      files,
    );
  });

  test("stopped with Ctrl-C, it says about how many lines it has read, and that it can be run again", async (t) => {
    const here = workspace(t);
    const importing = here.launch(["import", "-"], { input: ndjson(manyLines(20_000)), keepsInputOpen: true });
    await importing.waitForOutput(/new database/);
    const pages = pagesOf(here.path("tanks.db"));
    await until("a part is imported", () => pagesOf(here.path("tanks.db")) > pages + 20, 30_000);
    importing.kill("SIGINT");
    const { code, stdout, stderr } = await importing.exited;
    assert.deepEqual([code, stdout], [130, ""], stderr);
    assert.match(stderr, /^tank-monitor: import stopped after about \d+ lines of stdin\. It can be run again safely$/m);
  });

  test("an import killed at a random moment and repeated ends as if it had never been interrupted", (t) =>
    importDespiteKills(t, 40_000, 1));
});

suite("an export", () => {
  test("an export imported into a fresh database, and exported again, gives the same bytes; as CSV too", async (t) => {
    const here = workspace(t);
    await importLines(here, DIFFICULT_FLEET);
    assert.equal((await here.run(["export", "whole.ndjson"])).code, 0);
    assert.equal((await here.run(["export", "readings.csv"])).code, 0);

    const other = { env: { DATABASE_URL: "sqlite:other.db" } };
    const imported = await here.run(["import", "whole.ndjson", "--json"], other);
    // A device that is assigned to a tank is created with it, so its own line changes nothing.
    const [devices, read] = [4, DIFFICULT_FLEET.length + 4];
    const counts = { read, new: read - devices, changed: 0, unchanged: devices, rejected: 0, pending: 0, assumed_utc: 0 };
    assert.equal(imported.stdout, `${JSON.stringify(counts)}\n`);
    const [lines, csv] = await Promise.all([here.run(["export"], other), here.run(["export", "-", "--csv"], other)]);
    assert.equal(lines.stdout, readFileSync(here.path("whole.ndjson"), "utf8"));
    assert.equal(csv.stdout, readFileSync(here.path("readings.csv"), "utf8"));
    const again = await here.run(["import", "readings.csv", "--json"], other);
    assert.match(again.stdout, /"new":0,"changed":0,"unchanged":306,"rejected":0/);
  });

  test("ids that a spreadsheet would execute are exported as text, and imported as they were", async (t) => {
    const here = workspace(t);
    const ids = ["=cmd|' /C calc'!A0", "'=1", "+1+1", "-5", "@x", "a;=1"];
    await importLines(here, [customer("c"), ...ids.flatMap((id) => [tank(id, "c"), fixtures.reading(id, 1, 50)])]);
    const { stdout } = await here.run(["export", "readings.csv"]);
    assert.equal(stdout, "");
    const rows = readFileSync(here.path("readings.csv"), "utf8").trimEnd().split("\n").slice(1);
    const cells = rows.map((row) => row.slice(0, row.indexOf(",2026")));
    assert.deepEqual(cells.sort(), ['"a;=1"', "''=1", "'+1+1", "'=cmd|' /C calc'!A0", "'@x", "-5"].sort());
    const again = await here.run(["import", "readings.csv", "--json"]);
    assert.match(again.stdout, /"new":0,"changed":0,"unchanged":6,"rejected":0/);
  });

  test("an export has deleted objects, shapes, profiles, former tanks of devices and pending readings, and says what is missing", async (t) => {
    const here = workspace(t);
    const shape = { kind: "horizontal_cylinder", diameter: 1.25, heads: "flat", unit: "m", sensor_height: 1.4 };
    const past_assignments = [{ tank_id: "scrapped", until: "2025-01-01T00:00:00.000Z" }];
    const since = "2025-01-01T00:00:00.000Z";
    const device = { id: "dev-a1", object: "device", tank_id: "a1", since, profile: "elsys", dropped: 12, past_assignments };
    const waits = { object: "telemetry", device_id: "stranger", created_at: "2026-01-01T00:00:00.000Z", fill_percentage: 7 };
    const unread = { object: "telemetry", device_id: "stranger", created_at: "2026-01-02T00:00:00.000Z", payload: { a: [1] } };
    const given = [...SMALL_FLEET, tank("a1", "ada", { assigned_device_id: "dev-a1", shape }), device, waits, unread];
    writeFileSync(here.path("given.ndjson"), ndjson(given));
    const imported = await here.run(["import", "given.ndjson"]);
    assert.match(imported.stdout, / 0 rejected, 2 pending \(a tank, a profile or a shape is missing\)\n$/, imported.stderr);
    const exported = await here.run(["export", "whole.ndjson"]);
    const missing = "users, sessions, keys, channels, notifications, alerts, events and the audit log";
    assert.ok(exported.stderr.endsWith(` lines exported, without ${missing} ("backup" has those)\n`), exported.stderr);
    const help = (await here.run(["export", "--help"])).stdout.replaceAll(/\s+/g, " ");
    assert.ok(help.includes(`It does not contain ${missing}; "backup" does.`), help);
    assert.doesNotMatch((await here.run(["export", "--csv"])).stderr, /without/);
    const whole = readFileSync(here.path("whole.ndjson"), "utf8");
    const lines = whole.trimEnd().split("\n");
    for (const line of [device, waits, unread]) assert.ok(lines.includes(JSON.stringify(line)), JSON.stringify(line));
    assert.ok(whole.includes(JSON.stringify(shape)));
    const gone = jsonLines(whole).find(({ id }) => id === "gone");
    assert.deepEqual([gone?.["deleted"], gone?.["email"]], [true, "gone@customers.example"]);

    const other = { env: { DATABASE_URL: "sqlite:other.db" } };
    assert.equal((await here.run(["import", "whole.ndjson"], other)).code, 0);
    assert.equal((await here.run(["export"], other)).stdout, whole);
  });

  test("an export overwrites a file only with --force", async (t) => {
    const here = workspace(t);
    await fixtures.createKey(here);
    writeFileSync(here.path("kept.ndjson"), "precious");
    symlinkSync(here.path("kept.ndjson"), here.path("link.csv"));
    for (const file of ["kept.ndjson", "link.csv"]) {
      const { code, stderr } = await here.run(["export", file]);
      assert.equal(code, 1);
      assert.equal(stderr, `tank-monitor: ${file} already exists; --force overwrites it\n`);
      assert.equal(readFileSync(here.path("kept.ndjson"), "utf8"), "precious");
    }
    assert.equal((await here.run(["export", "/dev/null"])).code, 0);
    assert.equal((await here.run(["export", "kept.ndjson", "--force"])).code, 0);
    assert.equal(readFileSync(here.path("kept.ndjson"), "utf8"), "");
  });

  test("an export whose reader closes early exits quietly", async (t) => {
    const here = workspace(t);
    // More than a pipe holds.
    writeFileSync(here.path("many.ndjson"), ndjson(manyLines(10_000)));
    assert.equal((await here.run(["import", "many.ndjson"])).code, 0);

    const child = spawn(process.execPath, [LAUNCHER, "export"], {
      cwd: here.folder,
      env: { ...process.env, DATABASE_URL: "sqlite:tanks.db" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    t.after(() => child.kill("SIGKILL"));
    const errors = text(child.stderr);
    await once(child.stdout, "data");
    child.stdout.destroy();
    const [code] = await once(child, "close");
    assert.equal(code, 0);
    assert.doesNotMatch(await errors, /Error|EPIPE|internal error|\bat /);
  });
});
