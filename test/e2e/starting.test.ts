// Starting the service: settings, databases that cannot be used, and what it prints.

import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { after, suite, type TestContext, test } from "node:test";
import { TLSSocket } from "node:tls";
import { TEST_CERTIFICATE } from "../support/certificate.ts";
import { freePort } from "../support/free-port.ts";
import { postgresDatabase } from "../support/postgres/database.ts";
import { createKey } from "./fixtures.ts";
import { type ExitResult, workspace } from "./program.ts";
import { get } from "./requests.ts";

function failsWith({ code, stderr, stdout }: ExitResult, message: RegExp, exitCode = 1): void {
  assert.match(stderr, /^tank-monitor: [^\n]+\n$/, "one line");
  assert.match(stderr, message);
  assert.deepEqual([code, stdout], [exitCode, ""]);
}

suite("starting the service", { concurrency: 2 }, () => {
  // How long it takes is a figure of the benchmark: `npm run bench -- starting`.
  test("an empty database: the service responds, and prints the next steps", async (t) => {
    const service = await workspace(t).start();
    assert.equal((await get(service, "/readyz")).status, 200);
    const [steps] = await service.waitForOutput(/The database is empty[\s\S]*\/docs/);
    for (const command of [
      "customer create",
      "tank create",
      "key create",
      "user create",
      "user link",
      "provision",
      "import",
      "demo",
    ])
      assert.match(steps, new RegExp(`npx tank-monitor ${command}`));
    assert.match(steps, /^ {2}export DATABASE_URL='sqlite:[^']+'$/m, "the other terminal uses the same database");
    assert.match(steps, new RegExp(`  PORT=${new URL(service.url).port} npx tank-monitor user link `));
    assert.match(steps, new RegExp(`${service.url}/docs`));
  });

  test("services that start at once on a new database all respond; a port in use or an address of another machine is one line, exit 1, also with workers", async (t) => {
    const here = workspace(t, { DATABASE_URL: "sqlite:new/folder/tanks.db" });
    const services = await Promise.all([here.start(), here.start()]);
    const statuses = () => Promise.all(services.map(async (service) => (await get(service, "/readyz")).status));
    assert.deepEqual(await statuses(), [200, 200]);

    const { port } = new URL(services[0].url);
    const inUse = new RegExp(`port ${port}.*in use`);
    // The first ones have nothing open yet that could keep a process running.
    const calls: readonly (readonly [run: "run" | "spawn", words: string, message: RegExp])[] = [
      ["run", `--port ${port}`, inUse],
      ["run", "--host 203.0.113.7", /203\.0\.113\.7/],
      ["run", "--host no-such-host.invalid --workers 2", /no-such-host\.invalid/],
      ["spawn", `--port ${port} --workers 2`, inUse],
      ["spawn", `--mqtt ${port}`, inUse],
      ["spawn", `--mqtt ${port} --workers 2`, inUse],
    ];
    const env = { DATABASE_URL: "sqlite:other/tanks.db" };
    for (const [run, words, message] of calls) failsWith(await here[run](["serve", ...words.split(" ")], { env }), message);
    assert.equal(existsSync(here.path("other")), false, "no database is created");
    assert.deepEqual(await statuses(), [200, 200], "the service that uses the port keeps running");
  });
});

