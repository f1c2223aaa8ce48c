import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type Lifetime, temporaryFolder } from "../service.ts";

const place = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

suite("a run of tests", { concurrency: 2 }, () => {
  test("has one server for all files, and leaves nothing behind, also when a test fails", async (t) => {
    const { code, output, left } = await runTests(t, {});
    assert.equal(code, 1, output);
    const servers = [...output.matchAll(/server=(\S+)/g)].map(([, server]) => server);
    assert.equal(servers.length, 2, output);
    assert.equal(servers[0], servers[1]);
    assert.match(output, /not today/);
    assert.deepEqual(left, []);
  });

  test("fails with a reason when no server can be started", async (t) => {
    const { code, output, left } = await runTests(t, { TEST_POSTGRES_BIN: "/nowhere" });
    assert.notEqual(code, 0);
    assert.match(output, /The tests need PostgreSQL\. None could be started here; TEST_POSTGRES_URL can name one that runs\./);
    assert.match(output, /initdb failed:\s.*nowhere.*ENOENT/);
    assert.doesNotMatch(output, /server=/);
    assert.deepEqual(left, []);
  });

  test("fails with a reason when the server it is given does not answer", async (t) => {
    const { code, output } = await runTests(t, { TEST_POSTGRES_URL: "postgresql://postgres@127.0.0.1:1/postgres" });
    assert.notEqual(code, 0);
    assert.match(output, /The PostgreSQL that TEST_POSTGRES_URL names does not answer\./);
    assert.match(output, /ECONNREFUSED/);
    assert.doesNotMatch(output, /server=/);
  });
});

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
  writeFileSync(join(folder, "failing.test.ts"), text('throw new Error("not today");'));

  const { NODE_TEST_CONTEXT: _context, TEST_POSTGRES_URL: _url, ...inherited } = process.env;
  const options = ["--test", `--test-global-setup=${place("./suite.ts")}`, join(folder, "*.test.ts")];
  const run = spawn(process.execPath, options, { cwd: folder, env: { ...inherited, TMPDIR: temporary, ...environment } });
  let output = "";
  for (const stream of [run.stdout, run.stderr]) stream.setEncoding("utf8").on("data", (chunk) => (output += chunk));
  const closed = once(run, "close");
  const [code] = await once(run, "exit");
  const left = readdirSync(temporary);
  await closed;
  return { code: code as unknown, output, left };
}
