// A button that does something at once. If that fails, a notice says why; a button that can do nothing says so beside it.

import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { messageOf } from "./error-message.ts";
import { notify } from "./notices.tsx";

type Props = {
  readonly act: () => Promise<void>;
  readonly disabledBecause?: string | undefined;
  /** Which object, for screen readers, where several buttons have the same text. */
  readonly of?: string;
  readonly look?: "quiet" | "primary" | "danger";
  readonly children: ComponentChildren;
};

export function ActionButton({ act, disabledBecause, of, look, children }: Props) {
  const [isBusy, setBusy] = useState(false);
  const id = useId();
  const onClick = async () => {
    if (isBusy) return;
    setBusy(true);
    await act().catch((error) => notify({ text: messageOf(error), icon: "alert" }));
    setBusy(false);
  };
  return (
    <>
      <button
        class={look === undefined ? "button" : `button ${look}`}
        type="button"
        disabled={disabledBecause !== undefined}
        // Not disabled, which would take the focus away.
        aria-disabled={isBusy}
        aria-describedby={disabledBecause === undefined ? undefined : id}
        onClick={onClick}
      >
        {children}
        {of === undefined ? null : <span class="hidden"> {of}</span>}
      </button>
      {disabledBecause === undefined ? null : (
        <span class="dim disabled-why" id={id}>
          {disabledBecause}
        </span>
      )}
    </>
  );
}
