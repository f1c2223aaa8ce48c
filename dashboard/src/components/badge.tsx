// A state as a word with an icon.

import type { FleetTank } from "../../../client/src/index.ts";
import { ALERT_KINDS, type Tone } from "./alert-kinds.tsx";
import { Icon, type IconName } from "./icon.tsx";

type Props = { readonly text: string; readonly icon: IconName; readonly tone?: Tone; readonly title?: string };

export function Badge({ text, icon, tone, title }: Props) {
  return (
    <span class={tone === undefined ? "badge" : `badge tone-${tone}`} title={title}>
      <Icon name={icon} />
      {text}
    </span>
  );
}

/** An alert that somebody has acknowledged has a check mark. */
export function AlertBadge({ alert }: { readonly alert: FleetTank["alerts"][number] }) {
  const { label, icon, tone } = ALERT_KINDS[alert.kind];
  const isAcknowledged = alert.state === "acknowledged";
  return (
    <Badge
      text={label}
      icon={isAcknowledged ? "check" : icon}
      tone={tone}
      title={isAcknowledged ? "Acknowledged" : "Nobody has acknowledged it"}
    />
  );
}
