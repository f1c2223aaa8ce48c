import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { Browser, tokenIn } from "../support/browser.ts";
import { until } from "../support/until.ts";
import { importLines, SMALL_FLEET } from "./fixtures.ts";
import { type RunningProgram, workspace } from "./program.ts";
import { type Item, list } from "./requests.ts";

const OWN_DATABASE = { env: { DATABASE_URL: undefined } };
const ENDPOINTS = [
  /^\/v1\/customers$/,
  /^\/v1\/customers\/[^/]+$/,
  /^\/v1\/tanks$/,
  /^\/v1\/tanks\/[^/]+$/,
  /^\/v1\/tanks\/[^/]+\/telemetry$/,
  /^\/insight\/v1\/fleet$/,
  /^\/insight\/v1\/alerts$/,
];

type Demo = RunningProgram & { readonly url: string; readonly key: string; readonly lines: readonly string[] };

const here = workspace({ after });
// Settings of the real service, which would fail here: there is no certificate, and no broker.
writeFileSync(here.path(".env"), "MQTTS=8883\nMQTT_URL=mqtt://127.0.0.1:1\n");

/** Starts a demo and reads its first output. */
async function startDemo(): Promise<Demo> {
  const demo = here.launch(["demo"], OWN_DATABASE);
  const [text] = await demo.waitForOutput(/[\s\S]*?(?:^\s*curl .*\n[\s\S]*?){7}/m);
  const [, url = ""] = /Address +(http:\/\/[\w.:[\]]+)/.exec(text) ?? [];
  const [, key = ""] = /Key +(tm_[0-9A-Za-z]{36})/.exec(text) ?? [];
  return { ...demo, url, key, lines: Array.from(text.matchAll(/^\s*(curl .*)$/gm), ([, line = ""]) => line) };
}

async function allTanks(demo: Demo): Promise<Item[]> {
  const pages = [1, 2, 3, 4, 5].map((page) => list(demo, `/v1/tanks?size=100&page=${page}`, demo.key));
  return (await Promise.all(pages)).flatMap(({ data }) => data);
}

/** The instant of the newest reading of all tanks. */
async function newestReading(demo: Demo): Promise<number> {
  const pages = [1, 2, 3, 4, 5].map((page) => list(demo, `/insight/v1/fleet?size=100&page=${page}`, demo.key));
  const fleet = (await Promise.all(pages)).flatMap(({ data }) => data);
  return Math.max(...fleet.map(({ latest }) => Date.parse(`${(latest as Item | null)?.["created_at"] ?? "1970-01-01"}`)));
}

