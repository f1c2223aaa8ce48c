// restore: a backup takes the place of the database, if nothing uses it and the backup has no errors.

import assert from "node:assert/strict";
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { suite, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { postgresDatabase, restoredFrom } from "../support/postgres/database.ts";
import { until } from "../support/until.ts";
import * as fixtures from "./fixtures.ts";
import { type Workspace, workspace } from "./program.ts";
import { get, texts } from "./requests.ts";

const { createKey, DIFFICULT_FLEET, FIVE_PATHS, importLines, manyLines, reading, SMALL_FLEET } = fixtures;

async function exported({ run }: Workspace, url?: string): Promise<string> {
  const { code, stdout, stderr } = await run(["export"], url === undefined ? {} : { env: { DATABASE_URL: url } });
  assert.equal(code, 0, stderr);
  return stdout;
}

/** Must fail in one line, and change nothing. */
async function refused(here: Workspace, words: readonly string[], message: RegExp): Promise<void> {
  const files = () => readdirSync(here.folder).filter((name) => !/-(wal|shm)$/.test(name));
  const before = files();
  const { code, stdout, stderr } = await here.run(["restore", ...words]);
  assert.deepEqual([code, stdout], [1, ""], stderr);
  assert.match(stderr, /^tank-monitor: (?!internal)[^\n]+\n$/);
  assert.match(stderr, message);
  assert.deepEqual(files(), before);
}

suite("a restored SQLite database", () => {
  test("has the state of the backup, with keys, also after a crash; the service must be stopped, and what was there is kept", async (t) => {
    const here = workspace(t);
    await importLines(here, SMALL_FLEET);
    const key = await createKey(here);
    const first = await here.start();
    const before = await texts(first, FIVE_PATHS, key);
    assert.equal((await here.run(["backup", "copy.db"])).code, 0);
    const again = await here.run(["backup", "copy.db"]);
    assert.match(again.stderr, /^tank-monitor: copy\.db already exists[^\n]+\n$/);
    await importLines(here, [reading("a1", 9, 1)], "later.ndjson");
    const after = await exported(here);
    assert.notDeepEqual(await texts(first, FIVE_PATHS, key), before);

    await refused(here, ["copy.db", "--force"], /tanks\.db is in use\. Stop the service/);
    assert.equal((await get(first, "/readyz")).status, 200);
    first.kill("SIGKILL");
    await first.exited;
    assert.ok(existsSync(here.path("tanks.db-wal")), "the crash has left a log");

    const restored = await here.run(["restore", "copy.db", "--force"]);
    assert.deepEqual([restored.code, restored.stdout], [0, ""], restored.stderr);
    const [, kept = ""] =
      /^database restored from copy\.db: 3 customers, 4 tanks, 4 readings; the previous data is kept as (\S+before-restore-\S+)\n$/.exec(
        restored.stderr,
      ) ?? [];
    assert.equal(await exported(here, `sqlite:${kept}`), after);
    await refused(here, ["copy.db"], /tanks\.db is not empty; --force replaces it and keeps the old one beside it/);
    assert.deepEqual(await texts(await here.start(), FIVE_PATHS, key), before);
  });

  test("needs no database before it, and no --force for an empty one; it is private", async (t) => {
    const here = workspace(t);
    await importLines(here, DIFFICULT_FLEET);
    assert.equal((await here.run(["backup", "copy.db"])).code, 0);
    const whole = await exported(here);
    const elsewhere = "sqlite:new/folder/tanks.db";
    const env = { DATABASE_URL: elsewhere };
    for (let i = 0; i < 2; i++) {
      const { code, stderr } = await here.run(["restore", "copy.db"], { env });
      assert.equal(code, i === 0 ? 0 : 1, stderr);
      assert.equal(await exported(here, elsewhere), whole);
    }
    assert.deepEqual(readdirSync(here.path("new/folder")), ["tanks.db"]);
    assert.equal(statSync(here.path("new/folder/tanks.db")).mode & 0o777, 0o600);
    const service = await here.start(["serve"], { env: { DATABASE_URL: "sqlite:fresh.db" } });
    await service.stop();
    const fresh = await here.run(["restore", "copy.db"], { env: { DATABASE_URL: "sqlite:fresh.db" } });
    assert.equal(fresh.code, 0, fresh.stderr);
    assert.equal(await exported(here, "sqlite:fresh.db"), whole);
  });

  const skip = process.geteuid?.() === 0 ? false : "only root can change owners";
  test("belongs to the owner of the previous one, or of its folder, if root restores it", { skip }, async (t) => {
    const here = workspace(t);
    await importLines(here, SMALL_FLEET);
    assert.equal((await here.run(["backup", "copy.db"])).code, 0);
    mkdirSync(here.path("new"));
    chownSync(here.path("copy.db"), 4001, 4002);
    chownSync(here.path("tanks.db"), 4003, 4004);
    chownSync(here.path("new"), 4005, 4006);
    const ownerOf = (name: string) => [statSync(here.path(name)).uid, statSync(here.path(name)).gid];
    for (const [name, owner] of [
      ["tanks.db", [4003, 4004]],
      ["new/tanks.db", [4005, 4006]],
    ] as const) {
      const env = { DATABASE_URL: `sqlite:${name}` };
      const { code, stderr } = await here.run(["restore", "copy.db", "--force"], { env });
      assert.equal(code, 0, stderr);
      assert.deepEqual(ownerOf(name), owner);
    }
    assert.deepEqual(ownerOf("copy.db"), [4001, 4002]);
  });

  test("replaces a damaged one, which is kept", async (t) => {
    const here = workspace(t);
    await importLines(here, SMALL_FLEET);
    const whole = await exported(here);
    assert.equal((await here.run(["backup", "copy.db"])).code, 0);
    const damages: readonly ((file: Buffer) => Buffer)[] = [
      (file) => file.fill(7, 0, 100),
      (file) => file.fill(7, 4096),
      () => Buffer.alloc(0),
    ];
    for (const damaged of damages) {
      writeFileSync(here.path("tanks.db"), damaged(readFileSync(here.path("copy.db"))));
      writeFileSync(here.path("tanks.db-wal"), "a log");
      await refused(here, ["copy.db"], /tanks\.db is not empty|tanks\.db-wal is left over from a previous database/);
      const { code, stderr } = await here.run(["restore", "copy.db", "--force"]);
      assert.equal(code, 0, stderr);
      assert.equal(await exported(here), whole);
    }
    const kept = readdirSync(here.folder).filter((name) => name.includes("before-restore"));
    assert.deepEqual(
      kept.map((name) => name.endsWith("-wal")).sort(),
      [false, false, false, true],
      "SQLite removes logs of the others",
    );
  });

  test("is not mixed with the logs of a previous one that is missing: they are kept", async (t) => {
    const here = workspace(t);
    await importLines(here, SMALL_FLEET);
    assert.equal((await here.run(["backup", "copy.db"])).code, 0);
    const whole = await exported(here);
    // A log whose pages fit the restored file.
    const db = new DatabaseSync(here.path("tanks.db"));
    db.exec("PRAGMA wal_autocheckpoint = 0; UPDATE customer SET name = 'Mallory'");
    const log = readFileSync(here.path("tanks.db-wal"));
    db.close();
    const names = ["tanks.db-wal", "tanks.db-journal", "tanks.db-shm"];
    const logs = () => names.filter((name) => existsSync(here.path(name)));

    for (const [leftover, contents] of [
      ["tanks.db-wal", log],
      ["tanks.db-journal", Buffer.from("a journal")],
    ] as const) {
      rmSync(here.path("tanks.db"));
      for (const name of [leftover, "tanks.db-shm"]) writeFileSync(here.path(name), contents);
      await refused(
        here,
        ["copy.db"],
        new RegExp(`/${leftover} is left over from a previous database and may contain data; --force keeps it`),
      );
      const { code, stderr } = await here.run(["restore", "copy.db", "--force"]);
      assert.equal(code, 0, stderr);
      assert.deepEqual(logs(), []);
      const [, kept = ""] = /; the previous data is kept as (\S+before-restore-\w+-(?:wal|journal))\n$/.exec(stderr) ?? [];
      assert.ok(readFileSync(kept).equals(contents));
      assert.equal(await exported(here), whole);
    }
    rmSync(here.path("tanks.db"));
    writeFileSync(here.path("tanks.db-shm"), "has no data");
    const { code, stderr } = await here.run(["restore", "copy.db"]);
    assert.deepEqual([code, stderr.includes("kept")], [0, false], stderr);
    assert.deepEqual(logs(), []);
  });

  test("is never one with errors, of another program or version, or something else", async (t) => {
    const here = workspace(t);
    await importLines(here, SMALL_FLEET);
    const whole = await exported(here);
    const change = async (name: string, sql: string) => {
      assert.equal((await here.run(["backup", name])).code, 0);
      const db = new DatabaseSync(here.path(name));
      db.exec(sql);
      db.close();
    };
    await change("wrong.db", "UPDATE customer SET tank_count = 9 WHERE id = 'ada'");
    await change("newer.db", "PRAGMA user_version = 1000");
    await change("foreign.db", "PRAGMA application_id = 1");
    await change("short.db", "PRAGMA user_version");
    truncateSync(here.path("short.db"), 40_960);
    writeFileSync(here.path("letter.db"), "Dear reader, this is no database.\n".repeat(50));
    writeFileSync(here.path("empty.db"), "");
    await change("open.db", "PRAGMA user_version");
    writeFileSync(here.path("open.db-wal"), "x");

    const before = readdirSync(here.folder);
    const wrong = await here.run(["restore", "wrong.db", "--force"]);
    assert.deepEqual([wrong.code, wrong.stdout], [1, "customer ada: it has 2 tanks, tank_count says 9\n"]);
    assert.equal(wrong.stderr, "tank-monitor: wrong.db has errors; nothing was restored\n");
    await refused(here, ["short.db", "--force"], /short\.db is .*incomplete or damaged: copy the backup again/);
    await refused(here, ["newer.db", "--force"], /newer\.db was created by another version of Tank Monitor/);
    for (const name of ["foreign.db", "letter.db", "empty.db"]) {
      await refused(
        here,
        [name, "--force"],
        new RegExp(`${name} is not a backup of a SQLite database of Tank Monitor, or is incomplete`),
      );
    }
    const folder = await here.run(["restore", "wrong.db", "--force"], { env: { DATABASE_URL: "sqlite:." } });
    assert.match(folder.stderr, /^tank-monitor: \S+ cannot be opened \(unable to open database file\)[^\n]+\n$/);
    await refused(here, ["open.db", "--force"], /open\.db is in use, or was not closed/);
    assert.deepEqual(readdirSync(here.folder), before);
    assert.equal(await exported(here), whole);
  });

  test("a command that waited for the restore reads the restored database", async (t) => {
    const here = workspace(t);
    for (const name of ["old", "tanks"]) {
      const env = { DATABASE_URL: `sqlite:${name}.db` };
      assert.equal((await here.run(["key", "create", "--name", name], { env })).code, 0);
    }
    renameSync(here.path("tanks.db"), here.path("new.db"));
    renameSync(here.path("old.db"), here.path("tanks.db"));
    const lock = new DatabaseSync(here.path("tanks.db"));
    lock.exec("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
    const listing = here.spawn(["key", "list"]);
    await delay(1500);
    renameSync(here.path("new.db"), here.path("tanks.db"));
    lock.close();
    const { code, stdout, stderr } = await listing;
    assert.equal(code, 0, stderr);
    assert.match(stdout, / tanks\n$/);
  });

  test("is complete or not there at all when the command is killed", async (t) => {
    const here = workspace(t);
    await importLines(here, manyLines(5000), "many.ndjson");
    assert.equal((await here.run(["backup", "copy.db"])).code, 0);
    const whole = await exported(here);
    await importLines(here, [reading("tank-1", 100_000, 1)], "later.ndjson");
    const later = await exported(here);
    for (const state of ["copying", "done"]) {
      const restoring = here.launch(["restore", "copy.db", "--force"]);
      const isThere = (part: string) => readdirSync(here.folder).some((name) => name.includes(part));
      await until(state, () => isThere(state === "copying" ? ".restore-" : ".before-restore-"), 30_000);
      restoring.kill("SIGKILL");
      await restoring.exited;
      assert.ok([whole, later].includes(await exported(here)));
      assert.equal((await here.run(["check"])).code, 0);
    }
  });
});

suite("a restored PostgreSQL database", () => {
  async function postgres(life: Parameters<typeof postgresDatabase>[0]) {
    const database = await postgresDatabase(life);
    return { ...workspace({ after: database.closeFirst }, { DATABASE_URL: database.url }), database };
  }

  test("has the state of the backup, with keys; the service must be stopped, and what was there is kept", async (t) => {
    const here = await postgres(t);
    await importLines(here, DIFFICULT_FLEET);
    await createKey(here);
    const first = await here.start();
    assert.equal((await here.run(["backup", "copy.sql"])).code, 0);
    const before = await exported(here);
    const keys = (await here.run(["key", "list", "--json"])).stdout;
    await importLines(here, [reading("a1", 9, 1)], "later.ndjson");
    await createKey(here);
    const after = await exported(here);
    assert.notEqual(after, before);

    await refused(here, ["copy.sql", "--force"], /the database is in use\. Stop the service/);
    await first.stop();
    await refused(
      here,
      ["copy.sql"],
      /the database is not empty; --force replaces it and keeps the old tables in another schema/,
    );
    const { code, stdout, stderr } = await here.run(["restore", "copy.sql", "--force"]);
    assert.deepEqual([code, stdout], [0, ""], stderr);
    const [, schema = ""] =
      /^database restored from copy\.sql: .*; the previous data is kept as schema (before_restore_\w+)\n$/.exec(stderr) ?? [];
    assert.equal(await exported(here), before);
    assert.equal((await here.run(["key", "list", "--json"])).stdout, keys);
    await importLines(here, [reading("a1", 9, 1)], "later.ndjson");
    assert.equal(await exported(here), after, "it can be written");
    const old = `${here.database.url}?options=-c%20search_path%3D${schema}`;
    assert.equal(await exported(here, old), after);
  });

  test("needs no database before it, and is never one that is incomplete, damaged or something else", async (t) => {
    const [here, there] = [await postgres(t), await postgres(t)];
    await importLines(here, DIFFICULT_FLEET);
    assert.equal((await here.run(["backup", "copy.sql"])).code, 0);
    const script = readFileSync(here.path("copy.sql"), "utf8");
    writeFileSync(there.path("other.sql"), script.replace("CREATE TABLE customer", "CREATE TABLE client"));
    writeFileSync(there.path("wrong.sql"), script.replace(/^(ada\t.*\t)2(\t?.*)$/m, "$19$2"));
    writeFileSync(there.path("letter.sql"), "Dear reader");
    const sqlite = { env: { DATABASE_URL: "sqlite:tanks.db" } };
    assert.equal((await there.run(["key", "create", "--name", "x"], sqlite)).code, 0);
    assert.equal((await there.run(["backup", "copy.db"], sqlite)).code, 0);
    writeFileSync(there.path("copy.sql"), script);

    const empty = await postgres(t);
    writeFileSync(empty.path("copy.sql"), script);
    assert.match(
      (await empty.run(["restore", "copy.sql"])).stderr,
      /^database restored from copy\.sql: 5 customers, 5 tanks, 306 readings\n$/,
    );
    const incomplete = [0, 50, 1000, script.indexOf("\nCOPY tank "), -2000, -10];
    for (const end of incomplete) {
      writeFileSync(there.path("short.sql"), script.slice(0, end));
      await refused(there, ["short.sql"], /short\.sql is incomplete: copy the backup again/);
    }
    await refused(there, ["other.sql"], /other\.sql was created by another version of Tank Monitor/);
    await refused(there, ["letter.sql"], /letter\.sql is not a backup of a PostgreSQL database/);
    await refused(there, ["copy.db"], /copy\.db is not a backup of a PostgreSQL database/);
    const wrong = await there.run(["restore", "wrong.sql"]);
    assert.deepEqual([wrong.code, wrong.stderr], [1, "tank-monitor: wrong.sql has errors; nothing was restored\n"]);
    assert.match(wrong.stdout, /customer ada: /);
    assert.deepEqual(await there.database.query("SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"), []);
    await there.run(["key", "create", "--name", "x"]);
    await there.database.query("ALTER TABLE api_key RENAME TO lost");
    await refused(there, ["copy.sql"], /the database is not empty/);
    const fromOther = await there.run(["restore", "copy.sql"], sqlite);
    assert.match(fromOther.stderr, /tanks\.db is not empty/);

    const restored = await there.run(["restore", "copy.sql", "--force"]);
    assert.equal(restored.code, 0, restored.stderr);
    assert.match(restored.stderr, /^database restored from copy\.sql: 5 customers, 5 tanks, 306 readings; the previous data/);
    assert.equal(await exported(there), await exported(here));
  });

  test("is unusable if psql has restored it from an incomplete script, also one that ends between two tables", async (t) => {
    const here = await postgres(t);
    await importLines(here, SMALL_FLEET);
    assert.equal((await here.run(["backup", "copy.sql"])).code, 0);
    const script = readFileSync(here.path("copy.sql"), "utf8");
    for (const end of [script.indexOf("\nCOPY tank "), script.lastIndexOf("\nINSERT INTO tank_monitor ")]) {
      assert.ok(end > 0);
      writeFileSync(here.path("short.sql"), script.slice(0, end));
      const { url } = await restoredFrom(here.path("short.sql"), t);
      for (const words of ["check", "key list", "key create --name x"]) {
        const { code, stdout, stderr } = await here.run(words.split(" "), { env: { DATABASE_URL: url } });
        assert.deepEqual([code, stdout], [1, ""]);
        assert.match(stderr, /^tank-monitor: the database is incomplete: .*Restore a complete one into an empty database\.\n$/);
      }
    }
  });
});
