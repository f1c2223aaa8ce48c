// The Theil–Sen slope: the median of the slopes of all pairs of points, so that a few wrong points cannot move it.

/** Points are compared with others of their segment only. */
type SlopePoint = { readonly x: number; readonly y: number; readonly segment: number };

/** The slope of points in order of x; NaN without pairs. */
export function theilSen(points: readonly SlopePoint[]): number {
  const slopes: number[] = [];
  points.forEach((to, j) => {
    for (let i = j - 1; i >= 0; i--) {
      const from = points[i];
      if (from === undefined || from.segment !== to.segment) break;
      if (to.x > from.x) slopes.push((to.y - from.y) / (to.x - from.x));
    }
  });
  const sorted = Float64Array.from(slopes).sort();
  const middle = sorted.length >>> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 0 ? ((sorted[middle - 1] ?? Number.NaN) + upper) / 2 : upper;
}
