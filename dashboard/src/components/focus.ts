// Where the keyboard goes on after a dialog if the button that opened it is gone.

import type { OpenDialog } from "./dialog.tsx";

/** It may still be in a dialog that was closed with Enter, and is about to be removed. */
export function isFocusLost(): boolean {
  const focused = document.activeElement;
  return focused === null || focused === document.body || focused.closest("dialog:not([open])") !== null;
}

/**
 * Opens a dialog of a row. If the focus is lost when it closes, it goes to what is in the place of the row then; else to the first
 * button of the card, or to the heading.
 */
export const withFocus =
  (open: OpenDialog): OpenDialog =>
  (render) => {
    const row = document.activeElement?.closest("tr, li") ?? undefined;
    const list = row?.parentElement ?? undefined;
    if (row === undefined || list === undefined) return open(render);
    const card = row.closest("section");
    const index = [...list.children].indexOf(row);
    const moveFocus = () => {
      if (!isFocusLost()) return;
      const next = list.children[Math.min(index, list.children.length - 1)];
      const places = [next?.querySelector<HTMLElement>("a, button"), card?.querySelector("button")];
      (places.find((place) => place?.isConnected) ?? document.querySelector("h1"))?.focus();
    };
    open((close) =>
      render(() => {
        close();
        moveFocus();
      }),
    );
  };
