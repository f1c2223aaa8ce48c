// Search and order. Other filters, which links set, are shown as chips that remove them.

import { Chip, FilterSelect } from "../components/filters.tsx";
import { SearchField } from "../components/search-field.tsx";
import { query } from "../location.ts";
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
      <FilterSelect name="sort" label="Order" value={query.value.get("sort")} options={ORDERS} />
      {CHIPS.map(([name, label]) => {
        const value = query.value.get(name);
        return value === null ? null : (
          <Chip key={name} name={name} label={label} value={name === "bbox" ? areaInWords(value) : value} />
        );
      })}
    </search>
  );
}

/** Four numbers tell nobody anything; the map sets them. */
const areaInWords = (bbox: string): string => (bbox === "none" ? "without coordinates" : "in the map’s view");
