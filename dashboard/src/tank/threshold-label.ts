// Where the chart has the word for its threshold: beside that line, where it hides no levels.

import type uPlot from "uplot";

type Place = { readonly left: number; readonly top: number };
type Size = { readonly width: number; readonly height: number };

/** Places along the line: the first is best. */
const PLACES = 20;
const MARGIN_PX = 4;
const SAMPLE_PX = 3;
/** What is drawn together, by the numbers of the series: bands and lines. */
const DRAWN = [[1, 2], [3], [4, 5], [6]] as const;

/** In pixels of the canvas, as `y` of the line and the size of the label are. `isFree`: nothing is below it. */
export function labelPlace(plot: uPlot, y: number, { width, height }: Size): Place & { readonly isFree: boolean } {
  const { bbox } = plot;
  const margin = MARGIN_PX * devicePixelRatio;
  const tops = [y - margin - height, y + margin].filter((top) => top >= bbox.top && top + height <= bbox.top + bbox.height);
  const places = tops.flatMap((top) =>
    Array.from({ length: PLACES }, (_, index) => ({
      left: bbox.left + margin + (index / (PLACES - 1)) * (bbox.width - width - 2 * margin),
      top,
    })),
  );
  const free = places.find(({ left, top }) =>
    isFree(plot, { left: left - margin, top: top - margin, width: width + 2 * margin, height: height + 2 * margin }),
  );
  return { ...(free ?? places[0] ?? { left: bbox.left + margin, top: bbox.top }), isFree: free !== undefined };
}

function isFree(plot: uPlot, { left, top, width, height }: Place & Size): boolean {
  const count = Math.ceil(width / (SAMPLE_PX * devicePixelRatio));
  const xs = Array.from({ length: count + 1 }, (_, index) => left + (index * width) / count);
  return DRAWN.every((together) => {
    const levels = xs.map((x) => together.flatMap((series) => levelAt(plot, series, plot.posToVal(x, "x", true))));
    // Also what is drawn from one to the next, such as a refill.
    return levels.every((here, index) => {
      const ys = [...here, ...(levels[index + 1] ?? [])].map((level) => plot.valToPos(level, "y", true));
      return ys.length === 0 || Math.max(...ys) < top || Math.min(...ys) > top + height;
    });
  });
}

/** Between two rows, the line from one to the other. Nothing is drawn after the last of them. */
function levelAt(plot: uPlot, number: number, time: number): readonly number[] {
  const [times, ...series] = plot.data;
  const closest = plot.valToIdx(time);
  const after = (times[closest] ?? 0) >= time ? closest : closest + 1;
  const values = series[number - 1] ?? [];
  const [from, to] = [values[after - 1], values[after]];
  if (after <= 0 || to == null) return [];
  if (from == null) return [to];
  const [start = 0, end = 0] = [times[after - 1], times[after]];
  return [from + ((to - from) * (time - start)) / (end - start)];
}
