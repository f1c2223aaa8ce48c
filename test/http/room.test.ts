// Many large bodies at once: what does not fit is refused, and the room is free again afterwards.

import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import test from "node:test";
import { RequestError } from "../../src/domain/errors.ts";
import { BodyBudget } from "../../src/http/body.ts";
import { startService } from "../support/service.ts";
import { until } from "../support/until.ts";

const MEGABYTE = 1024 * 1024;
const SMALL = 65_536;

test("reservations of several requests share one budget, and release it", () => {
  const budget = new BodyBudget(10);
  const [one, other] = [budget.reservation("a"), budget.reservation("b")];
  one.reserve(6);
  other.reserve(4);
  assert.throws(
    () => one.reserve(1),
    (error) => error instanceof RequestError && error.code === "overloaded" && error.retryAfter === 1,
  );
  other.release();
  other.release();
  one.reserve(4);
  assert.throws(() => other.reserve(1));
  one.release();
  other.reserve(10);
});

test("a single body of a key is let in whatever its size; several have a quarter, and small ones half", () => {
  const budget = new BodyBudget(128 * MEGABYTE);
  budget.reservation("alone").reserve(96 * MEGABYTE);
  assert.throws(() => budget.reservation("alone").reserve(MEGABYTE), RequestError);
  const crowded = new BodyBudget(128 * MEGABYTE);
  crowded.reservation("many").reserve(30 * MEGABYTE);
  crowded.reservation("many").reserve(2 * MEGABYTE);
  assert.throws(() => crowded.reservation("many").reserve(MEGABYTE), RequestError);
  for (let i = 0; i < 32 * 16; i++) crowded.reservation("many").reserve(SMALL);
  assert.throws(() => crowded.reservation("many").reserve(SMALL), RequestError);
  crowded.reservation("other").reserve(30 * MEGABYTE);
});

test("the last eighth is for small bodies", () => {
  const budget = new BodyBudget(128 * MEGABYTE);
  for (let i = 0; i < 7; i++) budget.reservation(`key ${i}`).reserve(16 * MEGABYTE);
  const share = budget.reservation("large");
  share.reserve(SMALL);
  assert.throws(() => share.reserve(1), RequestError);
  for (let i = 0; i < 255; i++) budget.reservation("small").reserve(SMALL);
  assert.throws(() => budget.reservation("another").reserve(SMALL), RequestError);
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
  await until("the budget is free again", async () => (await send(7_000_000, key)).status === 200, 30_000);
});
