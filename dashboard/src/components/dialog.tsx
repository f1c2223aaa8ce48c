// A dialog with a form. The browser keeps the focus in it, and closes it with Escape; what was typed is discarded by the second
// Escape only. Errors of the API about a field of the form are shown at that field.

import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { ApiError, type Me } from "../../../client/src/index.ts";
import { guardHistory, href } from "../location.ts";
import { me, otherAccount } from "../me.ts";
import { isSignedOut, ROLE_NAMES, redirectToSignIn, sessionEndedInDialog } from "../session.ts";
import { Button } from "./button.tsx";
import { messageOf } from "./error-message.ts";
import { FieldErrors } from "./field.tsx";
import { DialogNotices, notify } from "./notices.tsx";

type Props = {
  readonly title: string;
  /** Label of the button that submits the form. */
  readonly action: string;
  /** May throw: the dialog then shows why, and stays open. The signal is aborted when the dialog is closed meanwhile. */
  readonly submit: (form: FormData, signal: AbortSignal) => Promise<void> | void;
  readonly close: () => void;
  readonly isDangerous?: boolean;
  readonly children?: ComponentChildren;
};

type Problem = { readonly message?: string; readonly fields: Readonly<Record<string, string>> };
const NO_PROBLEM: Problem = { fields: {} };
/** On phones, Back closes a dialog as Escape does. */
const NOT_SAVED = "What you typed is not saved. Press Escape or Back once more to discard it.";
/** A field with an error, or the first one of a group with an error. */
const INVALID = "[aria-invalid], fieldset:has(> .error) input";

export function Dialog({ title, action, submit, close, isDangerous = false, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [isBusy, setBusy] = useState(false);
  const [closed] = useState(() => new AbortController());
  useEffect(() => {
    dialog.current?.showModal();
    return () => closed.abort();
  }, []);
  const { problem, setProblem, message } = useProblem(dialog);
  const { isTyped, mayLeave } = useUnsaved(() => setProblem({ message: NOT_SAVED, fields: {} }));
  // The browser gives the focus back to where it was, which it does not if the dialog is only removed.
  const end = () => dialog.current?.close();
  const onSubmit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const { signal } = closed;
    setBusy(true);
    setProblem(NO_PROBLEM);
    try {
      await submit(new FormData(form), signal);
      isTyped.current = false;
      end();
    } catch (reason) {
      if (isSignedOut(reason)) redirectToSignIn();
      if (signal.aborted && reason !== signal.reason) notify({ text: messageOf(reason), icon: "alert" });
      setProblem(problemOf(reason, form));
      setBusy(false);
    }
  };
  return (
    <dialog
      class="dialog"
      ref={dialog}
      onClose={close}
      onCancel={(event) => mayLeave() || event.preventDefault()}
      aria-labelledby={id}
    >
      <h2 class="clamp" id={id} dir="auto" title={title}>
        {title}
      </h2>
      <form
        class="form"
        onSubmit={onSubmit}
        onInput={() => {
          isTyped.current = true;
        }}
      >
        <FieldErrors.Provider value={problem.fields}>{children}</FieldErrors.Provider>
        {problem.message === undefined ? null : (
          <p class="error-text" role="alert" ref={message}>
            {problem.message}
          </p>
        )}
        <div class="dialog-buttons">
          <SessionNotice />
          <Button onClick={end}>Cancel</Button>
          <button
            class={isDangerous ? "button danger" : "button primary"}
            type="submit"
            disabled={isBusy || otherAccount.value !== undefined}
          >
            {isBusy ? "Please wait…" : action}
          </button>
        </div>
      </form>
      <DialogNotices />
    </dialog>
  );
}

/** Why the form was not submitted. The field with the error gets the focus; without one, the message is scrolled into view. */
function useProblem(dialog: RefObject<HTMLDialogElement | null>) {
  const message = useRef<HTMLParagraphElement>(null);
  const [problem, setProblem] = useState(NO_PROBLEM);
  useEffect(() => {
    const invalid = dialog.current?.querySelector<HTMLElement>(INVALID);
    if (invalid != null) invalid.focus();
    else message.current?.scrollIntoView({ block: "center" });
  }, [problem]);
  return { problem, setProblem, message };
}

/** Whoever leaves the form, or the page, is warned first if something was typed that is not saved. */
function useUnsaved(warn: () => void) {
  /** Since the form was opened, or since the last warning. */
  const isTyped = useRef(false);
  const mayLeave = (): boolean => {
    if (!isTyped.current) return true;
    isTyped.current = false;
    warn();
    return false;
  };
  useEffect(() => {
    const onUnload = (event: BeforeUnloadEvent) => isTyped.current && event.preventDefault();
    addEventListener("beforeunload", onUnload);
    const endGuard = guardHistory(mayLeave);
    return () => {
      removeEventListener("beforeunload", onUnload);
      endGuard();
    };
  }, []);
  return { isTyped, mayLeave };
}