suite("settings", { concurrency: 2 }, () => {
  test(".env is read, the environment overrides it, and a flag overrides both; names that are no settings are reported without their values", async (t) => {
    const here = workspace(t);
    const [inFile, inEnvironment, inFlag] = await Promise.all([freePort(), freePort(), freePort()]);
    const known = `# my settings\nPORT=${inFile}\nMQTT=${inFile}\nDATABASE_URL="sqlite:of-file.db"\n`;
    const unknown = "SMPT_URL=smtp://user:hunter2@mail.example\nPUBLIC_URL https://hunter2.example\n";
    writeFileSync(here.path(".env"), known + unknown);
    const service = await here.start(["serve", "--port", `${inFlag}`], {
      env: { PORT: `${inFile}`, MQTT: `${inEnvironment}`, DATABASE_URL: undefined, MAIL_FORM: "hunter2@example.com" },
    });
    const [, mqtt = ""] = await service.waitForOutput(/"event":"mqtt_listening","url":"([^"]+)"/);
    assert.deepEqual(
      [service.url, mqtt].map((url) => Number(new URL(url).port)),
      [inFlag, inEnvironment],
    );
    assert.deepEqual([existsSync(here.path("of-file.db")), existsSync(here.path("tanks.db"))], [true, false]);
    assert.deepEqual(service.stderr().match(/^tank-monitor: .*$/gm), [
      "tank-monitor: warning: SMPT_URL in .env is not a setting; did you mean SMTP_URL?",
      "tank-monitor: warning: line 6 of .env is not NAME=VALUE, so it is ignored",
      "tank-monitor: warning: MAIL_FORM in the environment is not a setting; did you mean MAIL_FROM?",
    ]);
    assert.doesNotMatch(service.stderr(), /hunter2/);
  });

  test("an invalid setting is one line that names it, exit 2, also with workers", async (t) => {
    const here = workspace(t);
    for (const [name, value, WORKERS] of [
      ["PORT", "abc", "1"],
      ["DATABASE_URL", "mysql://root:hunter2@localhost/tanks", "2"],
      ["DATABASE_REPLICA_URL", "postgres://tm:hunter2@localhost/of-a-sqlite-file", "1"],
    ] as const) {
      const result = await here.run(["serve"], { env: { WORKERS, [name]: value } });
      failsWith(result, new RegExp(`^tank-monitor: ${name} must be `), 2);
      assert.doesNotMatch(result.stderr, /hunter2/);
    }
  });
});

test("a start that waits for another process logs it, and ends with a signal", async (t) => {
  const { url, query, closeFirst } = await postgresDatabase(t);
  // The lock of the schema, as a restore holds it.
  await query("SELECT pg_advisory_lock(5522219041)");
  const service = workspace({ after: closeFirst }, { DATABASE_URL: url }).launch(["serve"]);
  await service.waitForOutput(/"event":"database_locked"/);
  const signalled = performance.now();
  service.kill("SIGTERM");
  const { code, stderr } = await service.exited;
  assert.equal(code, 0, stderr);
  assert.match(stderr, /"event":"stopping"[^\n]*\n[^\n]*"event":"stopped"[^\n]*\n$/);
  const milliseconds = Math.round(performance.now() - signalled);
  assert.ok(milliseconds < 3000, `the stop took ${milliseconds} ms`);
});

test("a database of another program, of a newer version, or no database at all is left unchanged", async (t) => {
  const here = workspace(t);
  const foreign = new DatabaseSync(here.path("foreign.db"));
  foreign.exec("CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('mine')");
  foreign.close();
  writeFileSync(here.path("letter.db"), "Dear reader, this is no database.\n".repeat(50));
  await createKey({ ...here, run: (words) => here.run(words, { env: { DATABASE_URL: "sqlite:newer.db" } }) });
  const newer = new DatabaseSync(here.path("newer.db"));
  newer.exec("PRAGMA user_version = 1000");
  newer.close();
  for (const [name, message] of [
    ["foreign.db", /foreign\.db.*of another program/],
    ["letter.db", /letter\.db is not a database/],
    ["newer.db", /newer\.db.*another version/],
  ] as const) {
    const before = readFileSync(here.path(name));
    failsWith(await here.run(["serve"], { env: { DATABASE_URL: `sqlite:${name}` } }), message);
    assert.ok(readFileSync(here.path(name)).equals(before), `${name} is unchanged`);
  }
  const env = { DATABASE_URL: "sqlite:." };
  failsWith(await here.run(["serve"], { env }), /cannot be (opened|created)/);
  failsWith(await here.spawn(["serve", "--workers", "2"], { env }), /cannot be (opened|created)/);
});

