// How many tanks need somebody, by kind of alert. Each is a link that shows these tanks only, or all again.

import { ALERT_KINDS, type AlertKind } from "../components/alert-kinds.tsx";
import { Icon } from "../components/icon.tsx";
import { alertCounts } from "../events.tsx";
import { whole } from "../format.ts";
import { href, query, withQuery } from "../location.ts";

const SHOWN: readonly AlertKind[] = ["low", "runs_low_soon", "silent", "leak"];

export function Counters() {
  const selected = query.value.get("alert");
  return (
    <nav aria-label="Tanks with alerts">
      <ul class="counters">
        {SHOWN.map((kind) => (
          <li key={kind}>
            <Counter kind={kind} isSelected={kind === selected} />
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Counter({ kind, isSelected }: { readonly kind: AlertKind; readonly isSelected: boolean }) {
  const { label, icon, tone } = ALERT_KINDS[kind];
  const counts = alertCounts.value;
  const count = counts === undefined ? undefined : counts.open[kind] + counts.acknowledged[kind];
  const open = counts?.open[kind];
  return (
    <a
      class={`counter tone-${tone}`}
      href={href(withQuery({ alert: isSelected ? undefined : kind, page: undefined }))}
      aria-current={isSelected ? "true" : undefined}
    >
      <span class="counter-label">
        <Icon name={icon} />
        {label}
      </span>
      <span class={count === 0 ? "counter-number none" : "counter-number"}>{count === undefined ? null : whole(count)}</span>
      <span class="counter-note dim">{open === undefined ? "…" : open === 0 ? "none open" : `${whole(open)} open`}</span>
    </a>
  );
}
