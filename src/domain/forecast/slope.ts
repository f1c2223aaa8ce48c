// The Theil–Sen slope: the median of the slopes of all pairs of points, so that a few wrong points cannot move it.

/** Points are compared with others of their segment only. */
type SlopePoint = { readonly x: number; readonly y: number; readonly segment: number };
/** A slope to expect, with a share of the weight of all pairs. */
type Prior = { readonly slope: number; readonly share: number };

/** The slope of points in order of x; NaN without pairs or a prior. By default all pairs have the same weight. */
export function theilSen<P extends SlopePoint>(
  points: readonly P[],
  weightOf: (from: P, to: P) => number = () => 1,
  prior?: Prior,
): number {
  const slopes: number[] = [];
  const weights: number[] = [];
  let total = 0;
  points.forEach((to, j) => {
    for (let i = j - 1; i >= 0; i--) {
      const from = points[i];
      if (from === undefined || from.segment !== to.segment) break;
      if (!(to.x > from.x)) continue;
      const weight = weightOf(from, to);
      slopes.push((to.y - from.y) / (to.x - from.x));
      weights.push(weight);
      total += weight;
    }
  });
  if (prior !== undefined) {
    slopes.push(prior.slope);
    weights.push(prior.share * total);
  }
  return weightedMedian(slopes, weights);
}

/**
 * The value with half of the weight on either side; the middle of two where it is exactly half. Reorders both lists: it
 * narrows the values down like quicksort, which takes a fraction of the time of sorting them.
 */
function weightedMedian(values: number[], weights: number[]): number {
  const half = weights.reduce((sum, weight) => sum + weight, 0) / 2;
  let below = 0;
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const pivot = values[(low + high) >>> 1] ?? Number.NaN;
    let [i, j] = [low, high];
    while (i <= j) {
      while ((values[i] ?? pivot) < pivot) i++;
      while ((values[j] ?? pivot) > pivot) j--;
      if (i > j) break;
      swap(values, i, j);
      swap(weights, i++, j--);
    }
    // Up to j: at most the pivot. From i: at least the pivot. One value may be between them: the pivot.
    const left = below + sum(weights, low, j);
    const middle = left + sum(weights, j + 1, i - 1);
    if (left === half) return (greatest(values, low, j) + (i > j + 1 ? pivot : least(values, i, high))) / 2;
    if (left > half) high = j;
    else if (middle > half) return pivot;
    else if (middle === half) return (pivot + least(values, i, high)) / 2;
    else [below, low] = [middle, i];
  }
  return values[low] ?? Number.NaN;
}

function swap(list: number[], i: number, j: number): void {
  const held = list[i] ?? 0;
  list[i] = list[j] ?? 0;
  list[j] = held;
}

function sum(list: readonly number[], from: number, to: number): number {
  let total = 0;
  for (let i = from; i <= to; i++) total += list[i] ?? 0;
  return total;
}

const greatest = (list: readonly number[], from: number, to: number): number => Math.max(...list.slice(from, to + 1));
const least = (list: readonly number[], from: number, to: number): number => Math.min(...list.slice(from, to + 1));
