// Commands on a running service, with all that may stand between the two.

import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { before, suite, test } from "node:test";
import { list } from "./ask.ts";
import { customer, importLines, makeKey } from "./fleet.ts";
import { type Finished, type Home, home, type Lifetime, type Service, sharedLife } from "./program.ts";

type Told = { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string };
/** `pass`: on to the service and back; `lose`: on to the service, but another answer comes back; `swallow`: or none; `cut`: the connection breaks. */
type Passing = "pass" | "lose" | "swallow";
type Deed = Passing | "cut" | Told | (() => Promise<Passing>);

const AWAY: Told = {
  status: 503,
  headers: { "content-type": "application/problem+json", "retry-after": "0" },
  body: JSON.stringify({ code: "store_unavailable", detail: "The database cannot be reached right now.", status: 503 }),
};
const PAGE: Told = { status: 502, headers: { "content-type": "text/html" }, body: "<h1>Bad Gateway</h1>" };

/** A proxy that does the deeds one after the other, a request each; the last one for all that follow. */
async function proxy(life: Lifetime, service: Service | undefined, ...deeds: readonly Deed[]): Promise<string> {
  let count = 0;
  const server = createServer(async (request, response) => {
    const deed = deeds[Math.min(count++, deeds.length - 1)] ?? "pass";
    if (deed === "cut") request.socket.destroy();
    else if (typeof deed === "object") response.writeHead(deed.status, deed.headers).end(deed.body);
    else await pass(`${service?.url}${request.url}`, request, response, typeof deed === "string" ? deed : await deed());
  });
  life.after(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function pass(url: string, request: IncomingMessage, response: ServerResponse, deed: Passing): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const names = ["x-api-key", "content-type", "content-encoding", "idempotency-key"];
  const headers = names.flatMap((name) => {
    const value = request.headers[name];
    return typeof value === "string" ? [[name, value] as [string, string]] : [];
  });
  const body = chunks.length === 0 ? undefined : Buffer.concat(chunks);
  const answer = await fetch(url, { method: request.method ?? "GET", headers, body });
  const text = await answer.text();
  if (deed === "swallow") request.socket.destroy();
  else if (deed === "lose") response.writeHead(AWAY.status, AWAY.headers).end(AWAY.body);
  else response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" }).end(text);
}

suite("commands on a running service", () => {
  const life = sharedLife();
  let here: Home;
  let service: Service;
  let key = "";

  before(async () => {
    here = home(life);
    await importLines(
      here,
      Array.from({ length: 320 }, (_, i) => customer(`c${i}`)),
    );
    service = await here.start();
    key = await makeKey(here, "--role", "manage");
  });

  const run = (url: string, words: readonly string[], secret = key): Promise<Finished> =>
    here.run([...words, "--url", url], { env: { TANK_MONITOR_KEY: secret, DATABASE_URL: "sqlite:never.db" } });

  const CREATE = ["customer", "create", "--email", "new@x.example", "--name"];
  const named = async (name: string): Promise<number> =>
    (await list(service, `/manage/v1/customers?name=${encodeURIComponent(name)}`, key)).total_items;

  test("a database that is away for a moment is waited for", async (t) => {
    const { code, stderr } = await run(await proxy(t, service, AWAY, AWAY, "pass"), [...CREATE, "Patient"]);
    assert.equal(code, 0, stderr);
    assert.equal(await named("Patient"), 1);
  });

  test("what was made, but whose answer was lost, is not made twice", async (t) => {
    const { code, stdout, stderr } = await run(await proxy(t, service, "lose", "swallow", "pass"), [...CREATE, "Only"]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^cus_\w+\n$/);
    assert.equal(await named("Only"), 1);
  });

  test("a key whose secret was lost on the way is told by its id, to be revoked", async (t) => {
    const { code, stdout, stderr } = await run(await proxy(t, service, "lose", "pass"), ["key", "create", "--name", "lost"]);
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /^tank-monitor: key key_\w+ was created, but its secret was lost.*revoke it/);
  });

  test("rotating is not tried again when nobody knows whether it was done", async (t) => {
    await makeKey(here, "--name", "to rotate");
    const { stdout } = await here.run(["key", "list", "--json", "--limit", "1"]);
    const { id } = JSON.parse(stdout) as { id: string };
    const { code, stderr } = await run(await proxy(t, service, "swallow", "pass"), ["key", "rotate", id]);
    assert.equal(code, 1);
    assert.match(stderr, /closed the connection.*may have been made/);
  });

  test("a key with a rate is held to it, and all pages come nevertheless", async () => {
    const slow = await makeKey(here, "--role", "manage", "--rate", "1");
    const { code, stdout, stderr } = await run(service.url, ["customer", "list", "--name", "Customer c", "--json"], slow);
    assert.equal(code, 0, stderr);
    assert.equal(new Set(stdout.trimEnd().split("\n")).size, 320);
  });

  test("what is made while pages are asked for moves nothing in them", async (t) => {
    let count = 0;
    const url = await proxy(t, service, "pass", async () => {
      assert.equal((await run(service.url, [...CREATE, `Customer new ${count++}`])).code, 0);
      return "pass";
    });
    const { code, stdout, stderr } = await run(url, ["customer", "list", "--name", "Customer ", "--json"]);
    assert.equal(code, 0, stderr);
    const lines = stdout.trimEnd().split("\n");
    assert.deepEqual([lines.length, new Set(lines).size, count], [320, 320, 3]);
  });

  test("what does not go away is told, with how long it asks to wait", async (t) => {
    const url = await proxy(t, undefined, { ...AWAY, headers: { ...AWAY.headers, "retry-after": "60" } });
    const { code, stderr } = await run(url, ["tank", "list"]);
    assert.equal(code, 1);
    assert.match(stderr, /^tank-monitor: The database cannot be reached right now\. .*60 s.*\n$/);
  });

  test("keys that are not good enough, and where to get one", async () => {
    const reads = await makeKey(here);
    const forbidden = await run(service.url, ["tank", "list"], reads);
    assert.equal(forbidden.code, 1);
    assert.match(forbidden.stderr, /role "read".*key create --name NAME --role manage\n$/);
    const { stdout } = await here.run(["key", "list", "--json", "--limit", "1"]);
    await here.run(["key", "revoke", (JSON.parse(stdout) as { id: string }).id]);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const revoked = await run(service.url, ["tank", "list"], reads);
    assert.equal(revoked.code, 1);
    assert.match(revoked.stderr, /revoked.*key create --name NAME --role manage\n$/);
    for (const { stderr } of [forbidden, revoked]) assert.ok(!stderr.includes(reads.slice(3, 20)), "the key is not repeated");
  });

  test("a key given as a flag beats the environment", async () => {
    const { code, stderr } = await here.run(["tank", "list", "--url", service.url, "--key", key], {
      env: { TANK_MONITOR_KEY: await makeKey(here) },
    });
    assert.equal(code, 0, stderr);
  });

  const IN_BETWEEN: readonly [what: string, deed: Deed, says: RegExp][] = [
    ["a proxy's page", PAGE, /proxy.*HTTP 502 with "text\/html" instead of JSON/],
    ["another site", { status: 200, headers: { "content-type": "text/html" }, body: "<p>hello" }, /HTTP 200.*Is --url right\?/],
    ["another interface", { status: 200, headers: { "content-type": "application/json" }, body: "{}" }, /not a list/],
    [
      "a redirect",
      { status: 301, headers: { location: "https://tanks.example.com/" } },
      /"https:\/\/tanks\.example\.com\/".*--url/,
    ],
    ["a broken connection", "cut", /closed the connection/],
  ];
  for (const [what, deed, says] of IN_BETWEEN) {
    test(`${what} is told in one line`, async (t) => {
      const { code, stdout, stderr } = await run(await proxy(t, undefined, deed), ["tank", "list"]);
      assert.deepEqual([code, stdout], [1, ""]);
      assert.match(stderr, /^tank-monitor: [^\n]+\n$/);
      assert.match(stderr, says);
    });
  }

  test("where nothing listens, or no TLS is spoken, or another path is named", async (t) => {
    const gone = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => gone.once("listening", resolve));
    const { port } = gone.address() as AddressInfo;
    await new Promise((resolve) => gone.close(resolve));
    const [nobody, noTls, elsewhere] = await Promise.all(
      [`http://127.0.0.1:${port}`, service.url.replace("http:", "https:"), `${service.url}/tanks`].map((url) =>
        run(url, ["tank", "list"]),
      ),
    );
    assert.match(nobody?.stderr ?? "", /nothing listens at http:\/\/127\.0\.0\.1.*Is the service running/);
    assert.match(noTls?.stderr ?? "", /does not use TLS/);
    assert.match(elsewhere?.stderr ?? "", /Is this the address of a Tank Monitor/);
    assert.deepEqual([nobody?.code, noTls?.code, elsewhere?.code], [1, 1, 1]);
    t.diagnostic(nobody?.stderr ?? "");
  });
});
