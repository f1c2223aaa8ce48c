// Tank shapes, and the messages of each maker's device as the service's own decoders and profiles read them.

import assert from "node:assert/strict";
import test from "node:test";
import { interpret } from "../../src/domain/interpret.ts";
import { profileNamed } from "../../src/domain/profile.ts";
import { errorsInShape, type Shape } from "../../src/domain/shape.ts";
import { createMqttMessage, decodeMqttMessage } from "../../src/ingest/decode.ts";
import type { IncomingReading } from "../../src/ingest/ingest.ts";
import { type SimulatedDevice, seededFleet } from "../../src/simulate/fleet.ts";
import { fillOf, type Message, messagesOf, topicOf, valueAt } from "../../src/simulate/messages.ts";
import { seeded } from "../../src/simulate/random.ts";
import { distanceTo, fillAt, levelAt, MAKERS, type Maker, sensorOf, shapeFor } from "../../src/simulate/sensors.ts";

const AT = Date.parse("2026-11-14T09:30:00.123Z");
const FILLS = [0, 0.004, 7.31, 33.333, 50, 79.995, 91.2, 99.99, 100];
const random = seeded("shapes");
const SHAPES = [450, 1200, 2700, 6400, 20_000, 120_000].flatMap((litres) =>
  Array.from({ length: 50 }, () => ({ litres, shape: shapeFor(litres, random) })),
);

test("shapes of all kinds are valid, hold the volume, and leave the sensor enough distance", () => {
  const kinds = new Set(SHAPES.map(({ shape }) => `${shape.kind} ${"heads" in shape ? shape.heads : ""}`.trim()));
  const expected = ["horizontal_cylinder elliptical", "horizontal_cylinder flat", "upright"];
  assert.deepEqual([...kinds].sort(), expected);
  for (const { litres, shape } of SHAPES) {
    const text = JSON.stringify(shape);
    assert.deepEqual(errorsInShape(shape), [], text);
    const [empty, full] = [levelAt(shape, 0), levelAt(shape, 100)];
    assert.deepEqual([fillAt(shape, empty), fillAt(shape, full)], [0, 100], text);
    assert.ok(distanceTo(shape, full) >= 500, text);
    assert.ok(Number.isInteger(full) && Number.isInteger(distanceTo(shape, full)), text);
    if (shape.kind !== "horizontal_cylinder" || shape.heads !== "elliptical") continue;
    const volume = (Math.PI / 4) * shape.diameter ** 2 * shape.length + (Math.PI / 12) * shape.diameter ** 3;
    assert.ok(Math.abs(volume / 1e6 / litres - 1) < 0.01, `${volume / 1e6} of ${litres} litres`);
  }
});

test("a fill is converted to the millimetre below its level", () => {
  const upright: Shape = { kind: "upright", unit: "m", height: 2, sensor_height: 2.5 };
  const levels = [0, 0.02, 25, 50, 99.99, 100].map((fill) => levelAt(upright, fill));
  assert.deepEqual(levels, [0, 0, 500, 1000, 1999, 2000]);
  const lying: Shape = { kind: "horizontal_cylinder", heads: "flat", unit: "mm", diameter: 1000, sensor_height: 1500 };
  assert.deepEqual(
    [19.5502, 50, 80.45].map((fill) => levelAt(lying, fill)),
    [250, 500, 750],
  );
  assert.deepEqual([distanceTo(lying, 250), distanceTo(upright, 2000)], [1250, 500]);
});

for (const maker of MAKERS) {
  test(`${maker}: the service reads the fill that was measured, to the millimetre or hundredth`, () => {
    for (const { device, capacity } of devicesOf(maker)) {
      for (const fill of FILLS) {
        const value = valueAt(device, fill);
        const messages = messagesOf(device, [{ number: 7, at: AT, value }]);
        const [reading, ...more] = messages.flatMap(decode);
        assert.ok(reading !== undefined && more.length === 0);
        assert.deepEqual([reading.source, reading.createdAt], [{ deviceId: device.id }, AT]);
        const read = readFill(device, capacity, reading);
        assert.ok(Math.abs(read - fillOf(device, value)) <= 0.0101, `${read} instead of ${fillOf(device, value)}`);
        const isExact = maker === "generic" || fill === 100;
        const step = isExact ? 0.01 : fillAt(device.shape, value + 1) - fillAt(device.shape, value) + 0.01;
        assert.ok(read <= fill + 0.0101 && read >= fill - step - 0.0101, `${read} of ${fill} with ${JSON.stringify(device)}`);
      }
    }
  });
}

test("a backlog is one message in the service's own format, and one message per reading from a network server", () => {
  const formats = new Set<string>();
  for (const maker of MAKERS) {
    const device = seededFleet("makers", 1, [maker]).device(0);
    const backlog = [2, 0, 1].map((number) => ({ number, at: AT + number, value: 50 }));
    const messages = messagesOf(device, backlog);
    const format = sensorOf(maker)?.format ?? "json";
    formats.add(format);
    assert.deepEqual(
      messages.map(({ numbers }) => numbers),
      format === "json" ? [[2, 0, 1]] : [[2], [0], [1]],
      maker,
    );
    const instants = messages.flatMap(decode).map(({ createdAt }) => createdAt - AT);
    assert.deepEqual(instants, [2, 0, 1], maker);
  }
  assert.deepEqual(formats, new Set(["json", "chirpstack", "tts"]));
});

function devicesOf(maker: Maker): { device: SimulatedDevice; capacity: number }[] {
  const fleet = seededFleet("makers", 60, [maker]);
  return Array.from({ length: fleet.size }, (_, i) => ({ device: fleet.device(i), capacity: fleet.capacity(i) }));
}

function decode(message: Message): IncomingReading[] {
  const text = message.format === "json" ? JSON.stringify(message.readings) : message.text;
  return decodeMqttMessage(createMqttMessage(topicOf(message), Buffer.from(text), 0)).map((reading) => {
    assert.ok(!("rejected" in reading), JSON.stringify(reading));
    return reading;
  });
}

function readFill({ maker, shape }: SimulatedDevice, capacity: number, { measurement }: IncomingReading): number {
  const profile = sensorOf(maker)?.profile;
  if (profile === undefined) {
    assert.ok("fill" in measurement);
    return measurement.fill;
  }
  assert.ok("payload" in measurement);
  const tank = { shape, capacity, capacity_unit: "liters" } as const;
  const read = interpret(JSON.parse(measurement.payload), profileNamed(profile) ?? null, tank);
  assert.ok("fill" in read, JSON.stringify(read));
  return read.fill;
}
