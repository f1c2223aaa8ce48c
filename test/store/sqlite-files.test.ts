// The database file: pragmas, schema version, and which files are refused.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { UserError } from "../../src/domain/errors.ts";
import { openStore } from "../../src/store/open.ts";
import { openReader, openWriter } from "../../src/store/sqlite/connection.ts";
import { COLUMN_TYPES, createSchema, requireOwnDatabase } from "../../src/store/sqlite/schema.ts";
import { startScript } from "../support/script.ts";
import { databaseFolder } from "../support/stores.ts";
import { customer, customersOf, everything, putCustomers } from "./conformance/objects.ts";

const isUserError =
  (message: RegExp, exitCode = 1) =>
  (error: unknown) => {
    assert.ok(error instanceof UserError, String(error));
    assert.match(error.message, message);
    assert.doesNotMatch(error.message, /\n/);
    assert.equal(error.exitCode, exitCode);
    return true;
  };

function raw<T>(file: string, use: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(file);
  try {
    return use(db);
  } finally {
    db.close();
  }
}

const pragma = (db: DatabaseSync, name: string) => Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0];

test("/readyz depends on every column", (t) => {
  const db = openWriter(databaseFolder(t).file);
  createSchema(db);
  const columns = db
    .prepare(
      "SELECT t.name || '.' || c.name AS name FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table'",
    )
    .all();
  db.close();
  assert.deepEqual(columns.map(({ name }) => name).sort(), [...COLUMN_TYPES.keys()].sort());
});

test("the writing connection uses WAL, syncs at every commit and enforces references", (t) => {
  const db = openWriter(databaseFolder(t).file);
  t.after(() => db.close());
  assert.equal(pragma(db, "journal_mode"), "wal");
  assert.equal(pragma(db, "synchronous"), 2); // FULL: https://sqlite.org/pragma.html#pragma_synchronous
  assert.equal(pragma(db, "foreign_keys"), 1);
});

test("the reading connection cannot write", async (t) => {
  const folder = databaseFolder(t);
  await folder.open();
  const db = openReader(folder.file);
  t.after(() => db.close());
  assert.throws(() => db.exec("DELETE FROM customer"), /readonly/);
});

test("a new database is created with its folders and the application id", async (t) => {
  const folder = databaseFolder(t);
  const file = join(folder.path, "deep", "er", "tanks.db");
  await putCustomers(await folder.open(file), customer("a"));
  raw(file, (db) => {
    assert.equal(pragma(db, "application_id"), 0x544e4b4d);
    assert.equal(pragma(db, "journal_mode"), "wal");
    assert.equal(pragma(db, "integrity_check"), "ok");
    assert.ok(Number(pragma(db, "user_version")) >= 1);
  });
});

test("a clean close leaves one file behind", async (t) => {
  const folder = databaseFolder(t);
  const store = await folder.open();
  await putCustomers(store, customer("a"));
  await store.close();
  assert.deepEqual(readdirSync(folder.path), ["tank-monitor.db"]);
});

test("opening a database again changes nothing", async (t) => {
  const folder = databaseFolder(t);
  const store = await folder.open();
  await putCustomers(store, customer("a"));
  await store.close();
  const schema = () => raw(folder.file, (db) => [db.prepare("SELECT * FROM sqlite_schema").all(), pragma(db, "user_version")]);
  const [before, bytes] = [schema(), readFileSync(folder.file)];
  raw(folder.file, createSchema);
  await (await folder.open()).close();
  assert.deepEqual(schema(), before);
  assert.deepEqual(readFileSync(folder.file), bytes);
  assert.equal((await customersOf(await folder.open())).totalItems, 1);
});

test("a database with another schema is refused and left as it is", async (t) => {
  const folder = databaseFolder(t);
  await (await folder.open()).close();
  raw(folder.file, (db) => db.exec("PRAGMA user_version = 9999"));
  await assert.rejects(
    folder.open(),
    isUserError(/was created by another version of Tank Monitor\. Export it with that version/),
  );
  assert.equal(
    raw(folder.file, (db) => pragma(db, "user_version")),
    9999,
  );
});

test("another program's database is refused and left as it is", async (t) => {
  const folder = databaseFolder(t);
  raw(folder.file, (db) => db.exec("CREATE TABLE songs (title TEXT)"));
  await assert.rejects(folder.open(), isUserError(/is a SQLite database of another program/));
  const tables = raw(folder.file, (db) => db.prepare("SELECT name FROM sqlite_schema").all());
  assert.deepEqual(
    tables.map((row) => ({ ...row })),
    [{ name: "songs" }],
  );
});

test("refusing another program's database does not change its journal mode", async (t) => {
  const folder = databaseFolder(t);
  raw(folder.file, (db) => db.exec("CREATE TABLE songs (title TEXT)"));
  const before = readFileSync(folder.file);
  await assert.rejects(folder.open(), UserError);
  assert.ok(readFileSync(folder.file).equals(before), "the file of another program was written to");
});

