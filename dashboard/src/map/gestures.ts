// Moves a view by mouse, touch, wheel and keyboard.

import { useEffect, useRef } from "preact/hooks";
import { limited, type Size, type View, zoomed } from "./projection.ts";

/** Up to here a press is a click. */
const CLICK_PX = 5;
const KEY_PX = 80;
export const STEP = 1.6;

type Moves = {
  readonly element: { readonly current: HTMLElement | null };
  readonly view: View | undefined;
  readonly size: Size;
  readonly setView: (view: View) => void;
  readonly showAll: () => void;
};

/** Whether the press that ends now has moved the map: then it is no click. */
export function useGestures({ element, view, size, setView, showAll }: Moves): () => boolean {
  const now = useRef({ view, size, setView, showAll });
  now.current = { view, size, setView, showAll };
  const pressed = useRef(new Map<number, readonly [number, number]>());
  const moved = useRef(0);
  useEffect(() => {
    const target = element.current;
    if (target === null) return;
    const placeOf = (event: MouseEvent): readonly [number, number] => {
      const { left, top } = target.getBoundingClientRect();
      return [event.clientX - left, event.clientY - top];
    };
    const change = (by: (view: View, size: Size) => View) => {
      const { view: current, size: of, setView: set } = now.current;
      if (current === undefined) return;
      const next = by(current, of);
      now.current = { ...now.current, view: next };
      set(next);
    };
    const onDown = (event: PointerEvent) => {
      if (event.button !== 0) return;
      if (pressed.current.size === 0) moved.current = 0;
      pressed.current.set(event.pointerId, placeOf(event));
    };
    const onMove = (event: PointerEvent) => {
      const before = pressed.current.get(event.pointerId);
      if (before === undefined) return;
      if (event.buttons === 0) {
        // Released outside of the map.
        pressed.current.delete(event.pointerId);
        return;
      }
      const place = placeOf(event);
      const [other] = [...pressed.current].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
      pressed.current.set(event.pointerId, place);
      moved.current += Math.hypot(place[0] - before[0], place[1] - before[1]);
      if (moved.current <= CLICK_PX) return;
      // Only now, so that a click reaches the mark that was pressed.
      if (!target.hasPointerCapture(event.pointerId)) target.setPointerCapture(event.pointerId);
      if (other === undefined) {
        change((from, of) => panned(from, of, before[0] - place[0], before[1] - place[1]));
      } else {
        const middle = [(place[0] + other[0]) / 2, (place[1] + other[1]) / 2] as const;
        const factor = distance(place, other) / Math.max(1, distance(before, other));
        change((from, of) =>
          zoomed(panned(from, of, (before[0] - place[0]) / 2, (before[1] - place[1]) / 2), of, factor, middle),
        );
      }
    };
    const onUp = (event: PointerEvent) => pressed.current.delete(event.pointerId);
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 20 : 1;
      const factor = Math.exp(-Math.max(-200, Math.min(200, event.deltaY * unit)) / 350);
      change((from, of) => zoomed(from, of, factor, placeOf(event)));
    };
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const action = KEYS[event.key];
      if (event.key === "0") now.current.showAll();
      else if (action !== undefined) change(action);
      else return;
      event.preventDefault();
    };
    target.addEventListener("pointerdown", onDown);
    target.addEventListener("pointermove", onMove);
    target.addEventListener("pointerup", onUp);
    target.addEventListener("pointercancel", onUp);
    // Not passive: the page does not scroll.
    target.addEventListener("wheel", onWheel, { passive: false });
    target.addEventListener("keydown", onKey);
    return () => {
      target.removeEventListener("pointerdown", onDown);
      target.removeEventListener("pointermove", onMove);
      target.removeEventListener("pointerup", onUp);
      target.removeEventListener("pointercancel", onUp);
      target.removeEventListener("wheel", onWheel);
      target.removeEventListener("keydown", onKey);
    };
  }, [element.current]);
  return () => moved.current > CLICK_PX;
}

const panned = (view: View, size: Size, dx: number, dy: number): View =>
  limited({ ...view, x: view.x + dx / view.scale, y: view.y + dy / view.scale }, size);

const distance = (a: readonly [number, number], b: readonly [number, number]): number => Math.hypot(a[0] - b[0], a[1] - b[1]);

export const zoomBy = (view: View, size: Size, factor: number): View =>
  zoomed(view, size, factor, [size.width / 2, size.height / 2]);

const KEYS: Readonly<Record<string, (view: View, size: Size) => View>> = {
  ArrowLeft: (view, size) => panned(view, size, -KEY_PX, 0),
  ArrowRight: (view, size) => panned(view, size, KEY_PX, 0),
  ArrowUp: (view, size) => panned(view, size, 0, -KEY_PX),
  ArrowDown: (view, size) => panned(view, size, 0, KEY_PX),
  "+": (view, size) => zoomBy(view, size, STEP),
  "=": (view, size) => zoomBy(view, size, STEP),
  "-": (view, size) => zoomBy(view, size, 1 / STEP),
};
