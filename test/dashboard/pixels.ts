// What is drawn on the chart of a tank: pixels of a colour.

import type { Page } from "playwright-core";

/** Custom properties of the stylesheet. */
type Colour = "fill" | "low" | "ok" | "dim";

type Part = {
  /** For a chart whose span is in the URL. */
  readonly times?: readonly number[];
  readonly levels?: readonly [bottom: number, top: number];
  /** Of the colour. Without it, pixels of lines are counted. */
  readonly opacity?: number;
};

/** How many pixels have the colour in a part of the plot. */
export function countPixels(page: Page, colour: Colour, { times, levels = [0, 100], opacity }: Part = {}): Promise<number> {
  const { searchParams } = new URL(page.url());
  const [from = 0, to = 0] = ["from", "to"].map((name) => Date.parse(searchParams.get(name) ?? ""));
  const [left = 0, right = 1] = (times ?? []).map((at) => (at - from) / (to - from));
  const [bottom, top] = levels.map((level) => 1 - level / 100);
  const [least, most] = opacity === undefined ? [100, 255] : [255 * opacity - 3, 255 * opacity + 3];
  return page.evaluate(`(() => {
    const canvas = document.querySelector(".chart canvas");
    const probe = document.body.appendChild(document.createElement("span"));
    probe.style.color = "var(--${colour})";
    const wanted = getComputedStyle(probe).color.match(/\\d+/g).map(Number);
    probe.remove();
    const frame = canvas.getBoundingClientRect();
    const plot = document.querySelector(".u-over").getBoundingClientRect();
    const x = (part) => Math.round(plot.left - frame.left + part * plot.width);
    const y = (part) => Math.round(plot.top - frame.top + part * plot.height);
    const size = [x(${right}) - x(${left}), y(${bottom}) - y(${top})];
    const { data } = canvas.getContext("2d").getImageData(x(${left}), y(${top}), ...size);
    let count = 0;
    for (let at = 0; at < data.length; at += 4) {
      const hasOpacity = data[at + 3] >= ${least} && data[at + 3] <= ${most};
      // Colours of pixels that are nearly transparent are not exact.
      if (hasOpacity && wanted.every((part, index) => Math.abs(data[at + index] - part) <= 5)) count += 1;
    }
    return count;
  })()`);
}
