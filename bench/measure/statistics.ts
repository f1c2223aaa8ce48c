// The middle of what was seen, and how far it goes to either side.

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? Number.NaN;
  return below + (above - below) * (place - Math.floor(place));
}

export type Ratio = { readonly value: number; readonly spread: readonly [number, number] };

/** Round by round, so that what slows the machine down for a while slows both. */
export function ratioOf(over: readonly number[], under: readonly number[]): Ratio {
  const ratios = over.map((value, i) => value / (under[i] ?? Number.NaN));
  return { value: median(ratios), spread: [Math.min(...ratios), Math.max(...ratios)] };
}
