// Where the keyboard goes on if what had the focus is gone.

import type { OpenDialog } from "./dialog.tsx";

/** It may still be in a dialog that was closed with Enter, and is about to be removed. */
export function isFocusLost(): boolean {
  const focused = document.activeElement;
  return focused === null || focused === document.body || focused.closest("dialog:not([open])") !== null;
}

type Find = () => HTMLElement | null | undefined;

/** Once what has changed is shown: if the focus is lost then, it goes to what `find` finds, or to the heading. The page does not move. */
export function keepFocus(find: Find = () => undefined): void {
  setTimeout(() => {
    if (isFocusLost()) (find() ?? document.querySelector("h1"))?.focus({ preventScroll: true });
  });
}

/** Finds what is in the place of the row that has the focus now; else the first button of its card. */
export function placeOfRow(): Find {
  const row = document.activeElement?.closest("tr, li");
  const list = row?.parentElement;
  if (row == null || list == null) return () => undefined;
  const card = row.closest("section");
  const index = [...list.children].indexOf(row);
  return () => {
    const next = list.children[Math.min(index, list.children.length - 1)];
    const places = [next?.querySelector<HTMLElement>("a, button"), card?.querySelector("button")];
    return places.find((place) => place?.isConnected);
  };
}

/** Opens a dialog of a row, or of the screen, whose button may be gone when it closes. */
export const withFocus =
  (open: OpenDialog): OpenDialog =>
  (render) => {
    const find = placeOfRow();
    open((close) =>
      render(() => {
        close();
        keepFocus(find);
      }),
    );
  };
