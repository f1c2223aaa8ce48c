// Positions on the map: Mercator, the world as a square with sides of `WORLD`. A view has its centre there, and a scale.

/** Small enough for the single precision of SVG at the greatest scale. */
export const WORLD = 1024;
const MAX_LATITUDE = 85;
export const MAX_SCALE = 4096;
const MAX_FITTED_SCALE = 256;
/** Tanks of one town, about 12 km in Europe, are shown in their country: at a greater scale there are no borders in view. */
const ONE_TOWN = 0.5;
const COUNTRY_SCALE = 16;

export type Size = { readonly width: number; readonly height: number };
export type View = { readonly x: number; readonly y: number; readonly scale: number };
/** In units of the world. */
export type Bounds = { readonly west: number; readonly north: number; readonly east: number; readonly south: number };

export const xOf = (longitude: number): number => ((longitude + 180) / 360) * WORLD;

export function yOf(latitude: number): number {
  const phi = (Math.max(-MAX_LATITUDE, Math.min(MAX_LATITUDE, latitude)) * Math.PI) / 180;
  return (0.5 - Math.log(Math.tan(Math.PI / 4 + phi / 2)) / (2 * Math.PI)) * WORLD;
}

export const longitudeOf = (x: number): number => (x / WORLD) * 360 - 180;

export const latitudeOf = (y: number): number =>
  ((2 * Math.atan(Math.exp((0.5 - y / WORLD) * 2 * Math.PI)) - Math.PI / 2) * 180) / Math.PI;

export const WHOLE_WORLD: Bounds = { west: 0, north: yOf(75), east: WORLD, south: yOf(-58) };

/** What is outside of the world is not shown, as far as that is possible. */
export function limited({ x, y, scale }: View, { width, height }: Size): View {
  const least = Math.min(width / WORLD, height / (WHOLE_WORLD.south - WHOLE_WORLD.north));
  const within = Math.max(least, Math.min(MAX_SCALE, scale));
  const clamp = (value: number, half: number) => (half >= WORLD / 2 ? WORLD / 2 : Math.max(half, Math.min(WORLD - half, value)));
  return { x: clamp(x, width / within / 2), y: clamp(y, height / within / 2), scale: within };
}

/** The view of all tanks. */
export function overview(all: Bounds, size: Size): View {
  const view = fitted(all, size);
  const isOneTown = Math.max(all.east - all.west, all.south - all.north) < ONE_TOWN;
  return isOneTown ? limited({ ...view, scale: Math.min(view.scale, COUNTRY_SCALE) }, size) : view;
}

export function fitted({ west, north, east, south }: Bounds, size: Size, margin = 48): View {
  const [width, height] = [Math.max(1, size.width - 2 * margin), Math.max(1, size.height - 2 * margin)];
  const scale = Math.min(width / Math.max(east - west, 1e-9), height / Math.max(south - north, 1e-9), MAX_FITTED_SCALE);
  return limited({ x: (west + east) / 2, y: (north + south) / 2, scale }, size);
}

/** `at`: the place on the screen that stays where it is. */
export function zoomed(view: View, size: Size, factor: number, at: readonly [number, number]): View {
  const [dx, dy] = [at[0] - size.width / 2, at[1] - size.height / 2];
  const scale = limited({ ...view, scale: view.scale * factor }, size).scale;
  return limited({ x: view.x + dx / view.scale - dx / scale, y: view.y + dy / view.scale - dy / scale, scale }, size);
}

export function boundsOf({ x, y, scale }: View, { width, height }: Size): Bounds {
  const [halfWidth, halfHeight] = [width / scale / 2, height / scale / 2];
  return { west: x - halfWidth, north: y - halfHeight, east: x + halfWidth, south: y + halfHeight };
}

/** The view and its surroundings, at a scale near that of the view; the same while the view moves a little. */
export function surroundings({ x, y }: View, { width, height }: Size, scale: number): Bounds {
  const [column, row] = [Math.floor((x * scale) / width), Math.floor((y * scale) / height)];
  const [unitX, unitY] = [width / scale, height / scale];
  return { west: (column - 1) * unitX, north: (row - 1) * unitY, east: (column + 2) * unitX, south: (row + 2) * unitY };
}

const UNITS = 10_000;

/** As the fleet's filter takes it: rounded outward, so that a tank on the edge is in it. */
export function bboxOf({ west, north, east, south }: Bounds): string {
  const down = (degrees: number, least: number) => Math.max(least, Math.floor(degrees * UNITS) / UNITS);
  const up = (degrees: number, most: number) => Math.min(most, Math.ceil(degrees * UNITS) / UNITS);
  // The map ends before the poles; the fleet may not.
  const bottom = south >= WORLD ? -90 : down(latitudeOf(south), -90);
  const top = north <= 0 ? 90 : up(latitudeOf(north), 90);
  return [down(longitudeOf(west), -180), bottom, up(longitudeOf(east), 180), top].map(String).join(",");
}
