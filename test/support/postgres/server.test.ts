import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, existsSync, lstatSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { type Lifetime, temporaryFolder } from "../service.ts";
import { until } from "../until.ts";
import { postgresDatabase } from "./database.ts";
import { folderOf, nativeFolder, programsFromNpm, serverUser } from "./programs.ts";
import { type OwnPostgres, ownPostgres } from "./server.ts";

const TIMEOUT_MS = 30_000;
const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

test("a database is empty, separate, and sorts by bytes or by its locale", async (t) => {
  const [plain, english] = [await postgresDatabase(t), await postgresDatabase(t, { locale: "en-US" })];
  await plain.query("CREATE TABLE tank AS SELECT 'Öl' AS name");
  assert.deepEqual(await plain.query("SELECT octet_length(name) AS bytes FROM tank"), [{ bytes: 3 }]);
  assert.deepEqual(await english.query("SELECT to_regclass('tank') AS tank"), [{ tank: null }]);
  const sorted = "SELECT string_agg(name, '' ORDER BY name) AS names FROM unnest(ARRAY['B', 'a', 'b', 'A']) AS name";
  assert.deepEqual(await plain.query(sorted), [{ names: "ABab" }]);
  assert.deepEqual(await english.query(sorted), [{ names: "aAbB" }]);
  const [row] = await plain.query<{ version: number }>("SELECT current_setting('server_version_num')::int AS version");
  assert.ok(row !== undefined && row.version >= 150_000, JSON.stringify(row));
});

test("a server comes back with what was committed, and its replica catches up and takes over", async (t) => {
  const server = await ownPostgres(t);
  await query(server, "CREATE TABLE reading (n int)");
  for (const [n, mode] of [
    [1, "fast"],
    [2, "immediate"],
    [3, "kill"],
  ] as const) {
    await query(server, `INSERT INTO reading VALUES (${n})`);
    await server.stop(mode);
    assert.equal(server.pid(), undefined);
    await assert.rejects(query(server, "SELECT 1"), { code: "ECONNREFUSED" });
    await server.start();
    assert.equal((await query(server, "SELECT n FROM reading")).length, n);
  }

  const replica = await server.replica();
  const replicated = (n: number) =>
    until(`reading ${n}`, async () => (await query(replica, "SELECT n FROM reading")).length === n, TIMEOUT_MS);
  await replicated(3);
  await assert.rejects(query(replica, "INSERT INTO reading VALUES (4)"), /read-only transaction/);
  await replica.stop("kill");
  await query(server, "INSERT INTO reading VALUES (4)");
  await query(server, "SELECT pg_switch_wal()");
  await query(server, "CHECKPOINT");
  await replica.start();
  await replicated(4);
  await server.stop("kill");
  assert.deepEqual(await query(replica, "SELECT pg_promote() AS promoted"), [{ promoted: true }]);
  await query(replica, "INSERT INTO reading VALUES (5)");
});

suite("nothing remains of a server", () => {
  test("whose owner is killed", async (t) => {
    const owner = startOwner(t, "setInterval(() => {}, 1000)");
    const pid = Number(await until("the server runs", owner.printed, TIMEOUT_MS));
    assert.ok(isAlive(pid));
    owner.kill();
    await until("the folder is gone", () => owner.folders().length === 0 && !isAlive(pid), TIMEOUT_MS);
  });

  test("whose owner is killed during initdb", async (t) => {
    const owner = startOwner(t, "");
    const initdb = () => owner.folders().some((folder) => existsSync(join(folder, "initial/PG_VERSION")));
    await until("initdb works", initdb, TIMEOUT_MS);
    assert.equal(owner.printed(), undefined);
    owner.kill();
    await until("the folder is gone", () => owner.folders().length === 0, TIMEOUT_MS);
  });

  test("whose owner ends without stopping it", async (t) => {
    const owner = startOwner(t, "");
    const pid = Number(await until("the server ran", owner.printed, TIMEOUT_MS));
    await until("the folder is gone", () => owner.folders().length === 0 && !isAlive(pid), TIMEOUT_MS);
  });
});

