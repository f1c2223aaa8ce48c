import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { lockStore } from "../../src/store/open.ts";
import { postgresDatabase } from "../support/postgres/database.ts";

async function isLockedOnce(url: string): Promise<void> {
  const lock = await lockStore(url);
  assert.ok(lock !== undefined);
  assert.equal(await lockStore(url), undefined, "another has it");
  await lock[Symbol.asyncDispose]();
  const again = await lockStore(url);
  assert.ok(again !== undefined, "it was released");
  await again[Symbol.asyncDispose]();
}

test("a SQLite database is locked once at a time, also before it exists", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tank-monitor-lock-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  await isLockedOnce(`sqlite:${join(folder, "data", "demo.db")}`);
});

test("so is one of PostgreSQL", async (t) => {
  await isLockedOnce((await postgresDatabase(t)).url);
});
