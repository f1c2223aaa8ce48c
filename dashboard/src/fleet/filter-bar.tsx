// Search and order. Other filters, which links set, are shown as chips that remove them.

import { keepFocus } from "../components/focus.ts";
import { Icon } from "../components/icon.tsx";
import { SearchField } from "../components/search-field.tsx";
import { href, navigate, query, withQuery } from "../location.ts";
import { isCustomer } from "../session.ts";

const ORDERS = [
  ["", "Most urgent first"],
  ["margin", "Smallest margin first"],
  ["silent", "Longest silent first"],
] as const;

const CHIPS = [
  ["state", "State"],
  ["silent_for", "Silent for"],
  ["owner_id", "Customer"],
  ["city", "City"],
  ["bbox", "Area"],
] as const;

export function FilterBar() {
  return (
    <search class="toolbar">
      <SearchField
        label="Search tanks"
        placeholder={isCustomer() ? "Tank, device, city" : "Tank, customer, phone, device, city"}
      />
      <select
        class="input order"
        aria-label="Order"
        value={query.value.get("sort") ?? ""}
        onChange={({ currentTarget }) => navigate(withQuery({ sort: currentTarget.value, page: undefined }))}
      >
        {ORDERS.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      {CHIPS.map(([name, label]) => (
        <Chip key={name} name={name} label={label} />
      ))}
    </search>
  );
}

function Chip({ name, label }: { readonly name: string; readonly label: string }) {
  const value = query.value.get(name);
  return value === null ? null : (
    <a class="chip" href={href(withQuery({ [name]: undefined, page: undefined }))} onClick={keepFocusInBar}>
      <span class="cut">
        {label}: <bdi>{name === "bbox" ? areaInWords(value) : value}</bdi>
      </span>
      <Icon name="close" />
      <span class="hidden">remove this filter</span>
    </a>
  );
}

/** On another chip, or else on the order: in the search field, a phone would open its keyboard. */
function keepFocusInBar({ currentTarget }: MouseEvent): void {
  const bar = (currentTarget as Element).closest(".toolbar");
  keepFocus(() => bar?.querySelector<HTMLElement>(".chip") ?? bar?.querySelector<HTMLElement>(".order"));
}

/** Four numbers tell nobody anything; the map sets them. */
const areaInWords = (bbox: string): string => (bbox === "none" ? "without coordinates" : "in the map’s view");