/** What no field of the form can show is in the message. */
function problemOf(reason: unknown, form: HTMLFormElement): Problem {
  if (!(reason instanceof ApiError) || reason.errors.length === 0) return { message: messageOf(reason), fields: {} };
  const isShown = (field: string) => field !== "" && form.elements.namedItem(field) !== null;
  const fields = Object.fromEntries(
    reason.errors.filter(({ field }) => isShown(field)).map(({ field, message }) => [field, message]),
  );
  const others = reason.errors.filter(({ field }) => !isShown(field)).map(({ field, message }) => `${field} ${message}`.trim());
  return { message: others.length === 0 ? "Some fields are not valid." : others.join(" "), fields };
}

type InfoProps = {
  readonly title: string;
  readonly close: () => void;
  readonly onOpen?: () => void;
  /** Beside the one that closes it. */
  readonly buttons?: ComponentChildren;
  readonly children: ComponentChildren;
};

/** A dialog without a form. */
export function InfoDialog({ title, close, onOpen, buttons, children }: InfoProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    dialog.current?.showModal();
    onOpen?.();
  }, []);
  return (
    <dialog class="dialog" ref={dialog} onClose={close} aria-labelledby={id}>
      <h2 class="clamp" id={id} dir="auto" title={title}>
        {title}
      </h2>
      <div class="form">
        {children}
        <div class="dialog-buttons">
          <SessionNotice />
          {buttons}
          <Button onClick={() => dialog.current?.close()} look="primary">
            Done
          </Button>
        </div>
      </div>
      <DialogNotices />
    </dialog>
  );
}

const personOf = ({ name, role }: Me): string => `${name} (${ROLE_NAMES[role] ?? role})`;

function SessionNotice() {
  const [mine, other] = [me.value, otherAccount.value];
  if (mine !== undefined && other !== undefined) {
    return (
      <div class="warning" role="alert">
        <p>
          This browser is now signed in as <bdi>{personOf(other)}</bdi>. Nothing can be saved here as <bdi>{personOf(mine)}</bdi>{" "}
          any more.
        </p>
        <Button onClick={() => globalThis.location.reload()}>Load the page again</Button>
      </div>
    );
  }
  if (!sessionEndedInDialog.value) return null;
  return (
    <p class="warning" role="alert">
      Your session has ended. What you see here stays until you close it.{" "}
      <a href={href("/sign-in")} target="_blank" rel="noreferrer">
        Sign in in another tab
      </a>{" "}
      as <bdi>{mine?.name}</bdi>, to continue.
    </p>
  );
}

type SecretProps = {
  readonly title: string;
  /** null: the service does not show it again after the first response was lost. */
  readonly value: string | null;
  /** What to do without it. */
  readonly ifLost?: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
};

/** What was created and is shown once, such as the secret of a key. */
export function SecretDialog({ title, value, ifLost, close, children }: SecretProps) {
  const input = useRef<HTMLInputElement>(null);
  const [isCopied, setCopied] = useState<boolean>();
  if (value === null) {
    return (
      <InfoDialog title={title} close={close}>
        <p class="warning">The connection was interrupted, and the secret was lost with the response. {ifLost}</p>
      </InfoDialog>
    );
  }
  const select = () => input.current?.select();
  const copy = async () => {
    select();
    setCopied(await copied(value));
  };
  const button = <Button onClick={copy}>{isCopied === true ? "Copied" : "Copy"}</Button>;
  return (
    <InfoDialog title={title} close={close} onOpen={select} buttons={button}>
      <div>{children}</div>
      <input ref={input} class="input secret" readOnly value={value} aria-label={title} />
      {isCopied === false ? <p role="status">Selected: press Ctrl+C to copy it.</p> : null}
    </InfoDialog>
  );
}

/** Whether it was copied. Browsers have a clipboard on secure pages only; on others they may copy what is selected. */
async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return document.execCommand("copy");
  }
}

type Render = (close: () => void) => ComponentChildren;
export type OpenDialog = (render: Render) => void;

/** Counts the dialogs of all screens, so that a late close event never closes another one. */
let opened = 0;

/** The dialog of a screen: `open` shows one, `shown` goes into the screen. */
export function useDialog(): { readonly open: OpenDialog; readonly shown: ComponentChildren } {
  const [state, setState] = useState<{ readonly render: Render; readonly number: number }>();
  const close = (number: number) => () => setState((current) => (current?.number === number ? undefined : current));
  const open = (render: Render) => {
    opened += 1;
    setState({ render, number: opened });
  };
  const shown =
    state === undefined ? null : (
      <Shown key={state.number} close={close(state.number)}>
        {state.render(close(state.number))}
      </Shown>
    );
  return { open, shown };
}

/** A dialog that is removed with what it is about, such as a deleted tank, does not open again when that is restored. */
function Shown({ close, children }: { readonly close: () => void; readonly children: ComponentChildren }) {
  useEffect(() => close, []);
  return <div>{children}</div>;
}
