// Who changed the tank, and what.

import type { AuditEntry } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { ErrorState, Loading } from "../components/states.tsx";
import { dateTime } from "../format.ts";
import { useLive } from "../live.ts";

const SIZE = 5;
const MAX_LENGTH = 60;

export function TankAudit({ tankId }: { readonly tankId: string }) {
  const { data, error, refresh } = useLive(`audit ${tankId}`, (signal) =>
    api.manage.audit.list({ type: "tank", id: tankId, size: SIZE, signal }),
  );
  return (
    <section class="card" aria-labelledby="audit">
      <div class="card-head">
        <h2 id="audit">Changes</h2>
        {data === undefined || data.total_items <= SIZE ? null : (
          <span class="dim">
            the latest {SIZE} of {data.total_items}
          </span>
        )}
      </div>
      {data === undefined ? error === undefined ? <Loading /> : <ErrorState error={error} retry={refresh} /> : null}
      {data?.total_items === 0 ? <p class="dim">None so far.</p> : null}
      <ul class="rows">
        {data?.data.map((entry) => (
          <li key={entry.number}>
            <span class="row-text">
              <span>
                {dateTime(entry.created_at)}: {entry.action} by <span dir="auto">{entry.by}</span>
              </span>
              {changesOf(entry).map((change) => (
                <span class="dim" key={change} dir="auto">
                  {change}
                </span>
              ))}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Of a creation, every field has changed: they are what the screen shows. */
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
