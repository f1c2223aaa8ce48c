// A list of objects: one a row, on a phone one a card, with the pages below; or what is shown instead of it.

import type { ComponentChildren } from "preact";
import type { Live } from "../live.ts";
import { href, query, withQuery } from "../location.ts";
import { EmptyPage, Pager } from "./pager.tsx";
import { Loading, NotLoaded, RefreshError } from "./states.tsx";

export type Page<T> = {
  readonly data: readonly T[];
  readonly page: number;
  readonly size: number;
  readonly total_pages: number;
  readonly total_items: number;
};

export type Column<T> = {
  readonly label: string;
  readonly cell: (item: T) => ComponentChildren;
  readonly look?: "number" | "buttons" | "title";
};

type Props<T> = {
  /** What is listed, for screen readers. */
  readonly label: string;
  readonly live: Live<Page<T>>;
  readonly columns: readonly Column<T>[];
  readonly idOf: (item: T) => string;
  /** Shown if there are none: what to do next. */
  readonly empty: ComponentChildren;
};

export function ObjectList<T>({ live, empty, ...table }: Props<T>) {
  const { data, isCurrent } = live;
  if (data === undefined) return <NotLoaded live={live} />;
  // What another tab or search has not found says nothing about this one.
  const emptyOrLoading = isCurrent ? empty : <Loading />;
  const items = data.data.length === 0 ? <EmptyPage list={data} /> : <ObjectTable items={data.data} {...table} />;
  return (
    <div class={isCurrent ? "list" : "list waiting"} aria-busy={!isCurrent}>
      <RefreshError live={live} />
      {data.total_items === 0 ? emptyOrLoading : items}
      {data.total_pages > 1 || data.page > 1 ? <Pager list={data} /> : null}
    </div>
  );
}

type TableProps<T> = Pick<Props<T>, "label" | "columns" | "idOf"> & { readonly items: readonly T[] };

/** With roles, because on a phone the rows are shown as cards, and browsers would then see no table. */
function ObjectTable<T>({ label, columns, idOf, items }: TableProps<T>) {
  return (
    <div class="table-box">
      <table class="table cards" role="table" aria-label={label}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ label: name, look }) => (
              <th key={name} class={look} role="columnheader" scope="col">
                {look === "buttons" ? <span class="hidden">{name}</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {items.map((item) => (
            <tr key={idOf(item)} role="row">
              {columns.map(({ label: name, cell, look }) => (
                <td key={name} class={look} role="cell" data-label={name}>
                  <div class={look === "buttons" ? "actions" : undefined}>{cell(item)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export const pageInUrl = (): number => Math.max(1, Math.floor(Number(query.value.get("page"))) || 1);

/** Views of a screen, by a parameter of the URL. `options`: value and label; the first is shown if none is given. */
type TabsProps = { readonly label: string; readonly name: string; readonly options: readonly (readonly [string, string])[] };

export function Tabs({ label, name, options }: TabsProps) {
  const [first] = options;
  const current = tabInUrl(name, options);
  return (
    <nav aria-label={label}>
      <ul class="tabs">
        {options.map(([value, text]) => (
          <li key={value}>
            <a
              class="tab"
              href={href(withQuery({ [name]: value === first?.[0] ? undefined : value, page: undefined }))}
              aria-current={value === current ? "page" : undefined}
            >
              {text}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** A value that is not known is ignored: a link of another version shows the first. */
export function tabInUrl(name: string, options: TabsProps["options"]): string {
  const given = query.value.get(name);
  return (options.find(([value]) => value === given) ?? options[0])?.[0] ?? "";
}
