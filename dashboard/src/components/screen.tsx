// What every screen begins with: the heading, which is also the title of the tab, and buttons beside it.

import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { openAlerts } from "../events.tsx";
import { dateTime, now } from "../format.ts";

type Props = {
  readonly title: string;
  /** Beside the title. */
  readonly actions?: ComponentChildren;
  /** Below the title. */
  readonly summary?: ComponentChildren;
  readonly children: ComponentChildren;
};

export function Screen({ title, actions, summary, children }: Props) {
  useTitle(title);
  return (
    <>
      <div class="head">
        <div class="head-text">
          <h1 class="clamp" tabIndex={-1} dir="auto" title={title}>
            {title}
          </h1>
          {summary === undefined ? null : <p class="dim">{summary}</p>}
          <PrintedAt />
        </div>
        {actions === undefined ? null : <div class="actions">{actions}</div>}
      </div>
      {children}
    </>
  );
}

const PrintedAt = () => <p class="on-paper dim">Printed {dateTime(now.value)}</p>;

/** Adds the number of open alerts, which is seen while another tab is in front. */
function useTitle(title: string): void {
  const count = openAlerts.value;
  useEffect(() => {
    document.title = `${count === 0 ? "" : `(${count}) `}${title} · Tank Monitor`;
  }, [title, count]);
}
