// A dialog with a form. The browser keeps the focus in it, and closes it with Escape.

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { messageOf } from "./states.tsx";

type Props = {
  readonly title: string;
  /** On the button that submits the form. */
  readonly action: string;
  /** May throw: the dialog then shows why, and stays open. */
  readonly submit: (form: FormData) => Promise<void> | void;
  readonly close: () => void;
  readonly isDangerous?: boolean;
  readonly children?: ComponentChildren;
};

export function Dialog({ title, action, submit, close, isDangerous = false, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const id = useId();
  useEffect(() => dialog.current?.showModal(), []);
  const onSubmit = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await submit(new FormData(event.currentTarget as HTMLFormElement));
      close();
    } catch (reason) {
      setError(messageOf(reason));
      setBusy(false);
    }
  };
  return (
    <dialog class="dialog" ref={dialog} onClose={close} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <form class="form" onSubmit={onSubmit}>
        {children}
        {error === undefined ? null : (
          <p class="error-text" role="alert">
            {error}
          </p>
        )}
        <div class="dialog-buttons">
          <button class="button" type="button" onClick={close}>
            Cancel
          </button>
          <button class={isDangerous ? "button danger" : "button primary"} type="submit" disabled={isBusy}>
            {isBusy ? "Please wait…" : action}
          </button>
        </div>
      </form>
    </dialog>
  );
}
