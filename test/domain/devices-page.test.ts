// docs/devices.md

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { interpret } from "../../src/domain/interpret.ts";
import { errorsInProfile, PROFILE_NAMES, profileOf } from "../../src/domain/profile.ts";
import { errorsInShape, fillAtLevel, type Shape, shapeOf } from "../../src/domain/shape.ts";

const page = readFileSync(new URL("../../docs/devices.md", import.meta.url), "utf8");

const blocks = (text: string, kind: string): unknown[] =>
  [...text.matchAll(new RegExp(`\`\`\`json ${kind}\n(.*?)\`\`\``, "gs"))].map(([, json]) => JSON.parse(json ?? ""));

test("every shape and profile in docs/devices.md is valid", () => {
  const shapes = blocks(page, "shape");
  assert.equal(shapes.length, 3);
  for (const shape of shapes) assert.deepEqual(errorsInShape(shape), []);
  const profiles = blocks(page, "profile");
  assert.equal(profiles.length, 1);
  for (const profile of profiles) assert.deepEqual(errorsInProfile(profile), []);
});

test("every built-in profile has a section in docs/devices.md, with a payload that it reads", () => {
  const sections = page.split(/^### /m).slice(1);
  assert.deepEqual(
    sections.map((section) => section.split("\n")[0]),
    PROFILE_NAMES.map((name) => `\`${name}\``),
  );
  const shape = shapeOf({ kind: "upright", height: 10, unit: "m", sensor_height: 10 });
  for (const [i, name] of PROFILE_NAMES.entries()) {
    const payloads = blocks(sections[i] ?? "", "payload");
    assert.equal(payloads.length, 1, name);
    assert.ok("fill" in interpret(payloads[0], profileOf(name), { shape, capacity: 1, capacity_unit: "liters" }), name);
  }
});

test("the table of fills in docs/devices.md is correct", () => {
  const rows = [...page.matchAll(/^\| (height|flat heads|elliptical heads)[^|]* \|(.*)\|$/gm)].map(([, , cells]) =>
    (cells ?? "").split("|").map((cell) => cell.trim()),
  );
  const [heights = [], ...fills] = rows;
  const flat: Shape = { kind: "horizontal_cylinder", unit: "m", diameter: 1, heads: "flat" };
  const shapes: Shape[] = [flat, { ...flat, heads: "elliptical", length: 2.5 }];
  assert.deepEqual(
    fills,
    shapes.map((shape) => heights.map((height) => fillAtLevel(shape, Number(height))?.toFixed(2))),
  );
});
