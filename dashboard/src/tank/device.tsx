// The device of a tank. Staff see whether its readings arrive.

import type { FleetTank, InspectedDevice } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { Badge } from "../components/badge.tsx";
import { NotLoaded } from "../components/states.tsx";
import { ago, counted, dateTime } from "../format.ts";
import { useLive } from "../live.ts";
import { devicePath, href } from "../location.ts";
import { may } from "../session.ts";

export function Device({ entry }: { readonly entry: FleetTank }) {
  const { tank, latest, silent } = entry;
  return (
    <section class="card" aria-labelledby="device">
      <div class="card-head">
        <h2 id="device">Device</h2>
        {silent ? <Badge text="Silent" icon="silent" tone="silent" /> : null}
        {latest !== null && !silent ? <Badge text="Sending" icon="check" tone="ok" /> : null}
        {may("dispatcher") ? <a href={href(devicePath(tank.assigned_device_id))}>Set up</a> : null}
      </div>
      <dl class="facts">
        <dt>Id</dt>
        <dd>
          <code>{tank.assigned_device_id}</code>
        </dd>
        <dt>Last reading</dt>
        <dd>{latest === null ? "never" : `${ago(latest.created_at)} (${dateTime(latest.created_at)})`}</dd>
        {may("viewer") ? <Details id={tank.assigned_device_id} /> : null}
      </dl>
    </section>
  );
}

function Details({ id }: { readonly id: string }) {
  const { data, error, refresh } = useLive(`device ${id}`, (signal) => api.manage.devices.retrieve(id, { signal }));
  if (data === undefined) return <NotLoaded live={{ error, refresh }} />;
  return (
    <>
      <dt>Sends</dt>
      <dd>{sent(data)}</dd>
      {data.pending === 0 ? null : <Pending device={data} />}
      {data.dropped === 0 ? null : (
        <>
          <dt>Dropped</dt>
          <dd>{counted(data.dropped, "reading")}</dd>
        </>
      )}
    </>
  );
}

function sent({ profile, newest_pending }: InspectedDevice): string {
  if (profile !== null) return "payloads, interpreted by its profile";
  return newest_pending === null || newest_pending.payload === null ? "fill percentages" : "payloads, which need a profile";
}

function Pending({ device: { pending, pending_reason } }: { readonly device: InspectedDevice }) {
  return (
    <>
      <dt>Pending</dt>
      <dd>
        {counted(pending, "reading")}
        {pending_reason === null ? "" : `: ${pending_reason}`}
      </dd>
    </>
  );
}
