// Calls that cannot be meant: one line on stderr that says what is wrong, nothing on stdout, and the right exit code.

import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { before, suite, test } from "node:test";
import { importLines, SMALL_FLEET } from "./fleet.ts";
import { type Home, home, sharedLife } from "./program.ts";

type Call = readonly [words: string, says: RegExp];

/** Exit 2: the call itself is wrong. */
const WRONGLY_CALLED: readonly Call[] = [
  ["srve", /"srve".*serve/],
  ["key", /create, list, rotate or revoke/],
  ["key create", /--name/],
  ["key create --name x --role boss", /--role.*read, ingest, manage.*"boss"/],
  ["key create --name x --expires soon", /--expires.*90d.*"soon"/],
  ["key create --name x --colour red", /--colour/],
  ["key create --name x --role manage --customer ada", /manage.*customer/],
  ["key create --name x --device d1", /ingest.*device/],
  ["key revoke", /which key/],
  ["import", /file/],
  ["backup", /file/],
  ["backup a b", /"b"/],
  ["check everything", /"everything"/],
  ["check --mend", /--mend/],
  ["serve --port 70000", /--port.*"70000"/],
  ["serve --workers 0", /--workers.*"0"/],
  ["serve --workers many", /--workers.*"many"/],
  ["key revoke one two", /two/],
  ["key list all", /all/],
  ["serve 9000", /9000/],
];

/** Exit 1: rightly called, but it cannot be done. */
const FAILED: readonly Call[] = [
  ["key create --name x --customer nobody", /no customer nobody/],
  ["key create --name x --customer gone", /gone is deleted/],
  ["key rotate key_nothing", /no key key_nothing/],
  ["key revoke key_nothing", /no key key_nothing/],
  ["import nothing.ndjson", /nothing\.ndjson/],
  ["import fleet.ndjson nothing.ndjson", /nothing\.ndjson/],
  ["import folder.d", /folder/],
  ["backup no/such/folder/b.db", /b\.db/],
  ["export no/such/folder/x.ndjson", /x\.ndjson/],
];

suite("calls that cannot be meant", { concurrency: 2 }, () => {
  const life = sharedLife();
  let here: Home;

  before(async () => {
    here = home(life);
    await importLines(here, SMALL_FLEET);
    mkdirSync(here.path("folder.d"));
  });

  async function complains(words: string, says: RegExp, exitCode: number): Promise<void> {
    const { code, stdout, stderr } = await here.run(words.split(" "), { patience: 8000 });
    assert.doesNotMatch(stderr, /should not have happened/);
    assert.deepEqual([stdout.slice(0, 80), code], ["", exitCode]);
    assert.match(stderr, /^tank-monitor: [^\n]+\n$/, "one line");
    assert.match(stderr, says);
  }

  for (const [words, says] of WRONGLY_CALLED) test(`${words}: exit 2`, () => complains(words, says, 2));
  for (const [words, says] of FAILED) test(`${words}: exit 1`, () => complains(words, says, 1));

  test("no command at all: the help, exit 2; --help everywhere: exit 0", async () => {
    const bare = await here.run([]);
    assert.deepEqual([bare.code, /Usage: /.test(bare.stdout + bare.stderr)], [2, true]);
    const names = [...bare.stdout.matchAll(/^ {2}(\w+) /gm)].map(([, name = ""]) => name);
    for (const name of ["serve", "demo", "import", "export", "key", "backup", "check", "openapi"])
      assert.ok(names.includes(name), name);
    const helps = await Promise.all([[], ...names.map((name) => [name])].map((words) => here.run([...words, "--help"])));
    for (const { code, stdout, stderr } of helps) {
      assert.deepEqual([code, stderr], [0, ""]);
      assert.match(stdout, /Usage: npx tank-monitor/);
    }
  });

  test("a wrong call makes no database", async (t) => {
    const empty = home(t);
    await Promise.all(["key revoke", "import", "backup"].map((words) => empty.run(words.split(" "))));
    assert.equal(existsSync(empty.path("tanks.db")), false);
  });
});
