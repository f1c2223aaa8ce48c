// Many large bodies at once: what does not fit is refused, and the room is free again afterwards.

import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import test from "node:test";
import { Refusal } from "../../src/domain/errors.ts";
import { Room } from "../../src/http/room.ts";
import { startService } from "../support/service.ts";
import { until } from "../support/until.ts";

test("shares of several requests fill one room; what leaves makes room again", () => {
  const room = new Room(10);
  const [one, other] = [room.share(), room.share()];
  one.take(6);
  other.take(4);
  assert.throws(
    () => one.take(1),
    (error) => error instanceof Refusal && error.code === "overloaded" && error.retryAfter === 1,
  );
  other.leave();
  other.leave();
  one.take(4);
  assert.throws(() => other.take(1));
  one.leave();
  other.take(10);
});

test("while many hold more than there is room for, the next is told to come again, and is taken once they are gone", async (t) => {
  const service = await startService(t);
  const key = await service.key({ role: "ingest" });
  const send = (bytes: number) =>
    fetch(`${service.url}/ingest/v1/readings`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: `[{"tank_id":"x","fill_percentage":1}${" ".repeat(bytes)}]`,
    });
  const { hostname, port } = new URL(service.url);
  const head = `POST /ingest/v1/readings HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\ncontent-length: 8000000\r\n\r\n`;
  const holders = await Promise.all(
    Array.from({ length: 16 }, async () => {
      const socket = connect(Number(port), hostname);
      await once(socket, "connect");
      await new Promise((sent) => socket.write(head + " ".repeat(7_999_000), sent));
      return socket;
    }),
  );
  const answer = await until("there is no room", async () => {
    const seen = await send(7_000_000);
    return seen.status === 503 ? seen : undefined;
  });
  assert.equal(answer.headers.get("retry-after"), "1");
  assert.equal(((await answer.json()) as { code: string }).code, "overloaded");
  for (const socket of holders) socket.destroy();
  await until("there is room again", async () => (await send(7_000_000)).status === 200);
});
