import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Client } from "pg";
import { until } from "../until.ts";
import { type OwnPostgres, ownPostgres } from "./own.ts";

const AT_WORK = "SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'";

suite("a server of a test's own", { concurrency: 2 }, () => {
  test("is stopped or killed, and comes back in the same place with what was committed", async (t) => {
    const server = await ownPostgres(t);
    const { url } = server;
    await ask(server, "CREATE TABLE kept (how text)");
    for (const how of ["fast", "immediate", "kill"] as const) {
      const before = server.pid();
      await ask(server, `INSERT INTO kept VALUES ('${how}')`);
      const cut = assert.rejects(ask(server, "SELECT pg_sleep(60)"));
      await until("a session is at work", async () => (await ask(server, AT_WORK)).length > 0);

      await server.stop(how);
      await cut;
      await assert.rejects(ask(server, "SELECT 1"), { code: "ECONNREFUSED" });
      assert.equal(server.pid(), undefined);

      await server.start();
      assert.equal(server.url, url);
      assert.notEqual(server.pid(), before);
    }
    assert.deepEqual(await ask(server, "SELECT how FROM kept"), [{ how: "fast" }, { how: "immediate" }, { how: "kill" }]);

    const wrong = Object.assign(new URL(url), { password: "guess" }).href;
    await assert.rejects(ask({ url: wrong }, "SELECT 1"), /password authentication failed/);
  });

  test("has a streaming replica that only reads, catches up after it was away, and can take over", async (t) => {
    const server = await ownPostgres(t);
    await ask(server, "CREATE TABLE reading (n int)");
    await ask(server, "INSERT INTO reading VALUES (1)");
    const replica = await server.replica();
    const seen = (n: number) => until(`reading ${n}`, async () => (await ask(replica, "SELECT n FROM reading")).length === n);
    await seen(1);
    await ask(server, "INSERT INTO reading VALUES (2)");
    await seen(2);
    await assert.rejects(ask(replica, "INSERT INTO reading VALUES (3)"), /read-only transaction/);

    await replica.stop("kill");
    await ask(server, "INSERT INTO reading VALUES (3)");
    await ask(server, "SELECT pg_switch_wal()");
    await ask(server, "CHECKPOINT");
    await replica.start();
    await seen(3);

    await server.stop("kill");
    assert.deepEqual(await ask(replica, "SELECT pg_promote() AS promoted"), [{ promoted: true }]);
    await ask(replica, "INSERT INTO reading VALUES (4)");
    await seen(4);
  });
});

async function ask({ url }: Pick<OwnPostgres, "url">, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}
