// A form with one input: an address, or a code.

import { useEffect, useRef, useState } from "preact/hooks";
import { messageOf } from "../components/error-message.ts";
import { Field } from "../components/field.tsx";

type Props = {
  readonly label: string;
  readonly action: string;
  /** Shown until there is an error, which it may contradict. */
  readonly help?: string;
  readonly isCode?: boolean;
  /** What the input contains at first. */
  readonly value?: string | undefined;
  /** Why the person has to try again. */
  readonly problem?: string | undefined;
  /** May throw: the form then shows why. */
  readonly submit: (value: string) => Promise<void>;
};

export function SingleFieldForm({ label, action, help, isCode = false, value = "", problem, submit }: Props) {
  const [error, setError] = useState(problem);
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const focus = () => form.current?.querySelector("input")?.focus();
  // Browsers heed autofocus only while the page is loaded.
  useEffect(focus, []);
  const onSubmit = async (event: SubmitEvent) => {
    event.preventDefault();
    const typed = String(new FormData(event.currentTarget as HTMLFormElement).get("value")).trim();
    setBusy(true);
    setError(undefined);
    await submit(typed).catch((reason) => {
      setError(messageOf(reason));
      focus();
    });
    setBusy(false);
  };
  return (
    <form class="form" ref={form} onSubmit={onSubmit}>
      {isCode ? (
        <Field label={label} name="value" required inputMode="numeric" autoComplete="one-time-code" maxLength={32} />
      ) : (
        <Field
          label={label}
          name="value"
          type="email"
          required
          autoComplete="email"
          maxLength={254}
          help={error === undefined ? help : undefined}
          defaultValue={value}
        />
      )}
      {error === undefined ? null : (
        <p class="error-text" role="alert">
          {error}
        </p>
      )}
      <button class="button primary" type="submit" disabled={isBusy}>
        {isBusy ? "Please wait…" : action}
      </button>
    </form>
  );
}
