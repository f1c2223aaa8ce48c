// The tanks in view, the most urgent first: also for those who cannot see or use the map.

import type { FleetList } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { AlertBadge } from "../components/badge.tsx";
import { FillBar } from "../components/fill-bar.tsx";
import { NotLoaded } from "../components/states.tsx";
import { counted, place } from "../format.ts";
import { type Live, useLive } from "../live.ts";
import { href, tankPath } from "../location.ts";
import { may } from "../session.ts";

const SIZE = 25;

/** `bbox`: undefined before the first view. */
export const useTanksInView = (bbox: string | undefined): TanksInView =>
  useLive(`in view ${bbox}`, async (signal) =>
    bbox === undefined ? undefined : api.insight.fleet.list({ bbox, size: SIZE, signal }),
  );

type TanksInView = Live<FleetList | undefined>;

export function InView({ bbox, live: { data, error, refresh } }: { readonly bbox: string; readonly live: TanksInView }) {
  return (
    <section class="card in-view" aria-labelledby="in-view">
      <div class="card-head">
        <h2 id="in-view">In view</h2>
        {data === undefined ? null : data.total_items === 0 ? (
          <span>No tanks</span>
        ) : (
          <a href={href(`/?bbox=${bbox}`)}>List {counted(data.total_items, "tank")}</a>
        )}
      </div>
      {data === undefined ? <NotLoaded live={{ error, refresh }} /> : null}
      {data?.total_items === 0 ? <p class="dim">Zoom out, or move the map.</p> : null}
      <ul class="rows">
        {data?.data.map((entry) => (
          <li key={entry.tank.id}>
            <span class="row-text">
              <a class="cut" href={href(tankPath(entry.tank.id))} dir="auto" title={entry.tank.name}>
                {entry.tank.name}
              </a>
              <span class="cut dim" dir="auto">
                {[may("viewer") ? entry.customer.name : "", place(entry.tank.location)].filter((part) => part !== "").join(", ")}
              </span>
            </span>
            <span class="in-view-level">
              <FillBar entry={entry} />
              <span class="badges">
                {entry.alerts.map((alert) => (
                  <AlertBadge key={alert.id} alert={alert} />
                ))}
              </span>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
