// Bodies on the wire: large ones, slow ones, those that are refused before they have come, and senders who ask first.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { after, describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { get, objectOf, refused, send } from "./answers.ts";
import { answersIn, exchange, hear, open, type RawAnswer } from "./wire.ts";
import { LARGE_BYTES, MAX_BYTES, openWorkshop } from "./workshop.ts";

const workshop = await openWorkshop({ after }, { timeouts: { headersMs: 30_000, requestMs: 60_000 } });
const key = await workshop.key({ role: "ingest" });
/** Has no patience. */
const hasty = await openWorkshop({ after }, { timeouts: { headersMs: 500, requestMs: 1000 } });
const hastyKey = await hasty.key({ role: "ingest" });
const JSON_HEADERS = { "content-type": "application/json" };

const headBy =
  (key: string) =>
  (path: string, ...headers: string[]) =>
    `POST ${path} HTTP/1.1\r\n${["Host: here", `X-API-Key: ${key}`, "Content-Type: application/json", ...headers].join("\r\n")}\r\n\r\n`;
const head = headBy(key);
const hastyHead = headBy(hastyKey);
const load = (characters: number) => JSON.stringify("x".repeat(characters));
const statuses = (answers: readonly RawAnswer[]) => answers.map(({ status }) => status);

async function expectGoingOn(): Promise<void> {
  const answer = await get(workshop, "/ingest/v1/loads", { method: "POST", key, headers: JSON_HEADERS, body: load(3) });
  assert.equal(objectOf(answer)["body"], 3, "the service goes on");
}

describe("a large body", () => {
  const size = LARGE_BYTES - 2;

  it("is taken up to its bound, and not a byte further", async () => {
    const ask = (characters: number) =>
      send(workshop, "/ingest/v1/loads", { method: "POST", key, headers: JSON_HEADERS, body: load(characters) });
    assert.equal(objectOf(await ask(size))["body"], size);
    const { detail } = refused(await ask(size + 1), 413, "body_too_large");
    assert.ok(detail.includes(String(LARGE_BYTES)), detail);
  });

  it("may come in chunks, up to the same bound", async () => {
    const headers = { ...JSON_HEADERS, "transfer-encoding": "chunked" };
    const ask = (characters: number) =>
      send(workshop, "/ingest/v1/loads", { method: "POST", key, headers, body: load(characters) });
    assert.equal(objectOf(await ask(size))["body"], size);
    refused(await ask(size + 1), 413, "body_too_large");
  });
});

describe("a body that announces too much", () => {
  it("is refused before it is read", async () => {
    const socket = open(workshop);
    const heard = hear(socket);
    socket.write(head("/ingest/v1/loads", `Content-Length: ${LARGE_BYTES + 1}`));
    const [first] = (await once(socket, "data")) as [Buffer];
    assert.match(first.toString(), /^HTTP\/1\.1 413 /);
    socket.destroy();
    await heard;
  });

  it("is refused where its sender sends all before it listens", async () => {
    const body = Buffer.alloc(LARGE_BYTES + 1, 0x20);
    const socket = open(workshop);
    socket.write(head("/ingest/v1/loads", "Connection: close", `Content-Length: ${body.length}`));
    await new Promise((sent) => socket.write(body, sent));
    assert.deepEqual(statuses(answersIn(await hear(socket))), [413]);
  });

  it("is refused where fetch sends it", async () => {
    const body = Buffer.alloc(LARGE_BYTES + 1, 0x20);
    const response = await fetch(`${workshop.url}/ingest/v1/loads`, {
      method: "POST",
      headers: { ...JSON_HEADERS, "x-api-key": key },
      body,
    });
    assert.equal(response.status, 413);
    assert.equal(((await response.json()) as { code: string }).code, "body_too_large");
    await expectGoingOn();
  });

  it("leaves the connection to the request behind it", async () => {
    const body = " ".repeat(MAX_BYTES + 1);
    const good = `${head("/ingest/v1/things", "Content-Length: 2", "Connection: close")}{}`;
    const heard = await exchange(workshop, head("/ingest/v1/things", `Content-Length: ${body.length}`) + body + good);
    assert.deepEqual(statuses(answersIn(heard)), [413, 200]);
  });

  it("and is not finished in time is told nothing more", async () => {
    const socket = open(hasty);
    const heard = hear(socket);
    socket.write(`${hastyHead("/ingest/v1/things", `Content-Length: ${MAX_BYTES + 1}`)}[`);
    assert.deepEqual(statuses(answersIn(await heard)), [413]);
    await expectGoingOn();
  });

  it("is refused in chunks as soon as it is too much", async () => {
    const socket = open(hasty);
    const heard = hear(socket);
    socket.write(`${hastyHead("/ingest/v1/things", "Transfer-Encoding: chunked")}${(MAX_BYTES + 1).toString(16)}\r\n`);
    socket.write(" ".repeat(MAX_BYTES + 1));
    const [first] = (await once(socket, "data")) as [Buffer];
    assert.match(first.toString(), /^HTTP\/1\.1 413 /);
    assert.deepEqual(statuses(answersIn(await heard)), [413]);
  });
});

