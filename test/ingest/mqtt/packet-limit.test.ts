// Packets of an external broker that are larger than they may be.

import assert from "node:assert/strict";
import test from "node:test";
import { until } from "../../support/until.ts";
import { bufferBytes, eventsOf, fixedHeader, PUBLISH, range, reading, sleep } from "./endpoint.ts";
import { acknowledged, connected, endReasons, subscribe, TOPIC } from "./subscriber.ts";

test("a message that is too large is rejected, acknowledged, and not sent again", async (t) => {
  for (const query of ["?protocol=5", "?protocol=3.1.1"]) {
    const subscriber = await subscribe(t, { query, limits: { packetBytes: 100_000 } });
    const { broker, ingest } = subscriber;
    const large = `[${reading(1)}${" ".repeat(300_000)}]`;
    for (const [payload, qos] of [
      [reading(1), 1],
      [large, 1],
      [reading(2), 1],
      [large, 0],
      [reading(3), 1],
    ] as const) {
      broker.publish(TOPIC, payload, qos);
    }
    await acknowledged(broker, 4);
    assert.deepEqual(ingest.fills, [1, 2, 3]);
    const reasons = eventsOf(subscriber, "readings_rejected").map(({ topic, device, reason }) => [topic, device, reason]);
    assert.deepEqual(
      reasons,
      Array(2).fill([TOPIC, "d1", "the message is larger than 1 MiB; set this limit in the broker, too"]),
    );
    assert.deepEqual([endReasons(subscriber), broker.sent.length], [[], 5]);
  }
});

test("a message that is too large takes no memory, may arrive slowly and in any pieces", async (t) => {
  const subscriber = await subscribe(t, { limits: { keepAliveSeconds: 1 } });
  const { broker, ingest } = subscriber;
  const size = 100 * 1_048_576;
  const [topic, id, payload] = [Buffer.from(`\0\x11${TOPIC}`), Buffer.from([0, 0]), Buffer.alloc(1_048_576)];
  const before = bufferBytes();
  for (const bytes of Buffer.concat([fixedHeader(PUBLISH - 2, topic.length + id.length + size), topic, id])) {
    await broker.write(Buffer.from([bytes]));
  }
  await until("it is reported", () => eventsOf(subscriber, "readings_rejected").length === 1);
  for (const i of range(99)) {
    if (i % 12 === 0) await sleep(200);
    await broker.write(payload);
  }
  await until("what arrived is released", () => bufferBytes() - before < 30 * 1_048_576);
  await broker.write(payload);
  broker.publish(TOPIC, reading(1));
  await acknowledged(broker, 1);
  assert.deepEqual([ingest.fills, endReasons(subscriber)], [[1], []]);
});

test("another packet that is too large, or has a malformed length, ends the connection", async (t) => {
  for (const header of [fixedHeader(0x90, 2_000_000), Buffer.from([PUBLISH, 0xff, 0xff, 0xff, 0xff])]) {
    const subscriber = await subscribe(t);
    await subscriber.broker.write(header);
    await connected(subscriber, 2);
    assert.deepEqual(endReasons(subscriber), ["the broker sent a packet that is too large"]);
  }
});
