import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Client } from "pg";
import type { Lifetime } from "../service.ts";
import { postgresDatabase } from "./database.ts";

suite("a database for a test", () => {
  test("is empty, apart from others, and speaks UTF-8", async (t) => {
    const [one, other] = [await postgresDatabase(t), await postgresDatabase(t)];
    await one.query("CREATE TABLE tank AS SELECT 'Öl' AS name");
    assert.deepEqual(await one.query("SELECT name, octet_length(name) AS bytes FROM tank"), [{ name: "Öl", bytes: 3 }]);
    assert.deepEqual(await other.query("SELECT to_regclass('tank') AS tank"), [{ tank: null }]);
  });

  test("is of PostgreSQL 15 or newer", async (t) => {
    const database = await postgresDatabase(t);
    const [row] = await database.query<{ version: number }>("SELECT current_setting('server_version_num')::int AS version");
    assert.ok(row !== undefined && row.version >= 150_000, JSON.stringify(row));
    t.diagnostic(`PostgreSQL ${row.version}`);
  });

  test("sorts by bytes, or like the language it is told", async (t) => {
    const sorted = "SELECT string_agg(name, '' ORDER BY name) AS names FROM unnest(ARRAY['B', 'a', 'b', 'A']) AS name";
    const [plain, english] = [await postgresDatabase(t), await postgresDatabase(t, { locale: "en-US" })];
    assert.deepEqual(await plain.query(sorted), [{ names: "ABab" }]);
    assert.deepEqual(await english.query(sorted), [{ names: "aAbB" }]);
  });

  test("is gone when the life ends: what stands on it is closed first, and a forgotten session does not hold it", async (t) => {
    const life = lifetime();
    const beside = await postgresDatabase(t);
    const database = await postgresDatabase(life);
    const count = () => beside.query("SELECT 1 FROM pg_database WHERE datname = $1", [new URL(database.url).pathname.slice(1)]);

    const forgotten = new Client({ connectionString: database.url });
    const told: string[] = [];
    forgotten.on("error", (error) => told.push(error.message));
    await forgotten.connect();
    t.after(() => forgotten.end());
    const closed: string[] = [];
    for (const name of ["store", "service"]) {
      database.closeFirst(async () => {
        assert.equal((await count()).length, 1);
        closed.push(name);
      });
    }

    await life.end();
    assert.deepEqual(closed, ["service", "store"]);
    assert.deepEqual(await count(), []);
    assert.match(told.join("\n"), /^terminating connection due to administrator command/);
  });
});

function lifetime(): Lifetime & { end(): Promise<void> } {
  const ends: (() => unknown)[] = [];
  return {
    after: (end) => ends.push(end),
    async end() {
      for (const end of ends) await end();
    },
  };
}
