// Search and order. Other filters, which links of other screens set, are shown as chips that remove them.

import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../components/icon.tsx";
import { href, navigate, query, withQuery } from "../location.ts";

const TYPING_MS = 300;

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
  const input = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const search = query.value.get("search") ?? "";
  // The URL changes by links, too; not while the person types.
  useEffect(() => {
    if (input.current !== null && input.current.value.trim() !== search) input.current.value = search;
  }, [search]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const apply = () => {
    clearTimeout(timer.current);
    const text = input.current?.value.trim() ?? "";
    if (text !== (query.value.get("search") ?? "")) navigate(withQuery({ search: text, page: undefined }), { replace: true });
  };
  return (
    <search class="toolbar">
      <form
        class="search"
        onSubmit={(event) => {
          event.preventDefault();
          apply();
        }}
      >
        <Icon name="search" />
        <input
          ref={input}
          class="input"
          id="search"
          type="search"
          aria-label="Search tanks"
          placeholder="Tank, customer, phone, device, city"
          autocomplete="off"
          maxLength={128}
          defaultValue={search}
          onInput={() => {
            clearTimeout(timer.current);
            timer.current = setTimeout(apply, TYPING_MS);
          }}
        />
      </form>
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
    <a class="chip" href={href(withQuery({ [name]: undefined, page: undefined }))}>
      <span class="cut">
        {label}: <bdi>{value}</bdi>
      </span>
      <Icon name="close" />
      <span class="hidden">remove this filter</span>
    </a>
  );
}
