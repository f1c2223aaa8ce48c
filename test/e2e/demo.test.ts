import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { before, suite, test } from "node:test";
import { promisify } from "node:util";
import { until } from "../support/until.ts";
import { importLines, SMALL_FLEET } from "./fixtures.ts";
import { type RunningProgram, suiteLifetime, type Workspace, workspace } from "./program.ts";
import { get, type Item, type List, list, statusOf } from "./requests.ts";

const OWN_DATABASE = { env: { DATABASE_URL: undefined } };
const ENDPOINTS = [
  /^\/v1\/customers$/,
  /^\/v1\/customers\/[^/]+$/,
  /^\/v1\/tanks$/,
  /^\/v1\/tanks\/[^/]+$/,
  /^\/v1\/tanks\/[^/]+\/telemetry$/,
];

type Demo = RunningProgram & { readonly url: string; readonly key: string; readonly lines: readonly string[] };

/** Starts a demo and reads its first output. */
async function startDemo(here: Workspace): Promise<Demo> {
  const demo = here.launch(["demo"], OWN_DATABASE);
  const [text] = await demo.waitForOutput(/[\s\S]*?(?:^\s*curl .*\n[\s\S]*?){5}/m, 60_000);
  const [url = ""] = /http:\/\/[\w.:[\]]+/.exec(text) ?? [];
  const [key = ""] = /tm_[0-9A-Za-z]{36}/.exec(text) ?? [];
  const lines = [...text.matchAll(/^\s*(curl .*)$/gm)].map(([, line = ""]) => line);
  return { ...demo, url, key, lines };
}

async function allItems(demo: Demo, path: string): Promise<Item[]> {
  const found: Item[] = [];
  for (let page = 1; ; page++) {
    const { data, total_items } = await list(demo, `${path}?size=100&page=${page}`, demo.key);
    found.push(...data);
    if (data.length === 0 || found.length >= total_items) return found;
  }
}

