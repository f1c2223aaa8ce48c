// The chart by touch: a tap points at a time, two fingers zoom, one moves what is zoomed, a double tap shows the whole range. Vertical
// swipes scroll the page.

import type { Span } from "./ranges.ts";

const TAP_PX = 10;
const DOUBLE_TAP_MS = 350;
const DOUBLE_TAP_PX = 40;

type Touchable = {
  readonly span: () => Span;
  readonly isZoomed: () => boolean;
  /** `before` and `after` are places of the fingers, as parts of the width; `factor`: how many times as far apart they are as before. */
  readonly spanAfterTouch: (span: Span, factor: number, before: number, after: number) => Span;
  /** While fingers move; undefined: they did not mean the chart. */
  readonly preview: (span: Span | undefined) => void;
  readonly zoomTo: (span: Span) => void;
  readonly showWholeRange: () => void;
  /** In pixels, from the element's left and top. */
  readonly pointAt: (x: number, y: number) => void;
};

function fingersIn({ targetTouches }: TouchEvent) {
  const places = [...targetTouches].slice(0, 2).map(({ clientX, clientY }) => [clientX, clientY] as const);
  const [[x1, y1] = [0, 0], [x2, y2] = [x1, y1]] = places;
  return { count: places.length, x: (x1 + x2) / 2, y: (y1 + y2) / 2, distance: Math.max(1, Math.hypot(x1 - x2, y1 - y2)) };
}
const distanceOf = (a: { x: number; y: number }, b: { x: number; y: number }): number => Math.hypot(a.x - b.x, a.y - b.y);

/** As long as there is the element. It needs `touch-action: pan-y`. */
export function followTouch(element: HTMLElement, chart: Touchable): void {
  /** Where the fingers were when one was put down or lifted, and what was shown then. */
  let start = { count: 0, x: 0, y: 0, distance: 1, span: chart.span() };
  let span: Span | undefined;
  let isTap = false;
  let isScroll = false;
  let lastTap = { x: 0, y: 0, at: Number.NEGATIVE_INFINITY };

  const begin = (event: TouchEvent) => {
    start = { ...fingersIn(event), span: span ?? chart.span() };
    isTap = event.type === "touchstart" && start.count === 1;
    isScroll &&= !isTap;
    // Two fingers never scroll the page; one does, unless it moves sideways.
    if (start.count > 1 && event.cancelable) event.preventDefault();
  };
  const move = (event: TouchEvent) => {
    const fingers = fingersIn(event);
    if (isScroll || (isTap && distanceOf(fingers, start) <= TAP_PX)) return;
    isScroll = isTap && Math.abs(fingers.y - start.y) > Math.abs(fingers.x - start.x);
    isTap = false;
    if (isScroll) return;
    if (fingers.count === 1 && span === undefined && !chart.isZoomed()) return;
    const { left, width } = element.getBoundingClientRect();
    const place = (x: number): number => (x - left) / width;
    span = chart.spanAfterTouch(start.span, fingers.distance / start.distance, place(start.x), place(fingers.x));
    chart.preview(span);
    if (fingers.count > 1 && event.cancelable) event.preventDefault();
  };
  const end = (event: TouchEvent) => {
    if (event.targetTouches.length > 0) return begin(event);
    if (span !== undefined) chart.zoomTo(span);
    else if (isTap) {
      // The mouse events that follow a tap would point at nothing again.
      if (event.cancelable) event.preventDefault();
      tap({ x: start.x, y: start.y, at: event.timeStamp });
    }
    span = undefined;
  };
  const tap = (current: typeof lastTap) => {
    const isSecond = current.at - lastTap.at < DOUBLE_TAP_MS && distanceOf(current, lastTap) < DOUBLE_TAP_PX;
    lastTap = isSecond ? { ...current, at: Number.NEGATIVE_INFINITY } : current;
    const { left, top } = element.getBoundingClientRect();
    chart.pointAt(current.x - left, current.y - top);
    if (isSecond) chart.showWholeRange();
  };
  const cancel = ({ pointerType }: PointerEvent) => {
    if (pointerType !== "touch") return;
    isScroll = true;
    isTap = false;
    span = undefined;
    chart.preview(undefined);
  };
  element.addEventListener("touchstart", begin, { passive: false });
  element.addEventListener("touchmove", move, { passive: false });
  element.addEventListener("touchend", end);
  // When the page begins to scroll, also where events of touch go on.
  element.addEventListener("pointercancel", cancel);
}
