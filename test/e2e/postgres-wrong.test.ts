// A DATABASE_URL that leads nowhere: one line that says why, without the password, and an end.

import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { postgresDatabase } from "../support/postgres/database.ts";
import { home } from "./program.ts";

const PASSWORD = "hunter2-secret";
const database = await postgresDatabase({ after });
const foreign = await postgresDatabase({ after });
await foreign.query("CREATE TABLE customer (surname text)");
const newer = await postgresDatabase({ after });
await newer.query("CREATE TABLE tank_monitor AS SELECT 99 AS version");

const changed = (parts: Partial<URL>): string => Object.assign(new URL(database.url), parts).href;

const WRONG: Record<string, { readonly url: string; readonly code: 1 | 2; readonly says: RegExp }> = {
  "a wrong password": { url: changed({ password: PASSWORD }), code: 1, says: /password authentication failed/ },
  "no password": { url: changed({ password: "" }), code: 1, says: /password/ },
  "an unknown user": { url: changed({ username: "nobody-here", password: PASSWORD }), code: 1, says: /nobody-here/ },
  "an unknown database": { url: changed({ pathname: "/no_such_database" }), code: 1, says: /no_such_database/ },
  "no server": { url: `postgres://user:${PASSWORD}@127.0.0.1:1/tanks`, code: 1, says: /ECONNREFUSED/ },
  "no host": { url: `postgres://user:${PASSWORD}@no-such-host.invalid/tanks`, code: 1, says: /no-such-host\.invalid/ },
  "no socket": { url: `postgres:///tanks?host=/no/such/folder&password=${PASSWORD}`, code: 1, says: /DATABASE_URL/ },
  "no certificate": { url: `${database.url}?sslrootcert=/no/such/file`, code: 1, says: /no\/such\/file/ },
  "no TLS": { url: `${database.url}?sslmode=verify-full`, code: 1, says: /SSL/ },
  "an unknown option": { url: `${database.url}?options=-c%20nonsense%3D1`, code: 1, says: /nonsense/ },
  "somebody else's tables": { url: foreign.url, code: 1, says: /a table "customer" of another program/ },
  "the tables of a newer program": { url: newer.url, code: 1, says: /another version of Tank Monitor/ },
  "a port that cannot be": { url: `postgres://user:${PASSWORD}@127.0.0.1:123456/tanks`, code: 2, says: /is not a URL/ },
  "a password with a slash": { url: `postgres://user:${PASSWORD}/x@127.0.0.1/tanks`, code: 2, says: /escape/ },
  "nothing behind the scheme": { url: `postgres:${PASSWORD}`, code: 2, says: /DATABASE_URL must be/ },
};

suite("DATABASE_URL with", { concurrency: 2 }, () => {
  for (const [what, { url, code, says }] of Object.entries(WRONG)) {
    test(what, async (t) => {
      const given = await home(t).run(["serve"], { env: { DATABASE_URL: url }, patience: 10_000 });
      assert.match(given.stderr, /^tank-monitor: [^\n]+\n$/);
      assert.match(given.stderr, says);
      assert.deepEqual([given.code, given.stdout], [code, ""]);
      const own = new URL(database.url).password;
      for (const secret of [PASSWORD, own]) assert.ok(!given.stderr.includes(secret), given.stderr);
    });
  }

  test("tables of somebody else, which stay as they are", async () => {
    const tables = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace";
    assert.deepEqual(await foreign.query(tables), [{ relname: "customer" }]);
  });
});