describe("a body that nobody wants", () => {
  for (const [what, path, headers, status] of [
    ["for its key", "/ingest/v1/loads", { "x-api-key": "tm_x" }, 401],
    ["for its role", "/manage/v1/things", {}, 403],
    ["for its media type", "/ingest/v1/loads", { "content-type": "text/plain" }, 415],
    ["for its packing", "/ingest/v1/loads", { "content-encoding": "br" }, 415],
    ["for its parameters", "/ingest/v1/loads?colour=red", {}, 400],
    ["for its path", "/ingest/v1/nothing", {}, 404],
  ] as const) {
    it(`is refused ${what}, however large, and its sender hears it`, async () => {
      const body = Buffer.alloc(20_000_000, 0x20);
      const answer = await send(workshop, path, { method: "POST", key, headers: { ...JSON_HEADERS, ...headers }, body });
      assert.equal(answer.status, status, answer.text);
      await expectGoingOn();
    });
  }
});

describe("a sender who asks first", () => {
  const EXPECT = "Expect: 100-continue";

  it("is told to go on, and then the answer", async () => {
    const bytes = `${head("/ingest/v1/things", "Content-Length: 2", "Connection: close", EXPECT)}{}`;
    assert.deepEqual(statuses(answersIn(await exchange(workshop, bytes))), [100, 200]);
  });

  it("is told to go on only when all else is found good", async () => {
    for (const [path, more, status] of [
      ["/ingest/v1/things", `Content-Length: ${MAX_BYTES + 1}`, 413],
      ["/ingest/v1/things", "Content-Length: 2\r\nContent-Encoding: br", 415],
      ["/ingest/v1/things?colour=red", "Content-Length: 2", 400],
      ["/manage/v1/things", "Content-Length: 2", 403],
      ["/ingest/v1/nothing", "Content-Length: 2", 404],
    ] as const) {
      const [answer, ...others] = answersIn(await exchange(workshop, head(path, more, EXPECT)));
      assert.deepEqual([answer?.status, others], [status, []]);
      assert.equal(answer?.headers.connection, "close", "what comes next on this connection nobody knows");
    }
  });

  it("may be curl, with megabytes", async (t) => {
    const call = spawn("curl", [
      ...["-sS", "-v", "-X", "POST", "-H", `X-API-Key: ${key}`, "-H", "Content-Type: application/json", "-H", EXPECT],
      ...["--data-binary", "@-", `${workshop.url}/ingest/v1/loads`],
    ]);
    const failed = once(call, "error");
    call.stdin.on("error", () => {});
    call.stdin.end(load(5_000_000));
    const words: Buffer[] = [];
    call.stdout.on("data", (chunk: Buffer) => words.push(chunk));
    call.stderr.on("data", (chunk: Buffer) => words.push(chunk));
    const ended = await Promise.race([once(call, "close"), failed.then(() => undefined)]);
    if (ended === undefined) return t.skip("there is no curl here");
    const said = Buffer.concat(words).toString();
    assert.match(said, /HTTP\/1\.1 100 Continue/);
    assert.match(said, /"body":5000000/);
  });

  it("and is refused, as curl is, hears why", async (t) => {
    const args = ["-sS", "-X", "POST", "-H", "X-API-Key: tm_x", "-H", EXPECT, "--data-binary", "x".repeat(100_000)];
    try {
      const { stdout } = await promisify(execFile)("curl", [...args, `${workshop.url}/ingest/v1/loads`]);
      assert.match(stdout, /"code":"key_invalid"/);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      t.skip("there is no curl here");
    }
  });
});

describe("a slow body", { concurrency: true }, () => {
  /** One byte every so often, for as long as the connection lives. */
  function trickle(socket: Socket, bytes: string): void {
    const timer = setInterval(() => socket.write(bytes), 40);
    socket.on("close", () => clearInterval(timer));
  }

  async function cutOff(say: (socket: Socket) => void): Promise<number[]> {
    const socket = open(hasty);
    const heard = hear(socket);
    await once(socket, "connect");
    say(socket);
    return statuses(answersIn(await heard));
  }

  it("that stops is cut off with 408", async () => {
    const said = await cutOff((socket) => socket.write(`${hastyHead("/ingest/v1/things", "Content-Length: 10")}[1,`));
    assert.deepEqual(said, [408]);
  });

  it("that trickles is cut off with 408, announced or in chunks", async () => {
    const announced = cutOff((socket) => {
      socket.write(hastyHead("/ingest/v1/things", "Content-Length: 5000"));
      trickle(socket, " ");
    });
    const chunked = cutOff((socket) => {
      socket.write(hastyHead("/ingest/v1/things", "Transfer-Encoding: chunked"));
      trickle(socket, "1\r\n \r\n");
    });
    assert.deepEqual(await Promise.all([announced, chunked]), [[408], [408]]);
  });

  it("that comes in time is taken, in whatever pieces", async () => {
    const socket = open(workshop);
    const heard = hear(socket);
    const bytes = `${head("/ingest/v1/things", "Content-Length: 9", "Connection: close")}{"a":"ü"}`;
    for (const byte of Buffer.from(bytes)) socket.write(Buffer.of(byte));
    await pause(1);
    const [answer] = answersIn(await heard);
    assert.equal(answer?.status, 400, "nine characters are ten bytes");
  });

  it("that is cut short by its sender hurts nobody", async () => {
    const bytes = `${head("/ingest/v1/things", "Content-Length: 100")}[1,`;
    assert.deepEqual(statuses(answersIn(await exchange(workshop, bytes, { hangUp: true }))), [400]);
    const socket = open(workshop);
    await once(socket, "connect");
    socket.write(bytes, () => socket.resetAndDestroy());
    await once(socket, "close");
    await expectGoingOn();
    const failures = workshop.events.filter(({ kind }) => kind === "request_failed");
    assert.deepEqual(failures, [], "no fault of ours");
  });
});
