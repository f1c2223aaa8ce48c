// Who changed the tank, and what.

import type { AuditEntry } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { fieldChanges } from "../components/field-changes.ts";
import { actorOf, useNames } from "../components/names.ts";
import { dateTime } from "../format.ts";
import { useLive } from "../live.ts";
import { LatestCard } from "./latest-card.tsx";

const SIZE = 5;

export function TankAudit({ tankId }: { readonly tankId: string }) {
  const live = useLive(`audit ${tankId}`, (signal) => api.manage.audit.list({ type: "tank", id: tankId, size: SIZE, signal }));
  const nameOf = useNames((live.data?.data ?? []).flatMap(({ by }) => actorOf(by)));
  const row = (entry: AuditEntry) => <AuditRow key={entry.number} entry={entry} by={nameOf(entry.by) ?? entry.by} />;
  return <LatestCard id="audit" title="Changes" live={live} row={row} />;
}

function AuditRow({ entry, by }: { readonly entry: AuditEntry; readonly by: string }) {
  // A creation changes every field, and the screen shows them anyway.
  const changes = entry.action === "changed" ? fieldChanges(entry) : [];
  return (
    <li>
      <span class="row-text">
        <span>
          {dateTime(entry.created_at)}: {entry.action} by{" "}
          <span dir="auto" title={entry.by}>
            {by}
          </span>
        </span>
        {changes.map(({ field, text }) => (
          <span class="dim" key={field} dir="auto">
            {field}: {text}
          </span>
        ))}
      </span>
    </li>
  );
}
