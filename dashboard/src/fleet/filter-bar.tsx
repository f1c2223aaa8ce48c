// Search and order. Other filters, which links set, are shown as chips that remove them.

import type { FleetTank } from "../../../client/src/index.ts";
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

type Props = { readonly entries: readonly FleetTank[] };

/** `entries`: what is shown so far, for the name of a customer. */
export function FilterBar({ entries }: Props) {
  return (
    <search class="toolbar">
      <SearchField
        label="Search tanks"
        placeholder={isCustomer() ? "Tank, device, city" : "Tank, customer, phone, device, city"}
      />
      <FilterSelect name="sort" label="Order" value={query.value.get("sort")} options={ORDERS} />
      {CHIPS.map(([name, label]) => {
        const value = query.value.get(name);
        return value === null ? null : <Chip key={name} name={name} label={label} value={inWords(name, value, entries)} />;
      })}
    </search>
  );
}

function inWords(name: string, value: string, entries: Props["entries"]): string {
  if (name === "bbox") return areaInWords(value);
  if (name !== "owner_id") return value;
  return entries.find(({ customer }) => customer.id === value)?.customer.name ?? value;
}

/** Four numbers tell nobody anything; the map sets them. */
const areaInWords = (bbox: string): string => (bbox === "none" ? "without coordinates" : "in the map’s view");
