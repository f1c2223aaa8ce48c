// Filters in the URL: a choice, and chips for those that links set.

import { href, navigate, withQuery } from "../location.ts";
import { keepFocus } from "./focus.ts";
import { Icon } from "./icon.tsx";

/** `name`: the parameter of the URL, which an empty value removes. */
type SelectProps = {
  readonly name: string;
  readonly label: string;
  readonly value: string | null | undefined;
  readonly options: readonly (readonly [value: string, label: string])[];
};

export const FilterSelect = ({ name, label, value: selected, options }: SelectProps) => (
  <select
    class="input order"
    aria-label={label}
    value={selected ?? ""}
    onChange={({ currentTarget }) => navigate(withQuery({ [name]: currentTarget.value, page: undefined }))}
  >
    {options.map(([value, text]) => (
      <option key={value} value={value}>
        {text}
      </option>
    ))}
  </select>
);

type ChipProps = { readonly name: string; readonly label: string; readonly value: string };

/** Shows a filter, and removes it. */
export const Chip = ({ name, label, value }: ChipProps) => (
  <a class="chip" href={href(withQuery({ [name]: undefined, page: undefined }))} onClick={keepFocusInBar}>
    <span class="cut">
      {label}: <bdi>{value}</bdi>
    </span>
    <Icon name="close" />
    <span class="hidden">remove this filter</span>
  </a>
);

/** On another chip, or else on the choice: in the search field, a phone would open its keyboard. */
function keepFocusInBar({ currentTarget }: MouseEvent): void {
  const bar = (currentTarget as Element).closest(".toolbar");
  keepFocus(() => bar?.querySelector<HTMLElement>(".chip") ?? bar?.querySelector<HTMLElement>(".order"));
}
