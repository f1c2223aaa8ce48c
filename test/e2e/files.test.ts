// The files that commands create, and those that they must not touch.

import assert from "node:assert/strict";
import { chmodSync, linkSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, watch, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { after, suite, test } from "node:test";
import { postgresDatabase } from "../support/postgres/database.ts";
import { sqlOn } from "../support/sql.ts";
import * as fixtures from "./fixtures.ts";
import { type Workspace, workspace } from "./program.ts";

const { customer, importLines, SMALL_FLEET } = fixtures;

const modeOf = (file: string): string => (statSync(file).mode & 0o777).toString(8);

// Commands and services inherit it: as an operator with an open umask sees it.
process.umask(0);

suite("files are private", () => {
  test("a new database, backup, export and list of rejected lines have mode 600, whatever the umask", async (t) => {
    const here = workspace(t);
    writeFileSync(here.path("fleet.ndjson"), `${fixtures.ndjson(SMALL_FLEET)}{}\n`);
    assert.equal(modeOf(here.path("fleet.ndjson")), "666", "the umask is open");
    assert.equal((await here.run(["import", "fleet.ndjson"])).code, 1);
    const service = await here.start();
    for (const words of [
      ["backup", "copy.db"],
      ["export", "all.ndjson"],
      ["export", "readings.csv"],
    ]) {
      assert.equal((await here.run(words)).code, 0, words.join(" "));
    }
    const files = readdirSync(here.folder).filter((name) => name !== "fleet.ndjson");
    assert.deepEqual(files.sort(), [
      "all.ndjson",
      "copy.db",
      "fleet.ndjson.rejects.ndjson",
      "readings.csv",
      "tanks.db",
      "tanks.db-shm",
      "tanks.db-wal",
    ]);
    for (const name of files) assert.equal(modeOf(here.path(name)), "600", name);
    await service.stop();
  });

  test("a file that exists keeps its mode", async (t) => {
    const here = workspace(t);
    await importLines(here, SMALL_FLEET);
    writeFileSync(here.path("shared.ndjson"), "");
    for (const name of ["tanks.db", "shared.ndjson"]) chmodSync(here.path(name), 0o640);
    await importLines(here, [customer("eve")], "more.ndjson");
    assert.equal((await here.run(["export", "shared.ndjson", "--force"])).code, 0);
    for (const name of ["tanks.db", "shared.ndjson"]) assert.equal(modeOf(here.path(name)), "640", name);
  });

  test("a backup of PostgreSQL has mode 600 too", async (t) => {
    const { url, closeFirst } = await postgresDatabase(t);
    const here = workspace({ after: closeFirst }, { DATABASE_URL: url });
    await importLines(here, SMALL_FLEET);
    assert.equal((await here.run(["backup", "copy.sql"])).code, 0);
    assert.equal(modeOf(here.path("copy.sql")), "600");
  });
});

suite("the database is never overwritten", async () => {
  const here = workspace({ after });
  await importLines(here, SMALL_FLEET);
  mkdirSync(here.path("sub"));
  symlinkSync(here.path("tanks.db"), here.path("symbolic.db"));
  linkSync(here.path("tanks.db"), here.path("hard.db"));
  symlinkSync(here.folder, here.path("sub/folder"));
  const before = readFileSync(here.path("tanks.db"));

  for (const file of [
    "tanks.db",
    "./sub/../tanks.db",
    "symbolic.db",
    "hard.db",
    "sub/folder/tanks.db",
    "tanks.db-wal",
    "tanks.db-shm",
    "tanks.db-journal",
  ]) {
    test(`export --force and backup reject ${file}`, async () => {
      for (const words of [
        ["export", file, "--force"],
        ["backup", file],
      ]) {
        const { code, stdout, stderr } = await here.run(words);
        assert.deepEqual([code, stdout], [1, ""], words.join(" "));
        assert.equal(stderr, `tank-monitor: ${file} is a file of the database itself; name another file\n`);
      }
      assert.ok(readFileSync(here.path("tanks.db")).equals(before));
    });
  }
});

test("a failed export leaves the file that it would replace as it was, and nothing else", async (t) => {
  const here = workspace(t);
  await importLines(here, SMALL_FLEET);
  writeFileSync(here.path("kept.ndjson"), "precious");
  writeFileSync(here.path("tanks.db"), readFileSync(here.path("tanks.db")).fill(7, 8192));
  const before = readdirSync(here.folder);
  const { code } = await here.run(["export", "kept.ndjson", "--force"]);
  assert.equal(code, 1);
  assert.equal(readFileSync(here.path("kept.ndjson"), "utf8"), "precious");
  assert.deepEqual(readdirSync(here.folder), before);
});

suite("a backup or export that is stopped leaves nothing behind", () => {
  async function expectNothingLeft(here: Workspace, words: readonly string[], signal: NodeJS.Signals): Promise<void> {
    const before = readdirSync(here.folder);
    const added = () => readdirSync(here.folder).filter((name) => !before.includes(name) && !name.startsWith("tanks.db-"));
    const watcher = watch(here.folder);
    const running = here.launch(words);
    // At once: polling could miss the file.
    watcher.on("change", (_, name) => {
      if (!String(name).includes(".partial-")) return;
      watcher.close();
      running.kill(signal);
    });
    const { code, stderr } = await running.exited;
    watcher.close();
    assert.deepEqual([code, added()], [130, []], stderr);
  }

  test("a backup of SQLite", async (t) => {
    const here = workspace(t);
    await importLines(here, SMALL_FLEET);
    const db = new DatabaseSync(here.path("tanks.db"));
    db.exec("CREATE TABLE filler AS SELECT zeroblob(300000000)");
    db.close();
    await expectNothingLeft(here, ["backup", "copy.db"], "SIGTERM");
  });

  test("an export of PostgreSQL", async (t) => {
    const { url, closeFirst } = await postgresDatabase(t);
    const here = workspace({ after: closeFirst }, { DATABASE_URL: url });
    await importLines(here, SMALL_FLEET);
    const lock = await sqlOn({ after: closeFirst }, url);
    for (const statement of ["BEGIN", "LOCK TABLE pending_reading IN ACCESS EXCLUSIVE MODE"]) await lock(statement);
    await expectNothingLeft(here, ["export", "all.ndjson"], "SIGINT");
  });
});

suite("a command that needs data does not create a database", () => {
  const READING = [
    "fleet",
    "tank list",
    "audit",
    "check",
    "check --repair",
    "export",
    "key list",
    "device pending",
    "backup x.db",
  ];

  test("in an empty file", async (t) => {
    const here = workspace(t);
    writeFileSync(here.path("tanks.db"), "");
    for (const words of READING) {
      const { code, stdout, stderr } = await here.run(words.split(" "));
      assert.deepEqual([code, stdout], [1, ""], words);
      assert.match(stderr, /no database at \S+tanks\.db: the file is empty\. Run this in the folder.*DATABASE_URL/);
    }
    assert.deepEqual(readdirSync(here.folder), ["tanks.db"]);
    assert.equal(statSync(here.path("tanks.db")).size, 0);
  });

  test("in an empty PostgreSQL database", async (t) => {
    const { url, query, closeFirst } = await postgresDatabase(t);
    const here = workspace({ after: closeFirst }, { DATABASE_URL: url });
    for (const words of READING) {
      const { code, stdout, stderr } = await here.run(words.split(" "));
      assert.deepEqual([code, stdout], [1, ""], words);
      assert.match(stderr, /the database in DATABASE_URL is empty/);
    }
    assert.deepEqual(await query("SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"), []);
  });
});
