// A state as a word with an icon.

import type { Alert } from "../../../client/src/index.ts";
import { ALERT_KINDS, ALERT_STATES, type Tone } from "./alert-kinds.tsx";
import { Icon, type IconName } from "./icon.tsx";

type Props = {
  readonly text: string;
  readonly icon: IconName;
  readonly tone?: Tone;
  readonly title?: string;
  /** What the icon means, for screen readers. */
  readonly detail?: string | undefined;
};

export function Badge({ text, icon, tone, title, detail }: Props) {
  return (
    <span class={tone === undefined ? "badge" : `badge tone-${tone}`} title={title}>
      <Icon name={icon} />
      {text}
      {detail === undefined ? null : <span class="hidden">, {detail}</span>}
    </span>
  );
}

export const LowBadge = () => <Badge text="Low" icon="low" tone="low" title="Without an alert" />;

/** An alert that somebody has acknowledged has a check mark; one that is closed has no colour either. */
export function AlertBadge({ alert: { kind, state } }: { readonly alert: Pick<Alert, "kind" | "state"> }) {
  const { label, icon, tone } = ALERT_KINDS[kind];
  const color = state === "closed" ? {} : { tone };
  const mark = state === "open" ? { icon } : ({ icon: "check", detail: state } as const);
  return <Badge text={label} title={ALERT_STATES[state]} {...mark} {...color} />;
}
