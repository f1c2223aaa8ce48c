// The names of towns, and of tanks without a town, where they overlap neither each other nor the marks.

import type { FleetTank } from "../../../client/src/index.ts";
import { shortened } from "../format.ts";
import type { Cluster } from "./clusters.ts";
import { type Size, type View, xOf, yOf } from "./projection.ts";

/** Its place is in ten-thousandths of a degree. */
export type NamedPlace = { readonly name: string; readonly latitude: number; readonly longitude: number };

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

type Place = { readonly dx: number; readonly dy: number; readonly anchor: Label["anchor"] };

/** From the middle of the town, in the order they are tried. */
const placesAt = (distance: number): readonly Place[] => [
  { dx: 0, dy: 30 + distance, anchor: "middle" },
  { dx: 0, dy: -22 - distance, anchor: "middle" },
  { dx: 24 + distance, dy: 4, anchor: "start" },
  { dx: -24 - distance, dy: 4, anchor: "end" },
];
const NEAR = placesAt(0);
const FAR = [20, 40, 60, 80, 100].flatMap(placesAt);
/** With more of them in view, a name that is not beside its town would be taken for that of another. */
const MAX_NAMES_WITH_FAR = 12;

/** Those given first are preferred. */
export function labelsOf(named: readonly NamedPlace[], marks: readonly Box[], view: View, { width, height }: Size): Label[] {
  const taken = [...marks];
  const labels: Label[] = [];
  const inView = named
    .map(({ name, latitude, longitude }) => ({
      name: shortened(name, MAX_LENGTH),
      x: (xOf(longitude / UNITS) - view.x) * view.scale + width / 2,
      y: (yOf(latitude / UNITS) - view.y) * view.scale + height / 2,
    }))
    .filter(({ x, y }) => x >= 0 && y >= 0 && x <= width && y <= height);
  const places = inView.length > MAX_NAMES_WITH_FAR ? NEAR : [...NEAR, ...FAR];
  for (const { name, x, y } of inView) {
    if (labels.length >= MAX_LABELS) break;
    for (const { dx, dy, anchor } of places) {
      const box = boxOf(x + dx, y + dy, name.length * CHARACTER, anchor);
      const isInside = box.left >= 0 && box.right <= width && box.top >= 0 && box.bottom <= height;
      if (!isInside || taken.some((other) => overlap(box, other))) continue;
      taken.push(box);
      labels.push({ name, x: x + dx, y: y + dy, anchor });
      break;
    }
  }
  return labels;
}

type Location = FleetTank["tank"]["location"];

/** More than positions on the map are rounded by, in units of the world. */
const ROUNDED = 0.001;

/** Whether the tank has a mark of its own, and it is this one. */
function isAt({ latitude, longitude }: Location, { count, x, y }: Cluster): boolean {
  if (count > 1 || latitude === null || longitude === null) return false;
  return Math.hypot(x - xOf(longitude), y - yOf(latitude)) < ROUNDED;
}

export const tankAt = (tanks: readonly FleetTank[], cluster: Cluster): FleetTank | undefined =>
  tanks.find(({ tank }) => isAt(tank.location, cluster));

/** Those that have a mark of their own. */
export function tanksWithoutTown(tanks: readonly FleetTank[], clusters: readonly Cluster[]): NamedPlace[] {
  return tanks.flatMap(({ tank: { name, location } }) => {
    const { city, latitude, longitude } = location;
    if (city !== null || latitude === null || longitude === null) return [];
    const hasMark = clusters.some((cluster) => isAt(location, cluster));
    return hasMark ? [{ name, latitude: latitude * UNITS, longitude: longitude * UNITS }] : [];
  });
}

function boxOf(x: number, y: number, width: number, anchor: Label["anchor"]): Box {
  const left = anchor === "start" ? x : anchor === "end" ? x - width : x - width / 2;
  return { left, right: left + width, top: y - HEIGHT + 3, bottom: y + 3 };
}

const overlap = (a: Box, b: Box): boolean => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
