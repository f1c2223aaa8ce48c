// What each maker's device sends, read by the service's own decoders and profiles.

import assert from "node:assert/strict";
import test from "node:test";
import { interpret } from "../../src/domain/interpret.ts";
import { profileNamed } from "../../src/domain/profile.ts";
import { createMqttMessage, decodeMqttMessage } from "../../src/ingest/decode/message.ts";
import type { IncomingReading } from "../../src/ingest/ingest.ts";
import { seededFleet } from "../../src/simulate/fleet.ts";
import { MAKERS, type Maker, sensorOf } from "../../src/simulate/makers.ts";
import { fillOf, type Message, messagesOf, topicOf, valueAt } from "../../src/simulate/message.ts";
import { seeded } from "../../src/simulate/random.ts";
import { fillAt } from "../../src/simulate/vessel.ts";

const AT = Date.parse("2026-11-14T09:30:00.123Z");
const FILLS = [0, 0.004, 7.31, 33.333, 50, 79.995, 91.2, 99.99, 100];

function arrivalsIn(message: Message): IncomingReading[] {
  const text = message.by === "own" ? JSON.stringify(message.readings) : message.text;
  const read = decodeMqttMessage(createMqttMessage(topicOf(message), Buffer.from(text), 0));
  return read.map((arrival) => {
    assert.ok(!("rejected" in arrival), JSON.stringify(arrival));
    return arrival;
  });
}

function devicesOf(maker: Maker) {
  const fleet = seededFleet("makers", 60, [maker]);
  return Array.from({ length: fleet.size }, (_, i) => ({ device: fleet.device(i), capacity: fleet.capacity(i) }));
}

for (const maker of MAKERS) {
  test(`${maker}: what is sent of any fill is read as that fill, to the millimetre or the hundredth`, () => {
    for (const { device, capacity } of devicesOf(maker)) {
      for (const fill of FILLS) {
        const value = valueAt(device, fill);
        const [message, ...more] = messagesOf(device, [{ number: 7, at: AT, value }], seeded("x"));
        assert.ok(message !== undefined && more.length === 0);
        const [arrival] = arrivalsIn(message);
        assert.deepEqual(arrival?.source, { deviceId: device.id });
        assert.equal(arrival?.createdAt, AT);
        const read = readAs(maker, arrival, { shape: device.shape, capacity });
        assert.ok(Math.abs(read - fillOf(device, value)) <= 0.0101, `${read} instead of ${fillOf(device, value)}`);
        const step =
          maker === "own" || fill === 100 ? 0.01 : fillAt(device.shape, value + 1) - fillAt(device.shape, value) + 0.01;
        assert.ok(read <= fill + 0.0101 && read >= fill - step - 0.0101, `${read} of ${fill} with ${JSON.stringify(device)}`);
      }
    }
  });
}

function readAs(
  maker: Maker,
  arrival: IncomingReading | undefined,
  tank: Pick<Parameters<typeof interpret>[2], "shape" | "capacity">,
) {
  assert.ok(arrival !== undefined);
  const { measurement } = arrival;
  const profile = sensorOf(maker)?.profile;
  if (profile === undefined) {
    assert.ok("fill" in measurement);
    return measurement.fill;
  }
  assert.ok("payload" in measurement);
  const read = interpret(JSON.parse(measurement.payload), profileNamed(profile) ?? null, { ...tank, capacity_unit: "liters" });
  assert.ok("fill" in read, JSON.stringify(read));
  return read.fill;
}

test("a gateway sends a backlog in one message, a network server an uplink at a time", () => {
  const backlog = [2, 0, 1].map((number) => ({ number, at: AT + number, value: 500 }));
  for (const maker of MAKERS) {
    const [first] = devicesOf(maker);
    assert.ok(first !== undefined);
    const readings = maker === "own" ? backlog.map((reading) => ({ ...reading, value: 50 })) : backlog;
    const messages = messagesOf(first.device, readings, seeded("x"));
    const isOne = (sensorOf(maker)?.by ?? "own") === "own";
    assert.deepEqual(
      messages.map(({ numbers }) => numbers),
      isOne ? [[2, 0, 1]] : [[2], [0], [1]],
      maker,
    );
    assert.deepEqual(
      messages.flatMap(arrivalsIn).map(({ createdAt }) => createdAt - AT),
      [2, 0, 1],
    );
  }
});

test("the doors of three kinds of senders are used: our own, ChirpStack's and The Things Stack's", () => {
  const ways = MAKERS.map((maker) => sensorOf(maker)?.by ?? "own");
  assert.deepEqual(new Set(ways), new Set(["own", "chirpstack", "tts"]));
});