test("a file that is no database is refused and left as it is", async (t) => {
  const folder = databaseFolder(t);
  writeFileSync(folder.file, "tank_id,created_at,fill_percentage\n".repeat(100));
  await assert.rejects(
    folder.open(),
    isUserError(/is not a database, or .*\. Set DATABASE_URL to another file, or restore a backup/),
  );
  assert.match(readFileSync(folder.file, "utf8"), /^tank_id/);
});

test("an empty file becomes a database", async (t) => {
  const folder = databaseFolder(t);
  writeFileSync(folder.file, "");
  assert.equal(await (await folder.open()).isEmpty(), true);
});

test("a path that cannot be a file is one line of error", async (t) => {
  const folder = databaseFolder(t);
  mkdirSync(folder.file);
  await assert.rejects(folder.open(), isUserError(/cannot be opened or created/));
  const inFile = join(folder.path, "plain");
  writeFileSync(inFile, "");
  await assert.rejects(folder.open(join(inFile, "tanks.db")), isUserError(/cannot be opened or created/));
});

/** Root may write anywhere: `work` runs without its privileges. */
async function asNobody(work: () => Promise<void>): Promise<void> {
  const isRoot = process.getuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  try {
    await work();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

test("a folder without write permission is one line of error", async (t) => {
  const folder = databaseFolder(t);
  const closed = join(folder.path, "closed");
  mkdirSync(closed);
  chmodSync(closed, 0o500);
  await asNobody(async () => {
    await assert.rejects(folder.open(join(closed, "tanks.db")), isUserError(/cannot be opened or created/));
  });
});

test("a database URL of an unknown kind is refused without showing its password", async () => {
  for (const url of ["mysql://root:hunter2@db/tanks", "sqlite:", "tanks.db", ""]) {
    await assert.rejects(
      openStore(url, () => {}),
      isUserError(/^DATABASE_URL must be sqlite:FILE/, 2),
    );
    await assert.rejects(
      openStore(url, () => {}),
      (error: Error) => !error.message.includes("hunter2"),
    );
  }
});

test("a database URL that is nearly right is refused with what to write", async () => {
  for (const [url, message] of [
    ["sqlite:///tmp/foo.db", /write sqlite:\/tmp\/foo\.db$/],
    ["sqlite://data/foo.db", /write sqlite:data\/foo\.db$/],
    ["foo", /: it has no scheme$/],
    ["mysql://db/tanks", /: it begins with mysql:$/],
  ] as const) {
    await assert.rejects(
      openStore(url, () => {}),
      isUserError(message, 2),
    );
  }
});

test("processes that open a new database at the same moment all succeed", async (t) => {
  const folder = databaseFolder(t);
  const processes = await Promise.all(Array.from({ length: 4 }, () => startScript(t, "opens.ts")));
  for (let round = 0; round < 10; round++) {
    const file = join(folder.path, `new ${round}.db`);
    for (const { send } of processes) send(file);
    const printed = await Promise.all(processes.map(({ lines }) => lines(1)));
    assert.deepEqual(printed.flat(), ["opened", "opened", "opened", "opened"], `round ${round}`);
  }
});

test("a database whose schema another process is creating is not refused", async (t) => {
  const { file } = databaseFolder(t);
  const openElsewhere = () => {
    const opens = fileURLToPath(new URL("./processes/opens.ts", import.meta.url));
    const output = spawnSync(process.execPath, [opens], { input: `${file}\n`, encoding: "utf8" }).stdout;
    // Being locked out is as good.
    assert.match(output, /opened|locked/);
  };
  /** The other process opens the database between two statements. */
  class Interrupted extends DatabaseSync {
    isDone = false;
    override prepare(sql: string) {
      if (sql.includes("sqlite_schema") && !this.isDone) {
        this.isDone = true;
        openElsewhere();
      }
      return super.prepare(sql);
    }
  }
  const db = new Interrupted(file);
  t.after(() => db.close());
  requireOwnDatabase(db, file, true);
  createSchema(db);
  assert.ok(Number(pragma(db, "user_version")) >= 1);
});

test("a scratch copy leaves no file behind", async (t) => {
  const folder = databaseFolder(t);
  const store = await folder.open();
  await putCustomers(store, customer("a"));
  const before = readdirSync(folder.path);
  const copy = await store.scratchCopy(() => {});
  await putCustomers(copy, customer("b"));
  assert.ok(readdirSync(folder.path).length > before.length);
  await copy.close();
  assert.deepEqual(readdirSync(folder.path), before);
  assert.equal((await everything(store)).length, 1);
});

test("a backup into a folder that is not there fails, and the store goes on", async (t) => {
  const folder = databaseFolder(t);
  const store = await folder.open();
  const file = join(folder.path, "nowhere", "copy.db");
  await assert.rejects(store.backup(file, () => {}));
  assert.equal(existsSync(file), false);
  assert.deepEqual(await putCustomers(store, customer("a")), ["new"]);
});