suite("a run of tests", () => {
  test("has one server for all files, and leaves nothing behind when a test fails", async (t) => {
    const { code, output, remaining } = await runTests(t, {});
    assert.equal(code, 1, output);
    const servers = Array.from(output.matchAll(/server=(\S+)/g), ([, server]) => server);
    assert.equal(servers.length, 2, output);
    assert.equal(servers[0], servers[1]);
    assert.deepEqual(remaining, []);
  });

  test("fails with a reason when no server can be started or reached", async (t) => {
    const none = await runTests(t, { TEST_POSTGRES_BIN: "/nowhere" });
    assert.notEqual(none.code, 0);
    assert.match(
      none.output,
      /The tests need PostgreSQL\. None could be started here; TEST_POSTGRES_URL can name one that runs\./,
    );
    assert.match(none.output, /initdb failed:\s.*nowhere.*ENOENT/);
    assert.deepEqual(none.remaining, []);
    const away = await runTests(t, { TEST_POSTGRES_URL: "postgresql://postgres@127.0.0.1:1/postgres" });
    assert.notEqual(away.code, 0);
    assert.match(away.output, /The PostgreSQL that TEST_POSTGRES_URL names cannot be reached: .*ECONNREFUSED/);
  });
});

test("programs from npm are copied where the server's user cannot run them, with their library links", {
  skip: process.platform === "win32",
}, (t) => {
  const user = serverUser();
  const isNeeded = (path: string): boolean => !/native\W(share|lib\W(postgresql|pkgconfig))$/.test(path);
  const broken = join(temporaryFolder(t), "native");
  const isCopied = (path: string): boolean => isNeeded(path) && !lstatSync(path).isSymbolicLink();
  cpSync(nativeFolder(), broken, { recursive: true, filter: isCopied });
  const folder = folderOf(user);
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const { postgres } = programsFromNpm(broken, user, folder);
  assert.ok(postgres.startsWith(folder), postgres);
  assert.match(execFileSync(postgres, ["--version"], { encoding: "utf8", cwd: "/", ...user }), /^postgres \(PostgreSQL\) 18\./);
});

async function query({ url }: Pick<OwnPostgres, "url">, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Without what the global setup of this run has set. */
function freshEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(TEST_POSTGRES_|NODE_TEST_CONTEXT)/.test(name)));
}

/** A process that starts a server and prints the id of its process. */
function startOwner(life: Lifetime, further: string) {
  const temporary = temporaryFolder(life);
  chmodSync(temporary, 0o755);
  const program = `
    import { ownPostgres } from ${JSON.stringify(new URL("./server.ts", import.meta.url))};
    const server = await ownPostgres({ after() {} });
    console.log(server.pid());
    ${further}`;
  const owner = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    env: { ...freshEnvironment(), TMPDIR: temporary },
    stdio: ["ignore", "pipe", "inherit"],
  });
  life.after(() => owner.kill("SIGKILL"));
  let output = "";
  owner.stdout.setEncoding("utf8").on("data", (text) => (output += text));
  return {
    printed: () => (output.endsWith("\n") ? output : undefined),
    kill: () => owner.kill("SIGKILL"),
    folders: () => readdirSync(temporary).map((name) => join(temporary, name)),
  };
}

/** Two test files, of which one fails, run as `npm test` runs them. */
async function runTests(life: Lifetime, environment: Record<string, string>) {
  const folder = temporaryFolder(life);
  const temporary = temporaryFolder(life);
  chmodSync(temporary, 0o755);
  const text = (end: string): string => `
    import test from "node:test";
    import { postgresDatabase } from ${JSON.stringify(new URL("./database.ts", import.meta.url))};
    test("a test", async (t) => {
      const database = await postgresDatabase(t);
      console.log("server=" + new URL(database.url).host);
      ${end}
    });`;
  writeFileSync(join(folder, "passing.test.ts"), text(""));
  writeFileSync(join(folder, "failing.test.ts"), text('throw new Error("fails");'));

  const options = ["--test", `--test-global-setup=${here("./suite.ts")}`, join(folder, "*.test.ts")];
  const env = { ...freshEnvironment(), TMPDIR: temporary, ...environment };
  const run = spawn(process.execPath, options, { cwd: folder, env });
  let output = "";
  for (const stream of [run.stdout, run.stderr]) stream.setEncoding("utf8").on("data", (chunk) => (output += chunk));
  const closed = once(run, "close");
  const [code] = await once(run, "exit");
  const remaining = readdirSync(temporary);
  await closed;
  return { code: code as unknown, output, remaining };
}
