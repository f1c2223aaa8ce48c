// Tanks that are close to each other on the screen, together as one mark.

import type { FleetMap } from "../../../client/src/index.ts";
import { type Bounds, xOf, yOf } from "./projection.ts";

/** The most urgent first, as in the response. */
export const STATES = ["low", "leak", "soon", "silent", "unknown", "ok"] as const;
export type State = (typeof STATES)[number];

export type Points = { readonly x: Float64Array; readonly y: Float64Array; readonly state: Uint8Array };

const UNITS = 10_000;

export function pointsOf({ positions }: FleetMap): Points {
  const total = STATES.reduce((sum, state) => sum + positions[state].length / 2, 0);
  const points = { x: new Float64Array(total), y: new Float64Array(total), state: new Uint8Array(total) };
  let index = 0;
  for (const [number, state] of STATES.entries()) {
    const given = positions[state];
    for (let at = 0; at + 1 < given.length; at += 2) {
      points.x[index] = xOf((given[at + 1] ?? 0) / UNITS);
      points.y[index] = yOf((given[at] ?? 0) / UNITS);
      points.state[index++] = number;
    }
  }
  return points;
}

export type Cluster = {
  /** In the middle of its tanks. */
  x: number;
  y: number;
  count: number;
  /** The number of the most urgent state among them. */
  worst: number;
  readonly bounds: { west: number; north: number; east: number; south: number };
};

/** Pixels: of the cells in which tanks are collected, and below which two cells become one mark. */
const CELL = 56;
const TOUCHING = 38;

/** `scale`: pixels per unit of the world. Cells do not move with the view, so that marks stay the same while it does. */
export function clustersOf({ x, y, state }: Points, scale: number, { west, north, east, south }: Bounds): Cluster[] {
  const size = CELL / scale;
  const columns = 2 ** 26;
  const cells = new Map<number, Cluster>();
  for (let i = 0; i < x.length; i++) {
    const [px = 0, py = 0, number = 0] = [x[i], y[i], state[i]];
    if (px < west || px > east || py < north || py > south) continue;
    const key = Math.floor(py / size) * columns + Math.floor(px / size);
    const cell = cells.get(key);
    if (cell === undefined) {
      cells.set(key, { x: px, y: py, count: 1, worst: number, bounds: { west: px, north: py, east: px, south: py } });
    } else add(cell, px, py, 1, number, { west: px, north: py, east: px, south: py });
  }
  return joined(cells, columns, TOUCHING / scale);
}

function add(to: Cluster, x: number, y: number, count: number, worst: number, bounds: Bounds): void {
  const total = to.count + count;
  to.x += ((x - to.x) * count) / total;
  to.y += ((y - to.y) * count) / total;
  to.count = total;
  to.worst = Math.min(to.worst, worst);
  to.bounds.west = Math.min(to.bounds.west, bounds.west);
  to.bounds.north = Math.min(to.bounds.north, bounds.north);
  to.bounds.east = Math.max(to.bounds.east, bounds.east);
  to.bounds.south = Math.max(to.bounds.south, bounds.south);
}

/** Neighbours whose marks would touch; the larger takes the smaller. */
function joined(cells: Map<number, Cluster>, columns: number, distance: number): Cluster[] {
  const bySize = [...cells].sort(([, a], [, b]) => b.count - a.count);
  for (const [key, cell] of bySize) {
    if (cells.get(key) !== cell) continue;
    for (const step of [-columns - 1, -columns, -columns + 1, -1, 1, columns - 1, columns, columns + 1]) {
      const other = cells.get(key + step);
      if (other === undefined || other === cell || other.count > cell.count) continue;
      if (Math.hypot(other.x - cell.x, other.y - cell.y) >= distance) continue;
      add(cell, other.x, other.y, other.count, other.worst, other.bounds);
      cells.delete(key + step);
    }
  }
  return [...cells.values()];
}

/** How many tanks of each state are within bounds, in the order of the states. */
export function countsIn({ x, y, state }: Points, { west, north, east, south }: Bounds): number[] {
  const counts = STATES.map(() => 0);
  for (let i = 0; i < x.length; i++) {
    const [px = 0, py = 0, number = 0] = [x[i], y[i], state[i]];
    if (px >= west && px <= east && py >= north && py <= south) counts[number] = (counts[number] ?? 0) + 1;
  }
  return counts;
}

/** The bounds of all tanks; undefined if there are none. */
export function extentOf({ x, y }: Points): Bounds | undefined {
  if (x.length === 0) return undefined;
  const bounds = { west: Infinity, north: Infinity, east: -Infinity, south: -Infinity };
  for (let i = 0; i < x.length; i++) {
    const [px = 0, py = 0] = [x[i], y[i]];
    bounds.west = Math.min(bounds.west, px);
    bounds.east = Math.max(bounds.east, px);
    bounds.north = Math.min(bounds.north, py);
    bounds.south = Math.max(bounds.south, py);
  }
  return bounds;
}
