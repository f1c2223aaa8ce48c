// A labelled input of a form.

import { type ComponentChildren, h } from "preact";
import { useId } from "preact/hooks";

type Props = {
  readonly label: string;
  readonly help?: ComponentChildren;
  /** Shown below the input, and read out with it. */
  readonly error?: string | undefined;
  readonly name: string;
  readonly type?: "text" | "email" | "number" | "tel" | "url" | "time" | "date";
  readonly min?: number | string;
  readonly max?: number;
  readonly step?: number | "any";
  readonly maxLength?: number;
  readonly required?: boolean;
  readonly placeholder?: string;
  readonly defaultValue?: string;
  readonly inputMode?: "numeric" | "text";
  readonly autoComplete?: string;
  readonly autoFocus?: boolean;
};

export function Field({ label, help, error, type = "text", ...input }: Props) {
  const id = useId();
  const described = [help === undefined ? "" : `${id}-help`, error === undefined ? "" : `${id}-error`].join(" ").trim();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {h("input", {
        ...{ ...input, type, id, class: "input", "aria-invalid": error === undefined ? undefined : true },
        "aria-describedby": described === "" ? undefined : described,
      })}
      {help === undefined ? null : (
        <p class="help" id={`${id}-help`}>
          {help}
        </p>
      )}
      {error === undefined ? null : (
        <p class="error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  );
}