/** The port of a server that accepts TLS as PostgreSQL does, with a certificate that no authority has signed. */
async function selfSignedServer(t: TestContext): Promise<number> {
  const server = createServer((socket) => {
    socket
      .on("error", () => {})
      .once("data", () => {
        socket.write("S");
        new TLSSocket(socket, { isServer: true, ...TEST_CERTIFICATE }).on("error", () => {}).resume();
      });
  });
  t.after(() => server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port;
}

suite("a PostgreSQL URL with an error is one line that says why, without the password", async () => {
  const PASSWORD = "hunter2-secret";
  const database = await postgresDatabase({ after });
  const foreign = await postgresDatabase({ after });
  await foreign.query("CREATE TABLE customer (surname text)");
  const newer = await postgresDatabase({ after });
  await newer.query("CREATE TABLE tank_monitor AS SELECT 99 AS version");
  const changed = (parts: Partial<URL>): string => Object.assign(new URL(database.url), parts).href;

  const CASES: readonly (readonly [name: string, url: string, code: 1 | 2, message: RegExp])[] = [
    ["a wrong password", changed({ password: PASSWORD }), 1, /password authentication failed/],
    ["no password", changed({ password: "" }), 1, /password/],
    ["an unknown user", changed({ username: "nobody-here", password: PASSWORD }), 1, /nobody-here/],
    ["an unknown database", changed({ pathname: "/no_such_database" }), 1, /no_such_database/],
    ["no server", `postgres://user:${PASSWORD}@127.0.0.1:1/tanks`, 1, /ECONNREFUSED/],
    ["no host", `postgres://user:${PASSWORD}@no-such-host.invalid/tanks`, 1, /no-such-host\.invalid/],
    ["no socket", `postgres:///tanks?host=/no/such/folder&password=${PASSWORD}`, 1, /DATABASE_URL/],
    ["no certificate", `${database.url}?sslrootcert=/no/such/file`, 1, /no\/such\/file/],
    ["no TLS", `${database.url}?sslmode=verify-full`, 1, /SSL/],
    ["an unknown option", `${database.url}?options=-c%20nonsense%3D1`, 1, /nonsense/],
    ["tables of another program", foreign.url, 1, /a table "customer" of another program/],
    ["tables of a newer version", newer.url, 1, /another version of Tank Monitor/],
    ["an impossible port", `postgres://user:${PASSWORD}@127.0.0.1:123456/tanks`, 2, /is not a URL/],
    ["a slash in the password", `postgres://user:${PASSWORD}/x@127.0.0.1/tanks`, 2, /escape/],
    ["nothing after the scheme", `postgres:${PASSWORD}`, 2, /DATABASE_URL must be/],
  ];
  for (const [name, url, code, message] of CASES) {
    test(name, async (t) => {
      const result = await workspace(t).run(["key", "list"], { env: { DATABASE_URL: url } });
      failsWith(result, message, code);
      for (const secret of [PASSWORD, new URL(database.url).password]) assert.ok(!result.stderr.includes(secret));
    });
  }

  test("sslmode=require verifies the certificate, without a warning", async (t) => {
    const env = { DATABASE_URL: `postgres://user:${PASSWORD}@127.0.0.1:${await selfSignedServer(t)}/tanks?sslmode=require` };
    failsWith(await workspace(t).spawn(["key", "list"], { env }), /self-signed certificate/);
  });

  test("serve exits too, and tables of another program are left unchanged", async (t) => {
    const here = workspace(t);
    failsWith(await here.run(["serve"], { env: { DATABASE_URL: foreign.url } }), /of another program/);
    const tables = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace";
    assert.deepEqual(await foreign.query(tables), [{ relname: "customer" }]);
  });
});
