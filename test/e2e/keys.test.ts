// Keys created, rotated and revoked by the command line while the service runs. What a key may do is tested in test/http.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { cliOnDatabase, createKey, SMALL_FLEET } from "./fixtures.ts";
import { get, list, statusOf, waitForStatus } from "./requests.ts";

const SECRET = /^tm_[0-9A-Za-z]{36}$/;

const { workspace: here, items, output, run } = await cliOnDatabase({ after }, SMALL_FLEET);
const service = await here.start();

/** A new key with its id, which is printed on stderr. */
async function keyWithId(...words: string[]): Promise<{ key: string; id: string }> {
  const { stdout, stderr } = await run(["key", "create", ...words]);
  const [id = ""] = /key_\w+/.exec(stderr) ?? [];
  assert.match(stdout, /^\S+\n$/, "the secret alone");
  assert.ok(!stderr.includes(stdout.trim()), "the secret is on stdout alone");
  return { key: stdout.trim(), id };
}

const listed = async (id: string) => (await items("key", "list")).find((key) => key["id"] === id);

test("create prints the secret alone on stdout; the key works at once, and is limited as the flags say", async () => {
  const { key, id } = await keyWithId("--name", "of bob", "--customer", "bob", "--expires", "90d", "--rate", "1");
  assert.match(key, SECRET);
  assert.equal(await statusOf(service, key), 200);
  const { role, state, customer_id, rate } = (await listed(id)) ?? {};
  assert.deepEqual([role, state, customer_id, rate], ["read", "active", "bob", 1]);
  const statuses = await Promise.all(Array.from({ length: 10 }, () => statusOf(service, key)));
  assert.ok(statuses.includes(429), `${statuses}`);
});

test("a key for an unknown device is created, with a notice", async () => {
  const words = ["key", "create", "--name", "one device", "--role", "ingest", "--device"];
  assert.match((await run([...words, "nosuch"])).stderr, /Device nosuch is not known yet/);
  assert.doesNotMatch((await run([...words, "device-a1"])).stderr, /not known yet/);
  assert.match(await output("key", "list"), /device-a1 +none +never/, "no rate limit");
});

test("a revoked key is rejected within a second", async () => {
  const { key, id } = await keyWithId("--name", "soon revoked");
  let isRevoked = false;
  // In constant use, so the service has it in memory.
  const used = (async () => {
    for (; !isRevoked; await pause(10)) await statusOf(service, key);
  })();
  await here
    .launch(["key", "revoke", id])
    .waitForOutput(/ revoked/)
    .finally(() => {
      isRevoked = true;
    });
  await waitForStatus(service, key, 401, 1000);
  await used;
  assert.match((await get(service, "/v1/tanks", key)).text, /"code":"key_revoked"/);
  assert.equal((await listed(id))?.["state"], "revoked");
  assert.equal((await run(["key", "revoke", id])).stderr, `key ${id} is already revoked\n`);
});

test("rotate: both keys work for the overlap, then the new one alone, with the scope of the old one", async () => {
  const { key: old, id } = await keyWithId("--name", "rotated", "--customer", "ada");
  const fresh = (await output("key", "rotate", id, "--overlap", "1s")).trim();
  assert.match(fresh, SECRET);
  assert.notEqual(fresh, old);
  assert.equal((await list(service, "/v1/tanks", fresh)).total_items, 2);
  await waitForStatus(service, old, 401, 3000);
  const { key: kept, id: keptId } = await keyWithId("--name", "rotated too");
  await output("key", "rotate", keptId, "--overlap", "1h");
  assert.equal(await statusOf(service, kept), 200);
});

test("rotate says how long the old key works", async () => {
  for (const [created, rotated, said] of [
    [[], [], /^The old key works for another 24h\.$/m],
    [["--expires", "90d"], ["--overlap", "7d"], /^The old key works for another 7d\.$/m],
    [["--expires", "1h"], [], /^The old key works until it expires, at \d{4}-\S+Z\.$/m],
    [[], ["--overlap", "0s"], /^The old key no longer works\.$/m],
  ] as const) {
    const { id } = await keyWithId("--name", "rotated", ...created);
    assert.match((await run(["key", "rotate", id, ...rotated])).stderr, said);
  }
  const unknown = await run(["key", "rotate", "key_none"]);
  assert.deepEqual([unknown.code, unknown.stdout], [1, ""]);
  assert.match(unknown.stderr, /no such key: key_none/);
});

test("a key can be revoked and rotated by its secret, where the database is; no message repeats a secret", async () => {
  const { key: secret, id } = await keyWithId("--name", "leaked");
  const manage = await createKey(here, "--role", "manage");
  const remote = ["--url", service.url, "--key", manage];
  const calls = [
    [["key", "revoke", secret, ...remote], 2, /the secret of a key, not an id\. "npx tank-monitor key list" shows the ids/],
    [["audit", "--by", secret, ...remote], 2, /the secret of a key, not an id/],
    [["key", "revoke", secret.slice(0, -2)], 2, /the secret is mistyped or truncated; "npx tank-monitor key list"/],
    [["key", "revoke", `${secret}x`], 2, /mistyped or truncated/],
    [["tank", "show", secret], 1, /no such tank: tm_…; see "npx tank-monitor tank list"/],
    [["tank", "list", "--owner", secret], 1, /no such customer: tm_…/],
    [["customer", "update", "ada", "--email", secret], 2, /--email/],
    [["key", secret], 2, /no such action: "tm_…"/],
    [["key", "revoke", id, secret], 2, /unexpected argument "tm_…"/],
  ] as const;
  for (const [words, exitCode, message] of calls) {
    const { code, stdout, stderr } = await run(words);
    assert.deepEqual([code, stdout], [exitCode, ""], stderr);
    assert.match(stderr, message);
    assert.ok(!stderr.includes(secret.slice(0, 23)), stderr);
  }
  const rotated = await run(["key", "rotate", secret, "--overlap", "1h"]);
  assert.match(rotated.stderr, new RegExp(`created, replacing ${id}`));
  assert.match(await output("audit", "--by", secret), /^$/);
  assert.equal((await run(["key", "revoke", secret])).stderr, `key ${id} revoked\n`);
  await waitForStatus(service, secret, 401, 1000);
  const [, foreign = ""] =
    /^(\S+)\n$/.exec((await run(["key", "create", "--name", "x"], { env: { DATABASE_URL: "sqlite:other.db" } })).stdout) ?? [];
  assert.match((await run(["key", "revoke", foreign])).stderr, /no key of this database has this secret/);
});

test("list prints every key as a table or as JSON lines, and never a secret", async () => {
  const secret = await createKey(here, "--name", "listed once");
  const [table, json] = [await output("key", "list"), await output("key", "list", "--json")];
  assert.match(table, /^ID\s+ROLE\s+STATE\s+/);
  assert.match(table, /^key_\S+ +read +active .* listed once$/m);
  assert.equal(json.split("\n").length + 1, table.split("\n").length);
  assert.ok(!`${table}${json}`.includes(secret.slice(3)));
});
