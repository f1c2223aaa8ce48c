import assert from "node:assert/strict";
import { connect } from "node:net";
import { before, suite, test } from "node:test";
import { ask, statusOf } from "./ask.ts";
import { importLines, makeKey, SMALL_FLEET } from "./fleet.ts";
import { type Home, home, type Service, sharedLife } from "./program.ts";

type Entry = Readonly<Record<string, unknown>>;

function entries(stderr: string): Entry[] {
  return stderr
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Entry);
}

/** Asks with a request id of its own, and gives the line that tells of it. */
async function logged(service: Service, path: string, key?: string, headers: Record<string, string> = {}): Promise<Entry> {
  const id = `look-here-${Math.random().toString(36).slice(2)}`;
  await ask(service, path, key, { "x-request-id": id, ...headers });
  await service.said(new RegExp(`${id}.*\n`), 5000);
  const found = entries(service.stderr()).filter((entry) => Object.values(entry).includes(id));
  assert.equal(found.length, 1, "one line a request");
  return found[0] ?? {};
}

/** A request that HTTP cannot read. */
async function babble({ url }: Service, text: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname, () => socket.end(text));
  for await (const _ of socket);
}

suite("the log", () => {
  const life = sharedLife();
  let here: Home;
  let key: string;
  let manager: string;

  before(async () => {
    here = home(life);
    await importLines(here, SMALL_FLEET);
    [key, manager] = await Promise.all([makeKey(here), makeKey(here, "--role", "manage")]);
  });

  test("every line is a JSON object, and one line a request tells id, route, status, milliseconds and key id", async () => {
    const service = await here.start();
    const entry = await logged(service, "/v1/tanks/a1/telemetry?size=1", key);
    assert.equal(entry["route"], "/v1/tanks/:id/telemetry");
    assert.equal(entry["status"], 200);
    assert.equal(typeof entry["milliseconds"], "number");
    assert.match(`${entry["keyId"]}`, /^key_/);
    assert.ok(Math.abs(Date.now() - Date.parse(`${entry["time"]}`)) < 60_000, "when");

    const refused = await logged(service, "/v1/tanks", "tm_wrong");
    assert.deepEqual([refused["status"], refused["keyId"], refused["code"]], [401, null, "key_invalid"]);
    const lost = await logged(service, "/v2/nothing");
    assert.deepEqual([lost["status"], lost["route"]], [404, null]);

    const { stderr, stdout } = await service.stop();
    const told = entries(stderr);
    assert.deepEqual(
      [told.at(0)?.["event"], told.at(-2)?.["event"], told.at(-1)?.["event"]],
      ["listening", "stopping", "stopped"],
    );
    assert.equal(told.filter(({ event }) => event === "request").length, 3);
    assert.equal(stdout, "");
  });

  test("no key, query string or e-mail address is ever in it, at any level", async () => {
    const service = await here.start(["serve"], { env: { LOG_LEVEL: "trace" } });
    const secret = "query-string-content";
    assert.equal(await statusOf(service, key, "/v1/customers?email=ada%40customers.example"), 200);
    assert.equal(await statusOf(service, key, `/v1/customers?${secret}=1`), 400);
    await ask(service, "/metrics", undefined, { authorization: `Bearer ${manager}` });
    await ask(service, "/v1/tanks", undefined, { authorization: `Bearer ${key}` });
    for (const name of ["api_key", "key", "X-API-Key"]) await ask(service, `/v1/tanks?${name}=${key}`);
    await ask(service, `/v1/tanks?size=2`, `${key}, ${manager}`);
    await ask(service, "/v1/tanks", key, { cookie: `k=${key}`, referer: `http://x/?k=${key}`, "user-agent": key });
    await babble(service, `GET /v1/tanks?k=${key} HTTP/9.9\r\nX-API-Key: ${key}\r\n\r\n`);
    await babble(service, `POST /v1/tanks HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Length: nonsense\r\n\r\n`);
    const { stderr, stdout } = await service.stop();
    assert.match(stderr, /"event":"query_completed"/, "the finest level is on");
    for (const hidden of [key, manager, key.slice(3), manager.slice(3), secret, "@customers.example", "customers.example"]) {
      assert.ok(!`${stdout}${stderr}`.includes(hidden), `${hidden.slice(0, 4)}… is in the log`);
    }
  });

  test("a key pasted into the path is not in it either", async () => {
    const service = await here.start();
    await ask(service, `/v1/tanks/${key}`);
    await ask(service, `/v1/tanks/${key}/telemetry`, key);
    await ask(service, `/${key}`);
    const { stderr } = await service.stop();
    assert.equal(entries(stderr).filter(({ event }) => event === "request").length, 3);
    assert.ok(!stderr.includes(key), "the key is in the log");
  });
});
