// A button that does something at once. If that fails, a notice says why.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { messageOf } from "./error-message.ts";
import { notify } from "./notices.tsx";

type Props = {
  readonly act: () => Promise<void>;
  /** Which object, for screen readers, where several buttons have the same text. */
  readonly of?: string;
  readonly look?: "quiet" | "primary" | "danger";
  readonly children: ComponentChildren;
};

export function ActionButton({ act, of, look, children }: Props) {
  const [isBusy, setBusy] = useState(false);
  const onClick = async () => {
    if (isBusy) return;
    setBusy(true);
    await act().catch((error) => notify({ text: messageOf(error), icon: "alert" }));
    setBusy(false);
  };
  return (
    <button
      class={look === undefined ? "button" : `button ${look}`}
      type="button"
      // Not disabled, which would take the focus away.
      aria-disabled={isBusy}
      onClick={onClick}
    >
      {children}
      {of === undefined ? null : <span class="hidden"> {of}</span>}
    </button>
  );
}
