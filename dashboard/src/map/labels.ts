// The names of towns, where they overlap neither each other nor the marks.

import type { FleetMap } from "../../../client/src/index.ts";
import { type Size, type View, xOf, yOf } from "./projection.ts";

export type Label = {
  readonly name: string;
  readonly x: number;
  readonly y: number;
  readonly anchor: "middle" | "start" | "end";
};
/** On the screen. */
export type Box = { readonly left: number; readonly top: number; readonly right: number; readonly bottom: number };

const MAX_LABELS = 60;
const MAX_LENGTH = 22;
const CHARACTER = 6.6;
const HEIGHT = 15;
const UNITS = 10_000;

/** From the middle of the town, in the order they are tried. */
const PLACES = [
  { dx: 0, dy: 30, anchor: "middle" },
  { dx: 0, dy: -22, anchor: "middle" },
  { dx: 24, dy: 4, anchor: "start" },
  { dx: -24, dy: 4, anchor: "end" },
] as const;

/** Towns with the most tanks first. */
export function labelsOf(towns: FleetMap["towns"], marks: readonly Box[], view: View, { width, height }: Size): Label[] {
  const taken = [...marks];
  const labels: Label[] = [];
  for (const { name, latitude, longitude } of towns) {
    if (labels.length >= MAX_LABELS) break;
    const x = (xOf(longitude / UNITS) - view.x) * view.scale + width / 2;
    const y = (yOf(latitude / UNITS) - view.y) * view.scale + height / 2;
    if (x < 0 || y < 0 || x > width || y > height) continue;
    const text = name.length > MAX_LENGTH ? `${name.slice(0, MAX_LENGTH - 1).toWellFormed()}…` : name;
    for (const { dx, dy, anchor } of PLACES) {
      const box = boxOf(x + dx, y + dy, text.length * CHARACTER, anchor);
      const isInside = box.left >= 0 && box.right <= width && box.top >= 0 && box.bottom <= height;
      if (!isInside || taken.some((other) => overlap(box, other))) continue;
      taken.push(box);
      labels.push({ name: text, x: x + dx, y: y + dy, anchor });
      break;
    }
  }
  return labels;
}

function boxOf(x: number, y: number, width: number, anchor: Label["anchor"]): Box {
  const left = anchor === "start" ? x : anchor === "end" ? x - width : x - width / 2;
  return { left, right: left + width, top: y - HEIGHT + 3, bottom: y + 3 };
}

const overlap = (a: Box, b: Box): boolean => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
