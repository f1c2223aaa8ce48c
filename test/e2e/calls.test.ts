// Calls with an error: one line on stderr, nothing on stdout, and the exit code.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { importLines, ndjson, SMALL_FLEET } from "./fixtures.ts";
import { workspace } from "./program.ts";

type Call = readonly [words: string, message: RegExp];

/** Exit 2: the call itself is invalid. */
const INVALID: readonly Call[] = [
  ["srve", /"srve".*serve/],
  ["key", /create, list, rotate or revoke/],
  ["key create", /--name/],
  ["key create --name x --role boss", /--role.*read, ingest, manage.*"boss"/],
  ["key create --name x --expires soon", /--expires.*7d.*"soon"/],
  ["key create --name x --colour red", /--colour/],
  ["key create --name", /key create: --name needs a value\. See npx tank-monitor key create --help$/m],
  ["key create --name --role read", /--name needs a value\. See/],
  ["key create --name x --role ingest --customer ada --device d1", /--device: is only for .* without --customer \(given: "d1"\)/],
  ["key create --name x --role manage --customer ada", /--customer.*manage.*"ada"/],
  ["key create --name x --role metrics --customer ada", /--customer.*metrics.*"ada"/],
  ["key create --name x --rate 0", /--rate must be requests per second from 0.001 to 1000000, not/],
  ["key create --name x --rate 1000000.001", /--rate.*"1000000.001"/],
  ["key create --name x --device d1", /--device.*ingest.*"d1"/],
  ["key crate --name x", /"crate".*"create"/],
  ["key revoke", /KEY is missing/],
  ["import", /FILE is missing/],
  ["import - --timezone Europe/Berlin", /--timezone.*CSV/],
  ["import - --decimal-comma --decimal-point", /contradict/],
  ["export readings.tsv", /\.tsv is not supported; .*\.csv for readings, or \.ndjson for everything/],
  ["export All.XLSX --csv", /\.XLSX is not supported/],
  ["backup", /FILE is missing/],
  ["backup -", /stdout is not supported; name a file/],
  ["restore", /FILE is missing/],
  ["restore -", /stdin is not supported; name the backup file/],
  ["serve --port 70000", /--port.*"70000"/],
  ["serve --workers 0", /--workers.*"0"/],
  ["serve 9000", /9000/],
  ["customer", /create, update, delete, restore, list, show, verify or link/],
  ["customer create --name x", /--email is missing/],
  ["customer create --name x --email nobody", /--email.*"nobody"/],
  ["customer update ada", /nothing to change/],
  ["customer update ada --verified --no-verified", /--verified and --no-verified/],
  ["customer list --limit none", /--limit.*"none"/],
  ["tank create --name x --owner ada", /--device, --capacity, --unit and --threshold are missing/],
  ["tank update a1 --capacity much", /--capacity.*number.*"much"/],
  ["tank update a1 --shape {", /--shape is not valid JSON/],
  ["tank update a1 --device ", /--device.*must not be empty/],
  ["tank update a1 --latitude -91", /--latitude.*-90 to 90.*"-91"/],
  ["tank pause a1 --until soon", /--until must be a date such as 2026-12-01, or a datetime such as .*"soon"/],
  ["device assign d1", /TANK is missing/],
  [
    "channel create --webhook http://127.0.0.1:9/x",
    /WEBHOOK_ALLOW=127\.0\.0\.1 for the service, and restart it\. In the file \.env, the service and commands in its folder both find it/,
  ],
  ["device assign d1 a1 --profile guess", /--profile.*"guess"/],
  ["audit --since yesterday", /--since.*24h.*"yesterday"/],
  ["audit --sinec 24h", /Did you mean "--since"\?/],
  ["audit --type truck", /--type.*customer, tank, device, key.*"truck"/],
  ["fleet --state empty", /--state.*low, ok, unknown.*"empty"/],
  ["fleet --json --csv", /--json and --csv contradict/],
  ["fleet --silent long", /--silent.*24h.*"long"/],
  ["provision", /FILE… is missing/],
  ["tank list --key x", /--url/],
  ["tank list --url tanks.example.com", /--url.*"tanks.example.com"/],
  ["tank list --url http://ada:secret@127.0.0.1", /password/],
  ["tank list --url http://127.0.0.1:9", /TANK_MONITOR_KEY/],
  ["tank list --url http://127.0.0.1:9 --key tm_short", /mistyped or truncated/],
  ["simulate", /--url.*--mqtt/],
  ["simulate --url http://127.0.0.1:9", /key.*TANK_MONITOR_KEY/],
  ["simulate --url nowhere --key x", /--url/],
  ["simulate --mqtt http://127.0.0.1 --key x", /--mqtt/],
  ["simulate --url http://127.0.0.1:9 --key x --tanks many", /--tanks.*"many"/],
  ["simulate --url http://127.0.0.1:9 --key x --tanks 1.5", /--tanks/],
  ["simulate --url http://127.0.0.1:9 --key x --rate 0", /--rate/],
  ["simulate --url http://127.0.0.1:9 --key x --rate 5001", /--rate.*500 for each tank/],
  ["simulate --url http://127.0.0.1:9 --key x --duration 30d", /--duration.*24d/],
  ["simulate --url http://127.0.0.1:9 --key x --makers dragio", /"dragio".*dragino/],
  ["simulate --url http://127.0.0.1:9 --key x --rate 5000 --duration 1d --verify", /5000000/],
  ["simulate --mqtt mqtt://127.0.0.1:1 --key x --verify", /--url/],
];

