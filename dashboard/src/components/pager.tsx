// The position in a list, with links to the pages before and after. The page is in the URL.

import { whole } from "../format.ts";
import { href, withQuery } from "../location.ts";
import { Icon } from "./icon.tsx";
import { Empty } from "./states.tsx";

type List = { readonly page: number; readonly size: number; readonly total_pages: number; readonly total_items: number };

export function Pager({ list }: { readonly list: List }) {
  const { page, size, total_pages, total_items } = list;
  if (total_items === 0) return null;
  const first = (page - 1) * size + 1;
  const last = Math.min(page * size, total_items);
  return (
    <nav class="pager" aria-label="Pages">
      <p>{first > total_items ? `None of ${whole(total_items)}` : `${whole(first)}–${whole(last)} of ${whole(total_items)}`}</p>
      <p class="pager-buttons">
        <PageLink to={Math.min(page - 1, total_pages)} last={total_pages} label="Previous" />
        <PageLink to={page + 1} last={total_pages} label="Next" />
      </p>
    </nav>
  );
}

/** Instead of the objects of a page that does not exist any more, because there are fewer now. */
export const EmptyPage = ({ list: { total_pages } }: { readonly list: List }) => (
  <Empty title="Nothing on this page any more">
    <p>
      <a href={href(withQuery({ page: total_pages === 1 ? undefined : String(total_pages) }))}>Show the last page</a>
    </p>
  </Empty>
);

/** To a page that does not exist it is disabled, and keeps the focus that it has. */
function PageLink({ to, last, label }: { readonly to: number; readonly last: number; readonly label: string }) {
  const icon = <Icon name={label === "Next" ? "right" : "left"} />;
  const content = label === "Next" ? [label, icon] : [icon, label];
  const isDisabled = to < 1 || to > last;
  return (
    <a
      class="button"
      href={isDisabled ? undefined : href(withQuery({ page: to === 1 ? undefined : String(to) }))}
      role={isDisabled ? "link" : undefined}
      tabIndex={isDisabled ? -1 : undefined}
      aria-disabled={isDisabled}
      onClick={scrollToList}
    >
      {content}
    </a>
  );
}

/** After the link was followed here, which keeps where the page was for Back; not if it opens in another tab. */
function scrollToList(event: MouseEvent): void {
  const list = (event.currentTarget as Element).closest(".pager")?.parentElement;
  setTimeout(() => event.defaultPrevented && list?.scrollIntoView());
}
