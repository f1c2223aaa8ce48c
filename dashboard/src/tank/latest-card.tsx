// A card with the latest of something, one a row.

import type { ComponentChildren } from "preact";
import { NotLoaded } from "../components/states.tsx";
import type { Live } from "../live.ts";

type Props<T> = {
  readonly id: string;
  readonly title: string;
  readonly live: Live<{ readonly data: readonly T[]; readonly size: number; readonly total_items: number }>;
  /** An element of a list. */
  readonly row: (item: T) => ComponentChildren;
  /** A button beside the title, and paragraphs below it. */
  readonly children?: ComponentChildren;
};

export function LatestCard<T>({ id, title, live: { data, error, refresh }, row, children }: Props<T>) {
  return (
    <section class="card" aria-labelledby={id}>
      <div class="card-head">
        <h2 id={id}>{title}</h2>
        {data === undefined || data.total_items <= data.size ? null : (
          <span class="dim">
            the latest {data.size} of {data.total_items}
          </span>
        )}
        {children}
      </div>
      {data === undefined ? <NotLoaded live={{ error, refresh }} /> : null}
      {data?.total_items === 0 ? <p class="dim">None so far.</p> : null}
      <ul class="rows">{data?.data.map(row)}</ul>
    </section>
  );
}