suite("the demo", () => {
  const life = suiteLifetime();
  let here: Workspace;
  let demo: Demo;
  let milliseconds: number;

  before(async () => {
    here = workspace(life);
    const started = performance.now();
    demo = await startDemo(here);
    milliseconds = Math.round(performance.now() - started);
  });

  test("in an empty folder it prints an address, a key and a curl line for each endpoint", async () => {
    assert.ok(milliseconds < 30_000, `${milliseconds} ms`);
    assert.equal(await statusOf(demo, demo.key), 200);
    assert.equal(demo.lines.length, 5);
    assert.match(demo.stdout(), /^DATABASE_URL=sqlite:\S+ npx tank-monitor fleet --limit 10$/m);
    const paths = demo.lines.map((line) => new URL(/http:[^\s'"]+/.exec(line)?.[0] ?? "").pathname);
    for (const endpoint of ENDPOINTS) assert.equal(paths.filter((path) => endpoint.test(path)).length, 1, `${endpoint}`);
    assert.equal(existsSync(here.path("data/demo.db")), true);
    assert.equal(existsSync(here.path("data/tank-monitor.db")), false);
  });

  test("the five curl lines get 200", async () => {
    for (const line of demo.lines) {
      const answer = await runCurl(line);
      assert.ok(answer.startsWith("{") && !answer.includes('"status":4'), answer.slice(0, 200));
      assert.match(answer, /"object":"(list|customer|tank)"/);
    }
  });

  test("the fleet has a year of readings, and deleted objects", async () => {
    const tanks = await allItems(demo, "/v1/tanks");
    assert.ok(tanks.length >= 400 && tanks.length < 500, `${tanks.length} of 500 tanks are not deleted`);
    const { total_items } = await list(demo, `/v1/tanks/${tanks.at(-1)?.["id"]}/telemetry`, demo.key);
    assert.ok(total_items > 1800, `${total_items} readings, with a few dropouts, of a year every four hours (2190)`);
  });

  test("new readings keep arriving", async () => {
    const tanks = (await allItems(demo, "/v1/tanks")).map(({ id }) => `/v1/tanks/${id}/telemetry?size=1`);
    const look = () => Promise.all(tanks.map((path) => list(demo, path, demo.key)));
    const count = (pages: readonly List[]): number => pages.reduce((sum, { total_items }) => sum + total_items, 0);
    const before = await look();
    const after = await until(
      "new readings",
      async () => {
        const pages = await look();
        return count(pages) > count(before) && pages;
      },
      15_000,
    );
    const newest = after.map(({ data }) => Date.parse(`${data[0]?.["created_at"]}`));
    const age = Date.now() - Math.max(...newest);
    assert.ok(age > -1000 && age < 5000, `the newest reading is ${age} ms old`);
  });

  test("restarted, the demo has the same fleet, more readings, and works", async () => {
    const tanks = await allItems(demo, "/v1/tanks");
    const path = `/v1/tanks/${tanks[0]?.["id"]}/telemetry`;
    const before = await list(demo, path, demo.key);
    const signalled = performance.now();
    demo.kill("SIGINT");
    const { code, stderr } = await demo.exited;
    assert.equal(code, 0);
    assert.ok(performance.now() - signalled < 3000, "Ctrl-C stops it within 3 s");
    assert.doesNotMatch(stderr, /stopped sending|"level"/, "without an error");

    demo = await startDemo(here);
    assert.deepEqual(await allItems(demo, "/v1/tanks"), tanks);
    assert.ok((await list(demo, path, demo.key)).total_items >= before.total_items);
    for (const line of demo.lines) assert.match(await runCurl(line), /"object":"(list|customer|tank)"/);
  });
});

test("a demo leaves a database with other records unchanged: one line, exit 1", async (t) => {
  const here = workspace(t);
  await importLines(here, SMALL_FLEET);
  const before = await here.run(["export"]);
  const { code, stdout, stderr } = await here.run(["demo"], { timeoutMs: 20_000 });
  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(stderr, /^tank-monitor: [^\n]*(demo|DATABASE_URL)[^\n]*\n$/m);
  assert.doesNotMatch(stderr, /should not have happened/);
  assert.equal((await here.run(["export"])).stdout, before.stdout);
});

test("a database of another version is created again if it is the demo's own, never one in DATABASE_URL", async (t) => {
  const here = workspace(t);
  mkdirSync(here.path("data"));
  const outdated = new DatabaseSync(here.path("data/demo.db"));
  outdated.exec(`PRAGMA application_id = ${0x544e4b4d}; PRAGMA user_version = 1; CREATE TABLE old (id)`);
  outdated.close();
  const before = readFileSync(here.path("data/demo.db"));
  const given = await here.run(["demo"], { env: { DATABASE_URL: "sqlite:data/demo.db" } });
  assert.equal(given.code, 1);
  assert.match(given.stderr, /demo\.db was created by another version of Tank Monitor\. Export it/);
  assert.deepEqual(readFileSync(here.path("data/demo.db")), before);
  const own = here.launch(["demo"], OWN_DATABASE);
  await own.waitForOutput(/data\/demo\.db was created by another version.*creates it again/);
  await until("the database has other tables", () => {
    const tables = tablesIn(here.path("data/demo.db"));
    return tables.length > 0 && !tables.includes("old");
  });
  own.kill("SIGKILL");
  await own.exited;
});

function tablesIn(file: string): unknown[] {
  if (!existsSync(file)) return [];
  using db = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
  return db
    .prepare("SELECT name FROM sqlite_schema")
    .all()
    .map(({ name }) => name);
}

const execute = promisify(execFile);

/** With curl, or with the same request if it is not installed. */
async function runCurl(line: string): Promise<string> {
  try {
    return (await execute("bash", ["-c", line.replace(/^curl/, "curl --silent --fail-with-body")])).stdout;
  } catch (error) {
    if (!isMissing(error)) throw error;
    const [, key = ""] = /X-API-Key: (\w+)/i.exec(line) ?? [];
    const url = new URL(/http:[^\s'"]+/.exec(line)?.[0] ?? "");
    const { status, text } = await get({ url: url.origin }, `${url.pathname}${url.search}`, key);
    assert.equal(status, 200, text);
    return text;
  }
}

function isMissing(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  return code === "ENOENT" || code === 127;
}
