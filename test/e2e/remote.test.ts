// Commands on a running service, behind proxies and networks that fail.

import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, suite, test } from "node:test";
import type { Lifetime } from "../support/service.ts";
import { cliOnService, createKey, customer, importLines } from "./fixtures.ts";
import type { ExitResult } from "./program.ts";
import { list, waitForStatus } from "./requests.ts";

type FixedResponse = { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string };
/** Forwards to the service, and returns its response (`pass`), a 503 instead (`lose`), or breaks the connection (`swallow`). */
type Forwarding = "pass" | "lose" | "swallow";
/** `cut` breaks the connection without forwarding. */
type Behaviour = Forwarding | "cut" | FixedResponse | (() => Promise<Forwarding>);

const UNAVAILABLE: FixedResponse = {
  status: 503,
  headers: { "content-type": "application/problem+json", "retry-after": "0" },
  body: JSON.stringify({ code: "store_unavailable", detail: "The database cannot be reached right now.", status: 503 }),
};

const customers = Array.from({ length: 320 }, (_, i) => customer(`c${i}`));
const { workspace: here, service, key } = await cliOnService({ after }, customers);

/** A proxy with one behaviour for each request in turn; the last one for all that follow. */
async function proxy(life: Lifetime, ...behaviours: readonly Behaviour[]): Promise<string> {
  let count = 0;
  const server = createServer(async (request, response) => {
    const behaviour = behaviours[Math.min(count++, behaviours.length - 1)] ?? "pass";
    if (behaviour === "cut") request.socket.destroy();
    else if (typeof behaviour === "object") response.writeHead(behaviour.status, behaviour.headers).end(behaviour.body);
    else await forward(request, response, typeof behaviour === "string" ? behaviour : await behaviour());
  });
  life.after(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function forward(request: IncomingMessage, response: ServerResponse, behaviour: Forwarding): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const names = ["x-api-key", "content-type", "content-encoding", "idempotency-key"];
  const headers = names.flatMap((name) => {
    const value = request.headers[name];
    return typeof value === "string" ? [[name, value] as [string, string]] : [];
  });
  const body = chunks.length === 0 ? undefined : Buffer.concat(chunks);
  const upstream = await fetch(`${service.url}${request.url}`, { method: request.method ?? "GET", headers, body });
  const text = await upstream.text();
  if (behaviour === "swallow") request.socket.destroy();
  else if (behaviour === "lose") response.writeHead(UNAVAILABLE.status, UNAVAILABLE.headers).end(UNAVAILABLE.body);
  else response.writeHead(upstream.status, { "content-type": upstream.headers.get("content-type") ?? "" }).end(text);
}

suite("commands on a running service", () => {
  const run = (url: string, words: readonly string[], secret = key): Promise<ExitResult> =>
    here.run([...words, "--url", url], { env: { TANK_MONITOR_KEY: secret, DATABASE_URL: "sqlite:never.db" } });

  const CREATE = ["customer", "create", "--email", "new@x.example", "--name"];
  const named = async (name: string): Promise<number> =>
    (await list(service, `/manage/v1/customers?name=${encodeURIComponent(name)}`, key)).total_items;

  test('a device that was imported with the id ".." is removed from the database, not by a URL', async () => {
    await importLines(here, [{ object: "device", id: "..", profile: "elsys" }]);
    const { code, stderr } = await run(service.url, ["device", "remove", ".."]);
    assert.deepEqual([code, /cannot be part of a URL. Run this command on the database, without --url/.test(stderr)], [1, true]);
    assert.equal((await here.run(["device", "remove", ".."])).code, 0);
  });

  test("a request is retried while the database is unavailable", async (t) => {
    const { code, stderr } = await run(await proxy(t, UNAVAILABLE, UNAVAILABLE, "pass"), [...CREATE, "Patient"]);
    assert.equal(code, 0, stderr);
    assert.equal(await named("Patient"), 1);
  });

  test("a customer is not created twice when a response is lost", async (t) => {
    const { code, stdout, stderr } = await run(await proxy(t, "lose", "swallow", "pass"), [...CREATE, "Only"]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^cus_\w+\n$/);
    assert.equal(await named("Only"), 1);
  });

  test("a key whose secret was lost on the way is reported by its id, to be revoked", async (t) => {
    const { code, stdout, stderr } = await run(await proxy(t, "lose", "pass"), ["key", "create", "--name", "lost"]);
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /^tank-monitor: key key_\w+ was created, but its secret was lost.*Revoke it/);
  });

  test("a rotation with an unknown outcome is not retried", async (t) => {
    await createKey(here, "--name", "to rotate");
    const { stdout } = await here.run(["key", "list", "--json", "--limit", "1"]);
    const { id } = JSON.parse(stdout) as { id: string };
    // The first request reads the old key.
    const { code, stderr } = await run(await proxy(t, "pass", "swallow", "pass"), ["key", "rotate", id]);
    assert.equal(code, 1);
    assert.match(stderr, /closed the connection.*may have been made/);
  });

  test("all pages are read with a rate-limited key", async () => {
    const slow = await createKey(here, "--role", "manage", "--rate", "1");
    const { code, stdout, stderr } = await run(service.url, ["customer", "list", "--name", "Customer c", "--json"], slow);
    assert.equal(code, 0, stderr);
    assert.equal(new Set(stdout.trimEnd().split("\n")).size, 320);
  });

  test("customers created while pages are read do not shift them", async (t) => {
    let count = 0;
    const url = await proxy(t, "pass", async () => {
      assert.equal((await run(service.url, [...CREATE, `Customer new ${count++}`])).code, 0);
      return "pass";
    });
    // In a process of its own: commands in the shared process wait for each other.
    const { code, stdout, stderr } = await here.spawn(["customer", "list", "--name", "Customer ", "--json", "--url", url], {
      env: { TANK_MONITOR_KEY: key },
    });
    assert.equal(code, 0, stderr);
    const lines = stdout.trimEnd().split("\n");
    assert.deepEqual([lines.length, new Set(lines).size, count], [320, 320, 3]);
  });

  test("an error that persists is reported, with the time to wait", async (t) => {
    const url = await proxy(t, { ...UNAVAILABLE, headers: { ...UNAVAILABLE.headers, "retry-after": "60" } });
    const { code, stderr } = await run(url, ["tank", "list"]);
    assert.equal(code, 1);
    assert.match(stderr, /^tank-monitor: The database cannot be reached right now\. .*60 s.*\n$/);
  });

  test("a key of another role and a revoked key are reported with how to create one", async () => {
    const reads = await createKey(here);
    const forbidden = await run(service.url, ["tank", "list"], reads);
    assert.equal(forbidden.code, 1);
    assert.match(forbidden.stderr, /role "read".*key create --name NAME --role manage\n$/);
    const { stdout } = await here.run(["key", "list", "--json", "--limit", "1"]);
    await here.run(["key", "revoke", (JSON.parse(stdout) as { id: string }).id]);
    await waitForStatus(service, reads, 401, 3000);
    const revoked = await run(service.url, ["tank", "list"], reads);
    assert.equal(revoked.code, 1);
    assert.match(revoked.stderr, /: This key has been revoked\. Create a key .*key create --name NAME --role manage\n$/);
    const ingest = await run(service.url, ["fleet"], await createKey(here, "--role", "ingest"));
    assert.match(ingest.stderr, /role "ingest".*key create --name NAME --role read\n$/);
    for (const { stderr } of [forbidden, revoked]) assert.ok(!stderr.includes(reads.slice(3, 20)), "the key is not printed");
  });

  test("--key overrides the environment", async () => {
    const { code, stderr } = await here.run(["tank", "list", "--url", service.url, "--key", key], {
      env: { TANK_MONITOR_KEY: await createKey(here) },
    });
    assert.equal(code, 0, stderr);
  });

  const html = (status: number): FixedResponse => ({ status, headers: { "content-type": "text/html" }, body: "<h1>Hello</h1>" });
  const INTERMEDIARIES: readonly [name: string, behaviour: Behaviour, message: RegExp][] = [
    ["a proxy's page", html(502), /proxy.*HTTP 502 with "text\/html" instead of JSON/],
    ["another site", html(200), /HTTP 200.*Is --url right\?/],
    ["another interface", { status: 200, headers: { "content-type": "application/json" }, body: "{}" }, /not a list/],
    ["a redirect", { status: 301, headers: { location: "https://x.example/" } }, /"https:\/\/x\.example\/".*--url/],
    ["a broken connection", "cut", /closed the connection/],
  ];
  for (const [name, behaviour, message] of INTERMEDIARIES) {
    test(`${name} is reported in one line`, async (t) => {
      const { code, stdout, stderr } = await run(await proxy(t, behaviour), ["tank", "list"]);
      assert.deepEqual([code, stdout], [1, ""]);
      assert.match(stderr, /^tank-monitor: [^\n]+\n$/);
      assert.match(stderr, message);
    });
  }

  test("no service, no TLS and another path are reported", async () => {
    const gone = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => gone.once("listening", resolve));
    const { port } = gone.address() as AddressInfo;
    await new Promise((resolve) => gone.close(resolve));
    const [nothing, noTls, elsewhere] = await Promise.all(
      [`http://127.0.0.1:${port}`, service.url.replace("http:", "https:"), `${service.url}/tanks`].map((url) =>
        run(url, ["tank", "list"]),
      ),
    );
    assert.match(nothing?.stderr ?? "", /connection refused by http:\/\/127\.0\.0\.1.*Is the service running/);
    assert.match(noTls?.stderr ?? "", /does not use TLS/);
    assert.match(elsewhere?.stderr ?? "", /Is this the address of a Tank Monitor/);
    assert.deepEqual([nothing?.code, noTls?.code, elsewhere?.code], [1, 1, 1]);
  });
});
