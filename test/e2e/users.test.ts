// Users of the command line, on the database and on a running service with two workers; and who signs in with their links.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Browser, tokenIn } from "../support/browser.ts";
import { until } from "../support/until.ts";
import { cliOnDatabase, createKey, jsonLines, SMALL_FLEET } from "./fixtures.ts";
import { logEvents } from "./requests.ts";

const { workspace: here, run, output, items, expectFailure } = await cliOnDatabase({ after }, SMALL_FLEET);
const service = await here.start(["serve", "--workers", "2"]);

const DANA = ["--email", "dana@example.com", "--name", "Dana Fischer"];

test("serve says which command creates the first user, and user list does", async () => {
  const [advice] = await until("it is logged", () => logEvents(service, "no_users").length > 0 && logEvents(service, "no_users"));
  assert.match(String(advice?.["msg"]), /user create --email ADDRESS --name NAME --role admin/);
  assert.match((await run(["user", "list"])).stderr, /user create/);
});

test("create prints the id, list shows the user, and mistakes are reported", async () => {
  assert.match(await output("user", "create", ...DANA, "--role", "admin"), /^usr_\w{26}\n$/);
  const [dana] = await items("user", "list");
  assert.deepEqual([dana?.["email"], dana?.["role"], dana?.["object"]], ["dana@example.com", "admin", "user"]);
  await expectFailure(["user", "create", ...DANA, "--role", "viewer"], /has this address already/);
  await expectFailure(["user", "create", ...DANA, "--role", "boss"], /--role.*viewer, dispatcher, admin.*"boss"/, 2);
  await expectFailure(["user", "create", "--email", "x", "--name", "X", "--role", "admin"], /--email/, 2);
  await expectFailure(["user", "link", "nobody@example.com"], /no user with the address "nobody@example.com"/);
  await expectFailure(["user", "remove", "dana@example.com"], /last admin/);
  assert.deepEqual(await run(["user", "sessions", "dana@example.com"]), {
    code: 0,
    signal: null,
    stdout: "",
    stderr: "No sessions.\n",
  });
  await expectFailure(["user", "link"], /USER is missing: an address or id/, 2);
});

/** How many requests both workers take, most likely. */
const BOTH = 24;

test("a link of the command line signs in, for all workers; sign-out ends it in all of them within a second", async () => {
  const { stdout: link, stderr } = await run(["user", "link", "DANA@example.com"]);
  assert.match(stderr, /^The link works once, within 10 minutes\.\nIt leads to port \d+ of this machine; .* set PORT\.\n$/);
  assert.match(link, /^http:\/\/127\.0\.0\.1:\d+\/sign-in#token=tm_\w{36}\n$/);
  const browser = new Browser(service);
  const session = await browser.signInWith(tokenIn(link));
  const statuses = async () =>
    Promise.all(Array.from({ length: BOTH }, async () => (await browser.send("GET", "/manage/v1/users")).status));
  assert.deepEqual(new Set(await statuses()), new Set([200]));
  assert.deepEqual(
    (await items("user", "sessions", "dana@example.com")).map(({ id }) => id),
    [session["id"]],
  );
  assert.match((await run(["user", "sign-out", "dana@example.com"])).stderr, /^1 session ended$/m);
  const ended = performance.now();
  await until("no worker accepts it", async () => (await statuses()).every((status) => status === 401) || undefined);
  assert.ok(performance.now() - ended < 3000, `${performance.now() - ended} ms`);
  const again = await new Browser(service).send("POST", "/auth/v1/session", { token: tokenIn(link) });
  assert.equal(again.status, 401, "once");
});

test("the same with --url: create, update, link, remove", async () => {
  const env = { TANK_MONITOR_KEY: await createKey(here, "--role", "manage"), DATABASE_URL: "sqlite:never.db" };
  const remote = async (...words: string[]) => {
    const { code, stdout, stderr } = await here.run([...words, "--url", service.url], { env });
    assert.equal(code, 0, stderr);
    return stdout;
  };
  await remote("user", "create", "--email", "eve@example.com", "--name", "Eve", "--role", "viewer");
  await remote("user", "update", "eve@example.com", "--role", "dispatcher");
  const link = await remote("user", "link", "eve@example.com");
  assert.ok(link.startsWith(`${service.url}/sign-in#token=`), link);
  const browser = new Browser(service);
  assert.equal((await browser.signInWith(tokenIn(link)))["role"], "dispatcher");
  await remote("user", "remove", "eve@example.com");
  await until("the session has ended", async () => (await browser.send("GET", "/auth/v1/session")).status === 401 || undefined);
  const users = jsonLines(await remote("user", "list", "--json"));
  assert.deepEqual(
    users.map(({ email }) => email),
    ["dana@example.com"],
  );
});
