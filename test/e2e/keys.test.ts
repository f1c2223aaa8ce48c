// Keys created, rotated and revoked by the command line while the service runs.

import assert from "node:assert/strict";
import { before, suite, test } from "node:test";
import { createKey, importLines, jsonLines, SMALL_FLEET } from "./fixtures.ts";
import { type Service, suiteLifetime, type Workspace, workspace } from "./program.ts";
import { get, list, statusOf, waitForStatus } from "./requests.ts";

const SECRET = /^tm_[0-9A-Za-z]{36}$/;

type Listed = { readonly id: string; readonly name: string; readonly state: string } & Readonly<Record<string, unknown>>;

suite("keys, while the service runs", () => {
  const life = suiteLifetime();
  let here: Workspace;
  let service: Service;

  before(async () => {
    here = workspace(life);
    await importLines(here, SMALL_FLEET);
    service = await here.start();
  });

  async function keysListed(): Promise<Listed[]> {
    const { code, stdout } = await here.run(["key", "list", "--json"]);
    assert.equal(code, 0);
    return jsonLines(stdout) as Listed[];
  }

  /** A new key with its id, which is printed on stderr. */
  async function keyWithId(...words: string[]): Promise<{ key: string; id: string }> {
    const { stdout, stderr } = await here.run(["key", "create", ...words]);
    const [id = ""] = /key_\w+/.exec(stderr) ?? [];
    return { key: stdout.trim(), id };
  }

  test("create prints the secret alone on stdout, and the key works at once", async () => {
    const { code, stdout, stderr } = await here.run(["key", "create", "--name", "at once"]);
    assert.equal(code, 0);
    assert.match(stdout, /^\S+\n$/);
    assert.match(stdout.trim(), SECRET);
    assert.ok(!stderr.includes(stdout.trim()), "the secret is on stdout alone");
    assert.equal(await statusOf(service, stdout.trim()), 200);
  });

  test("a key for an unknown device is created, with a notice", async () => {
    const words = ["key", "create", "--name", "one device", "--role", "ingest", "--device"];
    assert.match((await here.run([...words, "nosuch"])).stderr, /Device nosuch is not known yet/);
    assert.doesNotMatch((await here.run([...words, "device-a1"])).stderr, /not known yet/);
    const { stdout } = await here.run(["key", "list"]);
    assert.match(stdout, /device-a1 +none +never/, "no rate limit");
  });

  test("a revoked key is rejected within a second", async () => {
    const { key, id } = await keyWithId("--name", "soon gone");
    assert.equal(await statusOf(service, key), 200);
    let isRevoked = false;
    // In constant use, so the service has it in memory.
    const used = (async () => {
      while (!isRevoked) assert.equal(await statusOf(service, key), 200);
    })();
    const revoking = here.launch(["key", "revoke", id]);
    await revoking.waitForOutput(/ revoked/).finally(() => {
      isRevoked = true;
    });
    await used.catch(() => {});
    await waitForStatus(service, key, 401, 1000);
    assert.equal((await revoking.exited).code, 0);
    assert.match((await get(service, "/v1/tanks", key)).text, /"code":"key_revoked"/);
    assert.equal((await keysListed()).find((known) => known.id === id)?.state, "revoked");
  });

  test("rotate: both keys work for the overlap, then the new one alone", async () => {
    const { key: old, id } = await keyWithId("--name", "rotated", "--customer", "ada");
    const { code, stdout } = await here.run(["key", "rotate", id, "--overlap", "2s"]);
    const rotatedAt = performance.now();
    assert.equal(code, 0);
    const fresh = stdout.trim();
    assert.match(fresh, SECRET);
    assert.notEqual(fresh, old);
    assert.deepEqual([await statusOf(service, old), await statusOf(service, fresh)], [200, 200]);
    await waitForStatus(service, old, 401, 3000);
    assert.ok(performance.now() - rotatedAt > 500, "the old key stopped working at once");
    assert.equal((await list(service, "/v1/tanks", fresh)).total_items, 2, "the new key has the scope of the old one");
  });

  test("a key created with --expires works until then", async () => {
    const key = await createKey(here, "--name", "short", "--expires", "2s");
    assert.equal(await statusOf(service, key), 200);
    await waitForStatus(service, key, 401, 3000);
    assert.match((await get(service, "/v1/tanks", key)).text, /"code":"key_expired"/);
    assert.equal((await keysListed()).find(({ name }) => name === "short")?.state, "expired");
  });

  test("a key created with --customer sees only that customer, and its use updates their last_seen_at", async () => {
    const key = await createKey(here, "--name", "of bob", "--customer", "bob");
    const all = await createKey(here, "--name", "of the operator");
    const customers = await list(service, "/v1/customers", key);
    assert.deepEqual([customers.data.map(({ id }) => id), customers.total_items], [["bob"], 1]);
    assert.deepEqual(
      (await list(service, "/v1/tanks", key)).data.map(({ id }) => id),
      ["b1"],
    );
    assert.deepEqual([await statusOf(service, key, "/v1/tanks/b1"), await statusOf(service, key, "/v1/tanks/a1")], [200, 404]);
    await service.stop();
    service = await here.start();
    const { data } = await list(service, "/v1/customers", all);
    const seen = data.find(({ id }) => id === "bob")?.["last_seen_at"];
    assert.ok(typeof seen === "string" && Math.abs(Date.now() - Date.parse(seen)) < 60_000, `last_seen_at is ${seen}`);
  });

  test("a key created with --rate is limited, and gets Retry-After", async () => {
    const key = await createKey(here, "--name", "slow", "--rate", "1");
    const statuses = await Promise.all(Array.from({ length: 10 }, () => statusOf(service, key)));
    assert.ok(statuses.includes(200) && statuses.includes(429), `${statuses}`);
    const { headers, status } = await get(service, "/v1/tanks", key);
    assert.equal(status, 429);
    assert.match(headers.get("retry-after") ?? "", /^[1-9]\d*$/);
  });

  test("a key with the role ingest cannot read, and only one with the role manage sees the metrics", async () => {
    const [ingest, manage, read] = await Promise.all(["ingest", "manage", "read"].map((role) => createKey(here, "--role", role)));
    assert.ok(ingest !== undefined && manage !== undefined && read !== undefined);
    assert.equal(await statusOf(service, ingest), 403);
    assert.equal(await statusOf(service, read, "/metrics"), 403);
    assert.equal(await statusOf(service, manage, "/metrics"), 200);
    const scraped = await get(service, "/metrics", undefined, { authorization: `Bearer ${manage}` });
    assert.match(scraped.text, /^tank_monitor_\S+ \d/m);
  });

  test("list prints every key as a table or as JSON lines, and never a secret", async () => {
    const secret = await createKey(here, "--name", "listed once");
    const [table, json] = await Promise.all([here.run(["key", "list"]), here.run(["key", "list", "--json"])]);
    assert.match(table.stdout, /^ID\s+ROLE\s+STATE\s+/);
    assert.match(table.stdout, /^key_\S+ +read +active .* listed once$/m);
    const lines = json.stdout.trimEnd().split("\n");
    assert.equal(lines.length + 1, table.stdout.trimEnd().split("\n").length);
    for (const line of lines) assert.match((JSON.parse(line) as Listed).id, /^key_/);

    for (const { stdout, stderr } of [table, json]) assert.ok(!`${stdout}${stderr}`.includes(secret.slice(3)));
  });
});
