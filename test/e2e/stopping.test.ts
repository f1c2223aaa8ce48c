import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { before, suite, test } from "node:test";
import { ask } from "./ask.ts";
import { importLines, makeKey, SMALL_FLEET } from "./fleet.ts";
import { type Home, home, type Lifetime, type Service, sharedLife } from "./program.ts";

async function open(life: Lifetime, { url }: Service): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  life.after(() => socket.destroy());
  await once(socket, "connect");
  return socket;
}

/** Soon after the signal, nobody new gets in. */
async function refusesConnections(service: Service): Promise<void> {
  for (const deadline = performance.now() + 1000; performance.now() < deadline; ) {
    try {
      (await open({ after() {} }, service)).destroy();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ECONNREFUSED") return;
    }
  }
  assert.fail("new connections are still accepted");
}

async function everythingFrom(socket: Socket): Promise<string> {
  let text = "";
  for await (const chunk of socket) text += chunk;
  return text;
}

function head(key: string, contentLength: number): string {
  return [
    "GET /v1/tanks HTTP/1.1",
    "Host: tanks.example",
    `X-API-Key: ${key}`,
    "Content-Type: application/x-www-form-urlencoded",
    `Content-Length: ${contentLength}`,
    "",
    "",
  ].join("\r\n");
}

suite("a service that is told to stop", () => {
  const life = sharedLife();
  let here: Home;
  let key: string;

  before(async () => {
    here = home(life);
    await importLines(here, SMALL_FLEET);
    key = await makeKey(here);
  });

  test("SIGTERM: a request under way is answered, new connections are refused, then the service exits with 0", async (t) => {
    const service = await here.start();
    const slow = await open(t, service);
    slow.write(`${head(key, "size=2".length)}siz`);
    await ask(service, "/healthz");

    service.kill("SIGTERM");
    await service.said(/"event":"stopping"/);
    await refusesConnections(service);

    const finished = performance.now();
    slow.write("e=2");
    const answer = await everythingFrom(slow);
    assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/);
    assert.match(answer, /"size":2,"total_pages":2,"total_items":3\}$/);
    assert.equal((await service.ended).code, 0);
    const milliseconds = Math.round(performance.now() - finished);
    t.diagnostic(`exited ${milliseconds} ms after the last request was whole`);
    assert.ok(milliseconds < 3000, `nothing was left to do, yet it took ${milliseconds} ms to exit`);
  });

  test("SIGTERM sent again and again, and SIGINT, change nothing: the request under way is still answered", async (t) => {
    const service = await here.start();
    const slow = await open(t, service);
    slow.write(`${head(key, "size=2".length)}siz`);
    await ask(service, "/healthz");

    for (const signal of ["SIGTERM", "SIGTERM", "SIGINT", "SIGTERM"] as const) {
      service.kill(signal);
      await service.said(/"event":"stopping"/);
    }
    slow.write("e=2");
    assert.match(await everythingFrom(slow), /^HTTP\/1\.1 200 OK\r\n/);
    service.kill("SIGTERM");
    const { code, stderr } = await service.ended;
    assert.equal(code, 0);
    assert.equal(stderr.match(/"event":"stopping"/g)?.length, 1);
    assert.match(stderr, /"event":"stopped".*\n$/);
  });

  test("connections that stand idle, or never said a word, do not hold up a stop", async (t) => {
    const service = await here.start();
    const silent = await open(t, service);
    const idle = await open(t, service);
    idle.write(`${head(key, "size=2".length)}size=2`);
    await once(idle, "data");

    const started = performance.now();
    service.kill("SIGINT");
    assert.equal((await service.ended).code, 0);
    const milliseconds = Math.round(performance.now() - started);
    t.diagnostic(`stopped after ${milliseconds} ms`);
    assert.ok(milliseconds < 3000, `it took ${milliseconds} ms`);
    silent.destroy();
  });

  test("a service that has just said that it listens can be told to stop at once", async () => {
    for (let round = 0; round < 4; round++) {
      const stopped = [1, 2].map(async () => (await here.start()).stop());
      const ends = (await Promise.all(stopped)).map(({ code, signal }) => ({ code, signal }));
      assert.deepEqual(ends, Array(2).fill({ code: 0, signal: null }));
    }
  });

  test("a stop leaves one whole database file behind, with no log beside it", async () => {
    const service = await here.start();
    await ask(service, "/readyz");
    await service.stop();
    assert.deepEqual(readdirSync(here.folder).sort(), ["fleet.ndjson", "tanks.db"]);
  });
});
