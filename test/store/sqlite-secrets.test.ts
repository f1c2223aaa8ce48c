// The hash of a secret is stored with its key, and nowhere else in the file.

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import test from "node:test";
import { hashSecret, newSecret } from "../../src/domain/key.ts";
import { at, command, executed } from "../support/commands.ts";
import { databaseFolder } from "../support/stores.ts";
import { key, NEW_YEAR } from "./conformance/objects.ts";

test("no table but that of the keys holds a hash of a secret", async (t) => {
  const folder = databaseFolder(t);
  const store = await folder.open();
  const hashes = [newSecret(), newSecret()].map(hashSecret) as [string, string];
  await executed(store, command.createKey(key("k"), hashes[0]), at(NEW_YEAR), { key: "once", fingerprint: "this" });
  await executed(store, command.rotateKey("k", 0, "next", hashes[1]), at(NEW_YEAR), { key: "twice", fingerprint: "that" });
  await executed(store, command.revokeKey("next"), at(NEW_YEAR));
  await store.close();
  const db = new DatabaseSync(folder.file, { readOnly: true });
  t.after(() => db.close());
  const tables = db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
    .all()
    .map(({ name }) => String(name));
  const holding = tables.filter((name) => {
    const rows = JSON.stringify(db.prepare(`SELECT * FROM "${name}"`).all());
    return hashes.some((hash) => rows.includes(hash));
  });
  assert.deepEqual(holding, ["api_key"]);
});
