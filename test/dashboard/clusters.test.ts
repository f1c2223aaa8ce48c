// Marks of the map: every tank is in one, and views lead to the tanks they show.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { FleetMap } from "../../client/src/index.ts";
import { type Cluster, clustersOf, countsIn, extentOf, pointsOf, STATES } from "../../dashboard/src/map/clusters.ts";
import { labelsOf } from "../../dashboard/src/map/labels.ts";
import {
  bboxOf,
  boundsOf,
  fitted,
  latitudeOf,
  longitudeOf,
  overview,
  surroundings,
  xOf,
  yOf,
  zoomed,
} from "../../dashboard/src/map/projection.ts";
import { seeded } from "../../src/simulate/random.ts";

const random = seeded("clusters");
const WORLD = { west: 0, north: 0, east: 1024, south: 1024 };
const SIZE = { width: 800, height: 600 };

function randomMap(tanks: number): FleetMap {
  const positions = { low: [], leak: [], soon: [], silent: [], unknown: [], ok: [] } as Record<(typeof STATES)[number], number[]>;
  for (let i = 0; i < tanks; i++) {
    positions[STATES[random.whole(0, STATES.length - 1)] ?? "ok"].push(
      random.whole(470_000, 550_000),
      random.whole(60_000, 150_000),
    );
  }
  return { object: "fleet_map", positions, without_coordinates: 0, towns: [] };
}

test("every one of a hundred thousand tanks is in one mark, within its bounds, at any scale", () => {
  const points = pointsOf(randomMap(100_000));
  for (const scale of [0.5, 64, 1024]) {
    const clusters = clustersOf(points, scale, WORLD);
    assert.equal(
      clusters.reduce((sum, { count }) => sum + count, 0),
      100_000,
    );
    const isWithin = ({ x, y, bounds: { west, north, east, south } }: Cluster) =>
      x >= west - 1e-9 && x <= east + 1e-9 && y >= north - 1e-9 && y <= south + 1e-9;
    assert.ok(clusters.every(isWithin));
  }
});

test("marks do not lie on each other, and have the most urgent state of their tanks", () => {
  const points = pointsOf(randomMap(300));
  const clusters = clustersOf(points, 8, WORLD);
  assert.ok(clusters.length > 10 && clusters.length < 300);
  for (const [index, a] of clusters.entries()) {
    for (const b of clusters.slice(index + 1)) assert.ok(Math.hypot(a.x - b.x, a.y - b.y) * 8 > 10);
  }
  const one = clustersOf(points, 0.001, WORLD);
  assert.deepEqual([one.length, one[0]?.worst], [1, 0]);
});

test("a view of all tanks has all of them, and zooming keeps the place under the pointer", () => {
  const points = pointsOf(randomMap(50));
  const all = extentOf(points);
  assert.ok(all !== undefined);
  const view = fitted(all, SIZE);
  const shown = boundsOf(view, SIZE);
  assert.ok(shown.west < all.west && shown.east > all.east && shown.north < all.north && shown.south > all.south);
  const around = surroundings(view, SIZE, view.scale * 1.19);
  assert.ok(shown.west > around.west && shown.east < around.east && shown.north > around.north && shown.south < around.south);
  const closer = zoomed(view, SIZE, 4, [100, 50]);
  const placeIn = ({ west, north }: typeof shown, scale: number) => [west + 100 / scale, north + 50 / scale];
  const [before, after] = [placeIn(shown, view.scale), placeIn(boundsOf(closer, SIZE), closer.scale)];
  assert.ok(before.every((value, index) => Math.abs(value - (after[index] ?? 0)) < 1e-9));
  const [west = 0, south = 0, east = 0, north = 0] = bboxOf(all).split(",").map(Number);
  assert.ok(xOf(west) <= all.west && xOf(east) >= all.east && yOf(north) <= all.north && yOf(south) >= all.south);
  assert.ok(Math.abs(latitudeOf(yOf(48.1)) - 48.1) < 1e-9 && Math.abs(longitudeOf(xOf(-7.3)) + 7.3) < 1e-9);
});

test("tanks of one town are shown in their country; those of a region fill the map", () => {
  const around = (degrees: number) => ({ west: xOf(9), north: yOf(51.3 + degrees), east: xOf(9 + degrees), south: yOf(51.3) });
  for (const size of [SIZE, { width: 366, height: 460 }]) {
    for (const degrees of [0, 0.05]) {
      const { west, east } = boundsOf(overview(around(degrees), size), size);
      assert.ok(longitudeOf(east) - longitudeOf(west) > 8);
    }
  }
  const { west, east } = boundsOf(overview(around(0.5), SIZE), SIZE);
  assert.ok(longitudeOf(east) - longitudeOf(west) < 2);
});

test("the tanks in view are counted by state", () => {
  const points = pointsOf(randomMap(200));
  const total = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);
  const [west, east] = [WORLD, WORLD].map((world, i) => countsIn(points, { ...world, [i === 0 ? "east" : "west"]: xOf(10) }));
  assert.deepEqual(
    STATES.map((_, number) => points.state.filter((state) => state === number).length),
    countsIn(points, WORLD),
  );
  assert.equal(total(west ?? []) + total(east ?? []), 200);
});

test("a long name is shortened between characters", () => {
  const town = { name: "🛢️👩‍👩‍👧‍👦".repeat(9), latitude: 509_800, longitude: 110_300 };
  const [label] = labelsOf([town], [], { x: xOf(11.03), y: yOf(50.98), scale: 256 }, SIZE);
  assert.match(label?.name ?? "", /^(🛢️👩‍👩‍👧‍👦)+(🛢️)?…$/u);
});

test("a town between many marks has its name beyond them, but not where that could be the name of another", () => {
  const town = { name: "Erfurt", latitude: 509_800, longitude: 110_300 };
  const view = { x: xOf(11.03), y: yOf(50.98), scale: 256 };
  const marks = [{ left: 340, top: 240, right: 460, bottom: 360 }];
  const [label] = labelsOf([town], marks, view, SIZE);
  assert.ok(label !== undefined && label.name === "Erfurt" && Math.hypot(label.x - 400, label.y - 300) < 100);
  const others = Array.from({ length: 20 }, (_, i) => ({ ...town, name: `Town ${i}` }));
  assert.deepEqual(labelsOf(others, marks, view, SIZE), []);
});
