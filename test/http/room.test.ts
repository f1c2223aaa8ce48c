// Many large bodies at once: what does not fit is refused, and the room is free again afterwards.

import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import test from "node:test";
import { RequestError } from "../../src/domain/errors.ts";
import { Room } from "../../src/http/room.ts";
import { startService } from "../support/service.ts";
import { until } from "../support/until.ts";

const MEGABYTE = 1024 * 1024;
const SMALL = 65_536;

test("shares of several requests fill one room; what leaves makes room again", () => {
  const room = new Room(10);
  const [one, other] = [room.share("a"), room.share("b")];
  one.take(6);
  other.take(4);
  assert.throws(
    () => one.take(1),
    (error) => error instanceof RequestError && error.code === "overloaded" && error.retryAfter === 1,
  );
  other.leave();
  other.leave();
  one.take(4);
  assert.throws(() => other.take(1));
  one.leave();
  other.take(10);
});

test("a single body of a key is let in whatever its size; several have a quarter, and small ones half", () => {
  const room = new Room(128 * MEGABYTE);
  room.share("alone").take(96 * MEGABYTE);
  assert.throws(() => room.share("alone").take(MEGABYTE), RequestError);
  const crowded = new Room(128 * MEGABYTE);
  crowded.share("many").take(30 * MEGABYTE);
  crowded.share("many").take(2 * MEGABYTE);
  assert.throws(() => crowded.share("many").take(MEGABYTE), RequestError);
  for (let i = 0; i < 32 * 16; i++) crowded.share("many").take(SMALL);
  assert.throws(() => crowded.share("many").take(SMALL), RequestError);
  crowded.share("other").take(30 * MEGABYTE);
});

test("the last eighth is for small bodies", () => {
  const room = new Room(128 * MEGABYTE);
  for (let i = 0; i < 7; i++) room.share(`key ${i}`).take(16 * MEGABYTE);
  const share = room.share("large");
  share.take(SMALL);
  assert.throws(() => share.take(1), RequestError);
  for (let i = 0; i < 255; i++) room.share("small").take(SMALL);
  assert.throws(() => room.share("another").take(SMALL), RequestError);
});

test("what one key holds keeps nobody else out; its own next body is told to come again, and is taken once they are gone", async (t) => {
  const service = await startService(t);
  const [key, other] = [await service.key({ role: "ingest" }), await service.key({ role: "ingest" })];
  const send = (bytes: number, by: string) =>
    fetch(`${service.url}/ingest/v1/readings`, {
      method: "POST",
      headers: { "x-api-key": by, "content-type": "application/json" },
      body: `[{"tank_id":"x","fill_percentage":1}${" ".repeat(bytes)}]`,
    });
  const { hostname, port } = new URL(service.url);
  const head = `POST /ingest/v1/readings HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\ncontent-length: 8000000\r\n\r\n`;
  const holders = await Promise.all(
    Array.from({ length: 16 }, async () => {
      const socket = connect(Number(port), hostname);
      socket.on("error", () => {});
      await once(socket, "connect");
      await new Promise((sent) => socket.write(head + " ".repeat(7_999_000), sent));
      return socket;
    }),
  );
  const answer = await until(
    "there is no room",
    async () => {
      const seen = await send(7_000_000, key);
      return seen.status === 503 ? seen : undefined;
    },
    30_000,
  );
  assert.equal(answer.headers.get("retry-after"), "1");
  assert.equal(((await answer.json()) as { code: string }).code, "overloaded");
  assert.equal((await send(7_000_000, other)).status, 200, "another key is not held up");
  for (const socket of holders) socket.destroy();
  await until("there is room again", async () => (await send(7_000_000, key)).status === 200, 30_000);
});
