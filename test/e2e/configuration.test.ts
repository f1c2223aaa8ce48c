// A flag beats the environment, which beats .env; a value that cannot be is told by its name.

import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { suite, test } from "node:test";
import { ask } from "./ask.ts";
import { home } from "./program.ts";

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

const portOf = ({ url }: { readonly url: string }): number => Number(new URL(url).port);

suite("the configuration", { concurrency: 2 }, () => {
  test(".env is honoured, the environment beats it, and a flag beats both", async (t) => {
    const here = home(t);
    const [ofFile, ofEnvironment, ofFlag] = await Promise.all([freePort(), freePort(), freePort()]);
    writeFileSync(here.path(".env"), `# my settings\nPORT=${ofFile}\nDATABASE_URL="sqlite:of-file.db"\n`);
    const services = await Promise.all([
      here.start(["serve"], { env: { PORT: undefined, DATABASE_URL: undefined } }),
      here.start(["serve"], { env: { PORT: `${ofEnvironment}` } }),
      here.start(["serve", "--port", `${ofFlag}`], { env: { PORT: `${ofEnvironment}` } }),
    ]);
    assert.deepEqual(services.map(portOf), [ofFile, ofEnvironment, ofFlag]);
    assert.deepEqual([existsSync(here.path("of-file.db")), existsSync(here.path("tanks.db"))], [true, true]);
  });

  test("LOG_LEVEL and CORS_ORIGINS do what they say", async (t) => {
    const env = { LOG_LEVEL: "warn", CORS_ORIGINS: "https://app.example.com" };
    const here = home(t);
    const port = await freePort();
    const quiet = here.launch(["serve"], { env: { ...env, PORT: `${port}` } });
    const service = { url: `http://127.0.0.1:${port}` };
    await quiet.said(/The database is empty/);
    const answer = await ask(service, "/healthz", undefined, { origin: "https://app.example.com" });
    assert.equal(answer.headers.get("access-control-allow-origin"), "https://app.example.com");
    quiet.kill("SIGTERM");
    assert.doesNotMatch((await quiet.ended).stderr, /"event"/);
  });

  suite("a value that cannot be is one line that names it, exit 2", { concurrency: 2 }, () => {
    for (const [name, value] of [
      ["PORT", "abc"],
      ["PORT", "65536"],
      ["LOG_LEVEL", "loud"],
      ["CORS_ORIGINS", "nonsense"],
      ["TRUST_PROXY", "perhaps"],
      ["RATE_LIMIT", "-1"],
      ["DATABASE_URL", "mysql://root:hunter2@localhost/tanks"],
      ["DATABASE_REPLICA_URL", "postgres://tm:hunter2@localhost/of-a-sqlite-file"],
    ] as const) {
      test(`${name}=${value}`, async (t) => {
        const { code, stdout, stderr } = await home(t).run(["serve"], { env: { [name]: value }, patience: 30_000 });
        assert.match(stderr, new RegExp(`^tank-monitor: ${name} must be [^\n]+\n$`));
        assert.deepEqual([code, stdout], [2, ""]);
        assert.doesNotMatch(stderr, /hunter2/);
      });
    }
  });

  test("an address that is not this machine's is one line, exit 1", async (t) => {
    for (const host of ["203.0.113.7", "no-such-host.invalid"]) {
      const { code, stderr } = await home(t).run(["serve", "--host", host], { patience: 15_000 });
      assert.match(stderr, /^tank-monitor: [^\n]+\n$/);
      assert.match(stderr, new RegExp(host));
      assert.equal(code, 1);
    }
  });
});

test("a command that only looks makes no database: it says that there is none here", async (t) => {
  const here = home(t);
  for (const words of [
    ["fleet"],
    ["tank", "list"],
    ["audit"],
    ["check"],
    ["export"],
    ["key", "list"],
    ["device", "waiting"],
    ["backup", "x.db"],
  ]) {
    const { code, stdout, stderr } = await here.run(words);
    assert.deepEqual([code, stdout], [1, ""], words.join(" "));
    assert.match(stderr, /no database at \S+tanks\.db\. Run this in the folder.*DATABASE_URL/);
  }
  assert.ok(!existsSync(here.path("tanks.db")));
  assert.equal((await here.run(["key", "create", "--name", "first"])).code, 0);
  assert.equal((await here.run(["key", "list"])).code, 0);
});
