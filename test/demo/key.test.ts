// The key that the demo prints. `test/e2e/demo.test.ts` has the file beside a SQLite database.

import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { keyFile, reusableReadKey } from "../../src/cli/demo-key.ts";
import { postgresEngine } from "../store/engines.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("on PostgreSQL the key is kept too, in a file that only its owner can read", async (t) => {
  const { store, url } = await postgresEngine.open(t);
  const name = keyFile(url);
  assert.match(name, /^data\/demo-[0-9a-f]{16}\.key$/);
  const file = join(temporaryFolder(t), name);
  const key = await reusableReadKey(store, file);
  assert.match(key, /^tm_[0-9A-Za-z]{36}$/);
  assert.equal(readFileSync(file, "utf8"), `${key}\n`);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(await reusableReadKey(store, file), key);
});

test("the name of the key file depends on the server and the database, not on the password", () => {
  const name = keyFile("postgres://user:secret@db.example/tanks");
  assert.equal(keyFile("postgres://user@db.example/tanks"), name);
  assert.equal(keyFile("postgres://user:other@db.example/tanks"), name);
  assert.notEqual(keyFile("postgres://user:secret@db.example/others"), name);
});
