// Who changed the tank, and what.

import type { AuditEntry } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { actorOf, useNames } from "../components/names.ts";
import { dateTime } from "../format.ts";
import { useLive } from "../live.ts";
import { LatestCard } from "./latest-card.tsx";

const SIZE = 5;
const MAX_LENGTH = 60;

export function TankAudit({ tankId }: { readonly tankId: string }) {
  const live = useLive(`audit ${tankId}`, (signal) => api.manage.audit.list({ type: "tank", id: tankId, size: SIZE, signal }));
  const nameOf = useNames((live.data?.data ?? []).flatMap(({ by }) => actorOf(by)));
  const row = (entry: AuditEntry) => <AuditRow key={entry.number} entry={entry} by={nameOf(entry.by) ?? entry.by} />;
  return <LatestCard id="audit" title="Changes" live={live} row={row} />;
}

function AuditRow({ entry, by }: { readonly entry: AuditEntry; readonly by: string }) {
  return (
    <li>
      <span class="row-text">
        <span>
          {dateTime(entry.created_at)}: {entry.action} by{" "}
          <span dir="auto" title={entry.by}>
            {by}
          </span>
        </span>
        {changesOf(entry).map((change) => (
          <span class="dim" key={change} dir="auto">
            {change}
          </span>
        ))}
      </span>
    </li>
  );
}

/** A creation changes every field, and the screen shows them anyway: returns none. */
function changesOf({ action, changes }: AuditEntry): string[] {
  if (action !== "changed") return [];
  return Object.entries(changes).map(([field, change]) => {
    const { from, to } = (change ?? {}) as { readonly from?: unknown; readonly to?: unknown };
    return `${field}: ${shortened(from)} → ${shortened(to)}`;
  });
}

function shortened(value: unknown): string {
  const text = value === null || value === undefined ? "–" : typeof value === "string" ? value : JSON.stringify(value);
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH).toWellFormed()}…` : text;
}