/** Exit 1: a valid call that fails. */
const FAILED: readonly Call[] = [
  ["key create --name x --customer nobody", /--customer.*(no|such) customer.*"nobody"/],
  ["key create --name x --customer gone", /--customer.*deleted.*"gone"/],
  ["key revoke key_nothing", /no such key: key_nothing/],
  ["import nothing.ndjson", /nothing\.ndjson/],
  ["import folder.d", /folder/],
  ["import unreadable.csv", /no permission to read unreadable\.csv|unreadable\.csv: the first line/],
  ["backup folder.d", /folder\.d is a folder/],
  ["backup /proc/b.db", /cannot write \/proc\/b\.db: ENOENT: no such file or directory$/m],
  ["export folder.d", /folder\.d is a folder/],
  ["export /proc/x.ndjson", /cannot write \/proc\/x\.ndjson: ENOENT: no such file or directory$/m],
  ["provision folder.d", /folder\.d is a folder/],
  ["backup no/such/folder/b.db", /no such folder: no\/such\/folder/],
  ["restore nothing.db", /no such file: nothing\.db/],
  ["restore folder.d", /folder/],
  ["restore tanks.db", /tanks\.db is a file of the database itself/],
  ["export no/such/folder/x.ndjson", /x\.ndjson/],
  ["customer show nobody", /no such customer: nobody/],
  ["customer update gone --name x", /deleted/],
  ["customer create --name x --email a@b --id ada", /id ada .*another customer/],
  ["tank show nothing", /no such tank: nothing/],
  ["tank update a1 --owner nobody", /--owner.*(no|such) customer.*"nobody"/],
  ["tank update a1 --device device-a2", /tank a2.*--swap/],
  ["tank update a1 --shape @nothing.json", /nothing\.json/],
  ["device assign d1 nothing", /TANK.*(no|such) tank.*"nothing"/],
  ["device show nothing", /no such device: nothing/],
  ["fleet --owner nobody", /no such customer: nobody; see "npx tank-monitor customer list"/],
  ["tank list --owner nobody --json", /no such customer: nobody/],
  ["tank list --device nothing", /no such device: nothing/],
  ["notification list --channel nothing", /no such channel: nothing/],
  ["notification list --customer nobody", /no such customer: nobody/],
  ["notification list --alert nothing", /no such alert: nothing/],
  ["provision nothing.csv", /nothing\.csv/],
];

const COMMANDS = [
  ...["serve", "demo", "import", "export", "backup", "restore", "check", "backtest", "openapi", "simulate"],
  ...["fleet", "alert", "customer", "tank", "device", "key", "channel", "notification", "user", "audit", "provision"],
];

const here = workspace({ after });
await importLines(here, SMALL_FLEET);
mkdirSync(here.path("folder.d"));
writeFileSync(here.path("unreadable.csv"), "?", { mode: 0o000 });

for (const [calls, exitCode] of [
  [INVALID, 2],
  [FAILED, 1],
] as const) {
  for (const [words, message] of calls) {
    test(`${words}: exit ${exitCode}`, async () => {
      const { code, stdout, stderr } = await here.run(words.split(" "));
      assert.match(stderr, /^tank-monitor: (?!.*internal error)[^\n]+\n$/, "one line");
      assert.match(stderr, message);
      assert.deepEqual([stdout, code], ["", exitCode]);
    });
  }
}

test("in a process of its own, the exit code is the same", async () => {
  const calls = ["key create", "key revoke key_nothing", "key list"].map((words) => here.spawn(words.split(" ")));
  assert.deepEqual(
    (await Promise.all(calls)).map(({ code }) => code),
    [2, 1, 0],
  );
});