/** Runs the line with curl, or sends the same request if curl is not installed. */
async function expectObject(line: string): Promise<void> {
  const [, key = ""] = /X-API-Key: (\w+)/i.exec(line) ?? [];
  const [url = ""] = /http:[^\s'"]+/.exec(line) ?? [];
  const body = await promisify(execFile)("bash", ["-c", line.replace(/^curl/, "curl --silent --fail-with-body")]).then(
    ({ stdout }) => stdout,
    async (error: { readonly code?: unknown }) => {
      if (error.code !== "ENOENT" && error.code !== 127) throw error;
      return (await fetch(url, { headers: { "x-api-key": key } })).text();
    },
  );
  assert.match(body, /^\{.*"object":"(list|customer|tank)"/);
}

test("in an empty folder the demo prints a curl line for each endpoint, has a year of readings, and gets new ones", async () => {
  const demo = await startDemo();
  const preparedAt = Date.now();
  assert.match(demo.stdout(), /^DATABASE_URL=sqlite:\S+ npx tank-monitor fleet --limit 10$/m);
  assert.match(demo.stderr(), /Creating the fleet/);
  const { port } = new URL(demo.url);
  const [, DATABASE_URL = "", PORT] =
    /^DATABASE_URL=(\S+) PORT=(\d+) npx tank-monitor user link demo@\S+$/m.exec(demo.stdout()) ?? [];
  const { stdout: another } = await here.run(["user", "link", "demo@tank-monitor.example"], { env: { DATABASE_URL, PORT } });
  assert.ok(another.startsWith(`http://127.0.0.1:${port}/sign-in#`), another);
  const [, id = ""] = /^DATABASE_URL=\S+ PORT=\d+ npx tank-monitor customer link (\S+)$/m.exec(demo.stdout()) ?? [];
  const { stdout: ofCustomer } = await here.run(["customer", "link", id], { env: { DATABASE_URL, PORT } });
  const customer = new Browser(demo);
  assert.equal((await customer.signInWith(tokenIn(ofCustomer)))["customer_id"], id);
  const { body: fleet } = await customer.send("GET", "/insight/v1/fleet");
  assert.ok(Number(fleet["total_items"]) > 0, "a customer with tanks");
  const paths = demo.lines.map((line) => new URL(/http:[^\s'"]+/.exec(line)?.[0] ?? "").pathname);
  assert.equal(paths.length, ENDPOINTS.length);
  for (const endpoint of ENDPOINTS) assert.equal(paths.filter((path) => endpoint.test(path)).length, 1, `${endpoint}`);
  for (const line of demo.lines) await expectObject(line);
  const session = await new Browser(demo).signInWith(tokenIn(demo.stdout()));
  assert.equal(session["role"], "admin", "the link signs in");
  assert.equal(existsSync(here.path("data/demo.db")), true);
  assert.equal(existsSync(here.path("data/tank-monitor.db")), false);

  const tanks = await allTanks(demo);
  assert.ok(tanks.length >= 400 && tanks.length < 500, `${tanks.length} of 500 tanks are not deleted`);
  const { total_items } = await list(demo, `/v1/tanks/${tanks.at(-1)?.["id"]}/telemetry?size=1`, demo.key);
  assert.ok(total_items > 1800, `${total_items} readings, with a few dropouts, of a year every four hours (2190)`);
  await until("a new reading", async () => (await newestReading(demo)) > preparedAt, 60_000);

  const channel = JSON.parse((await here.run(["channel", "list", "--json"], { env: { DATABASE_URL } })).stdout) as Item;
  const tested = await here.run(["channel", "test", String(channel["id"])], {
    env: { DATABASE_URL },
  });
  assert.equal(tested.code, 0, tested.stderr);
  await demo.waitForOutput(/^\d\d:\d\d:\d\d .*channel test/m);

  const second = await here.spawn(["demo"], { env: { ...OWN_DATABASE.env, PORT: "0" } });
  assert.deepEqual([second.code, second.stdout], [1, ""], "a second demo changes nothing of the first");
  assert.match(second.stderr, /^tank-monitor: a demo is already running on this database\. Stop it, or .*\n$/);
  const env = { DATABASE_URL: "sqlite:other.db", PORT: port };
  const samePort = await here.run(["demo"], { env });
  assert.match(samePort.stderr, new RegExp(`^tank-monitor: port ${port} .*in use`));
  assert.equal(existsSync(here.path("other.db")), false, "no database is created");
  for (const line of demo.lines) await expectObject(line);

  demo.kill("SIGKILL");
  await demo.exited;
  assert.equal(statSync(here.path("data/demo.db.key")).mode & 0o777, 0o600);
  const again = await startDemo();
  assert.equal(again.key, demo.key, "the key is kept");
  assert.deepEqual(await allTanks(again), tanks, "started after one that was killed, it has the same fleet");
  for (const line of again.lines) await expectObject(line);
  assert.doesNotMatch(again.stderr(), /Creating the fleet/);

  const signalled = performance.now();
  again.kill("SIGINT");
  const { code, stderr } = await again.exited;
  assert.equal(code, 0);
  const milliseconds = performance.now() - signalled;
  assert.ok(milliseconds < 3000, `Ctrl-C stops it within 3 s, not ${milliseconds} ms`);
  assert.doesNotMatch(stderr, /stopped sending|"level"/, "without an error");
});

test("a demo leaves a database with other records unchanged: one line, exit 1", async (t) => {
  const here = workspace(t);
  await importLines(here, SMALL_FLEET);
  const before = await here.run(["export"]);
  const { code, stdout, stderr } = await here.run(["demo"]);
  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(stderr, /^tank-monitor: the database in DATABASE_URL contains data that is not from a demo[^\n]*\n$/m);
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
  const file = here.path("data/demo.db");
  await until("another database", () => existsSync(file) && !readFileSync(file).subarray(0, before.length).equals(before));
  own.kill("SIGKILL");
  await own.exited;
});
