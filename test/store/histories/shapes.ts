// How large a history is. Telemetry has a rank index above 160 readings, a second level above about 16,500 and a third
// above about 1,060,000; lists have their first above 256 entries.

export type Shape = {
  readonly commands: number;
  /** What it begins with: so many readings of one tank, customers and tanks, many of them on one list. */
  readonly readings: number;
  readonly customers: number;
  readonly tanks: number;
  /** The most that one later command brings. */
  readonly bulk: number;
};

const SHAPES = {
  quick: { commands: 60, readings: 40_000, customers: 4500, tanks: 600, bulk: 300 },
  small: { commands: 600, readings: 150, customers: 250, tanks: 250, bulk: 300 },
  medium: { commands: 500, readings: 40_000, customers: 17_000, tanks: 5000, bulk: 2000 },
  large: { commands: 40, readings: 1_150_000, customers: 70_000, tanks: 300, bulk: 5000 },
} as const satisfies Record<string, Shape>;

type ShapeName = keyof typeof SHAPES;

/** `482913-medium-7` */
export const seedOf = (base: number, shape: ShapeName, number: number): string => `${base}-${shape}-${number}`;

export function shapeOf(seed: string): Shape {
  const name = seed.split("-")[1] ?? "";
  if (!Object.hasOwn(SHAPES, name)) throw new Error(`a seed is a number, a shape and a number, such as 1-small-0, not ${seed}`);
  return SHAPES[name as ShapeName];
}
