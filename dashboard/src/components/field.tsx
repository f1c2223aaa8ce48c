// Labelled inputs of a form, each with its help and its error.

import { type ComponentChildren, createContext, h } from "preact";
import { useContext, useId } from "preact/hooks";
import { decimalError } from "./form.ts";

/** Errors of the form around the fields, keyed by field name. Each is shown below its input, and read out with it. */
export const FieldErrors = createContext<Readonly<Record<string, string>>>({});

type Labels = {
  readonly label: string;
  readonly help?: ComponentChildren;
  readonly name: string;
};

type Props = Labels & {
  readonly type?: "text" | "email" | "number" | "tel" | "url" | "time" | "date" | "search";
  readonly min?: number | string;
  readonly max?: number | string;
  readonly step?: number | "any";
  readonly maxLength?: number;
  readonly required?: boolean;
  readonly placeholder?: string;
  readonly defaultValue?: string;
  readonly inputMode?: "numeric" | "decimal" | "text";
  readonly autoComplete?: string;
  readonly autoFocus?: boolean;
  readonly spellcheck?: boolean;
  readonly dir?: "auto" | "ltr";
  readonly onInput?: (event: { readonly currentTarget: HTMLInputElement }) => void;
};

export const Field = ({ label, help, type = "text", ...input }: Props) => (
  <Labelled {...{ label, help, name: input.name }}>{(props) => h("input", { ...input, ...props, type })}</Labelled>
);

type DecimalProps = Omit<Props, "type" | "inputMode" | "onInput"> & {
  /** Usually a thousand or more: 2.700 is rejected, because 2700 may be meant. */
  readonly isLarge?: boolean;
};

/** A number, also with a decimal comma, which inputs of the type number drop in some languages. `decimalIn` reads it. */
export const DecimalField = ({ isLarge = false, ...props }: DecimalProps) => (
  <Field
    autoComplete="off"
    {...props}
    inputMode="decimal"
    onInput={({ currentTarget }) => currentTarget.setCustomValidity(decimalError(currentTarget.value.trim(), isLarge))}
  />
);

type SelectProps = Labels & {
  /** Value and label of each. */
  readonly options: readonly (readonly [string, string])[];
  readonly defaultValue?: string;
  readonly onChange?: (value: string) => void;
};

export const SelectField = ({ label, help, name, options, defaultValue, onChange }: SelectProps) => (
  <Labelled {...{ label, help, name }}>
    {(props) => (
      <select {...props} name={name} onChange={({ currentTarget }) => onChange?.(currentTarget.value)}>
        {options.map(([value, text]) => (
          <option key={value} value={value} selected={value === defaultValue}>
            {text}
          </option>
        ))}
      </select>
    )}
  </Labelled>
);

type CheckProps = {
  readonly name: string;
  readonly value?: string;
  readonly defaultChecked?: boolean;
  readonly required?: boolean;
  readonly children: ComponentChildren;
};

export const Checkbox = ({ children, ...input }: CheckProps) => (
  <label class="check">
    <input {...input} type="checkbox" />
    <span>{children}</span>
  </label>
);

type InputProps = {
  readonly id: string;
  readonly class: string;
  readonly "aria-invalid": true | undefined;
  readonly "aria-describedby": string | undefined;
};

function Labelled({ label, help, name, children }: Labels & { readonly children: (props: InputProps) => ComponentChildren }) {
  const id = useId();
  const error = useContext(FieldErrors)[name];
  const described = [help === undefined ? "" : `${id}-help`, error === undefined ? "" : `${id}-error`].join(" ").trim();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        class: "input",
        "aria-invalid": error === undefined ? undefined : true,
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
