// A button that says what it does; one of a row also says for which object.

import type { ComponentProps } from "preact";

export type ButtonProps = Omit<ComponentProps<"button">, "class" | "type"> & {
  /** Which object, for screen readers, where several buttons have the same text. */
  readonly of?: string;
  readonly look?: "quiet" | "primary" | "danger";
};

export const Button = ({ of, look, children, ...rest }: ButtonProps) => (
  <button class={look === undefined ? "button" : `button ${look}`} type="button" {...rest}>
    {children}
    {of === undefined ? null : <span class="hidden"> {of}</span>}
  </button>
);