test("no command: the help, exit 2; --help: exit 0", async () => {
  const bare = await here.run([]);
  assert.deepEqual([bare.code, /Usage: /.test(bare.stdout + bare.stderr)], [2, true]);
  const names = [...bare.stdout.matchAll(/^ {2}(\w+) /gm)].map(([, name = ""]) => name);
  assert.deepEqual(names.toSorted(), COMMANDS.toSorted());
  for (const words of [[], ...names.map((name) => [name])]) {
    const { code, stdout, stderr } = await here.run([...words, "--help"]);
    assert.deepEqual([code, stderr], [0, ""]);
    assert.match(stdout, /Usage: npx tank-monitor/);
    if (words[0] === "alert") assert.match(stdout.replaceAll("\n", " "), /the role manage, or read for list and show/);
  }
});

test("help COMMAND is COMMAND --help, and the version has the usual names", async () => {
  assert.deepEqual(await here.run(["help", "key", "create"]), await here.run(["key", "create", "--help"]));
  for (const word of ["--version", "-v", "version"]) assert.match((await here.run([word])).stdout, /^\d+\.\d+\.\d+\n$/);
});

test("every action of a group has a help with an example", async () => {
  for (const group of ["alert", "customer", "tank", "device", "key", "channel", "notification", "user"]) {
    const { stdout: groupHelp } = await here.run([group, "--help"]);
    const actions = Array.from(groupHelp.matchAll(/^ {2}(\w+) /gm), ([, action = ""]) => action);
    assert.ok(actions.length >= 3, groupHelp);
    for (const action of actions) {
      const { code, stdout, stderr } = await here.run([group, action, "--help"]);
      assert.deepEqual([code, stderr], [0, ""]);
      assert.match(stdout, new RegExp(`^Usage: npx tank-monitor ${group} ${action} `));
      assert.match(stdout, new RegExp(`^Example: npx tank-monitor ${group} ${action}`, "m"));
      assert.match(stdout, /--url URL/);
      const tooLong = stdout.split("\n").filter((line) => line.length > 80 && !line.startsWith("Example: "));
      assert.deepEqual(tooLong, [], "lines fit a terminal of 80 columns");
    }
  }
});

test("neither an invalid call, a command that only reads nor a dry run creates a database; the latter says that there is none", async (t) => {
  const empty = workspace(t);
  for (const words of ["key revoke", "import", "backup", "tank update t1 --shape {", "provision"]) {
    assert.equal((await empty.run(words.split(" "))).code, 2);
  }
  for (const words of ["fleet", "tank list", "audit", "check", "export", "key list", "device pending", "backup x.db"]) {
    const { code, stdout, stderr } = await empty.run(words.split(" "));
    assert.deepEqual([code, stdout], [1, ""], words);
    assert.match(stderr, /no database at \S+tanks\.db\. Run this in the folder.*DATABASE_URL/);
  }
  writeFileSync(empty.path("c.csv"), "id,name,email\nc,C,c@x.example\n");
  writeFileSync(empty.path("c.ndjson"), ndjson(SMALL_FLEET));
  for (const [words, summary] of [
    ["provision c.csv --dry-run", /customers: 1 new/],
    ["import c.ndjson --dry-run", /11 new/],
  ] as const) {
    const { code, stdout, stderr } = await empty.run(words.split(" "));
    assert.equal(code, 0, stderr);
    assert.match(stdout, summary);
    assert.match(stderr, /^There is no database at \S+tanks\.db yet: the dry run uses an empty one\.\n$/);
  }
  assert.ok(!existsSync(empty.path("tanks.db")));
});

test("a command that creates a SQLite database says where; later ones do not", async (t) => {
  const empty = workspace(t);
  writeFileSync(empty.path("c.ndjson"), ndjson(SMALL_FLEET));
  for (const [i, words] of ["key create --name x", "customer create --name x --email x@x.example", "import c.ndjson"].entries()) {
    const file = join("folder", `${i}.db`);
    const env = { DATABASE_URL: `sqlite:${file}` };
    const first = await empty.run(words.split(" "), { env });
    assert.equal(first.code, 0, first.stderr);
    assert.ok(first.stderr.startsWith(`A new database was created: ${empty.path(file)}\n`), first.stderr);
    assert.doesNotMatch((await empty.run(["key", "create", "--name", "y"], { env })).stderr, /new database/);
  }
  writeFileSync(empty.path("tanks.db"), "");
  assert.match((await empty.run(["key", "create", "--name", "x"])).stderr, /^A new database was created: \S+tanks\.db\n/);
});
