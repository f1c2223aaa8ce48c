import assert from "node:assert/strict";
import test from "node:test";
import type { Shape } from "../../src/domain/shape.ts";
import { errorsInShape } from "../../src/domain/shape.ts";
import { seeded } from "../../src/simulate/random.ts";
import { distanceTo, fillAt, levelAt, shapeFor } from "../../src/simulate/vessel.ts";

const shapes = (count: number): Shape[] => {
  const random = seeded("shapes");
  return Array.from({ length: count }, () => shapeFor(random.pick([450, 1200, 2700, 6400, 20_000, 120_000]), random));
};

test("tanks of several shapes, all of which the service would take", () => {
  const all = shapes(300);
  for (const shape of all) assert.deepEqual(errorsInShape(shape), [], JSON.stringify(shape));
  const kinds = new Set(all.map((shape) => `${shape.kind} ${"heads" in shape ? shape.heads : ""}`.trim()));
  assert.deepEqual([...kinds].sort(), [
    "horizontal_cylinder elliptical",
    "horizontal_cylinder flat",
    "strapping_table",
    "upright",
  ]);
});

test("a shape holds about as much as its tank", () => {
  const random = seeded("volumes");
  for (const litres of [450, 2700, 20_000]) {
    for (let i = 0; i < 50; i++) {
      const shape = shapeFor(litres, random);
      if (shape.kind !== "horizontal_cylinder" || shape.heads !== "elliptical") continue;
      const { diameter, length } = shape;
      const volume = (Math.PI / 4) * diameter ** 2 * length + (Math.PI / 12) * diameter ** 3;
      assert.ok(Math.abs(volume / 1e6 / litres - 1) < 0.01, `${volume / 1e6} of ${litres} litres`);
    }
  }
});

/** By hand, for one of each kind: what a millimetre of level means there. */
test("the level of a fill is the millimetre below it", () => {
  const upright: Shape = { kind: "upright", unit: "m", height: 2, sensor_height: 2.5 };
  assert.deepEqual(
    [0, 0.02, 25, 50, 99.99, 100].map((fill) => levelAt(upright, fill)),
    [0, 0, 500, 1000, 1999, 2000],
  );
  const lying: Shape = { kind: "horizontal_cylinder", heads: "flat", unit: "mm", diameter: 1000, sensor_height: 1500 };
  assert.deepEqual(
    [19.5502, 50, 80.45].map((fill) => levelAt(lying, fill)),
    [250, 500, 750],
  );
  assert.equal(distanceTo(lying, 250), 1250);
  assert.equal(distanceTo(upright, 2000), 500);
});

test("an empty and a full tank are inside their shape, and no sensor is nearer than it can see", () => {
  for (const shape of shapes(200)) {
    const [empty, full] = [levelAt(shape, 0), levelAt(shape, 100)];
    assert.equal(fillAt(shape, empty), 0);
    assert.equal(fillAt(shape, full), 100);
    assert.ok(distanceTo(shape, full) >= 500, JSON.stringify(shape));
    assert.ok(Number.isInteger(full) && Number.isInteger(distanceTo(shape, full)), JSON.stringify(shape));
  }
});
