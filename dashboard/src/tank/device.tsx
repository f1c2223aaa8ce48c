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
  const isSending = isFromCurrentDevice(entry) && !silent;
  return (
    <section class="card" aria-labelledby="device">
      <div class="card-head">
        <h2 id="device">Device</h2>
        {silent ? <Badge text="Silent" icon="silent" tone="silent" /> : null}
        {isSending ? <Badge text="Sending" icon="check" tone="ok" /> : null}
        {may("dispatcher") ? <a href={href(devicePath(tank.assigned_device_id))}>Set up</a> : null}
      </div>
      <dl class="facts">
        <dt>Id</dt>
        <dd>
          <code>{tank.assigned_device_id}</code>
        </dd>
        <dt>Last reading of the tank</dt>
        <dd>{latest === null ? "never" : `${ago(latest.created_at)} (${dateTime(latest.created_at)})`}</dd>
        {may("viewer") ? <Details entry={entry} /> : null}
      </dl>
    </section>
  );
}

/** For certain: the device was not replaced after the latest reading, because the tank was not changed. */
const isFromCurrentDevice = ({ tank, latest }: FleetTank): boolean =>
  latest !== null && Date.parse(latest.created_at) >= Date.parse(tank.updated_at);

function Details({ entry }: { readonly entry: FleetTank }) {
  const id = entry.tank.assigned_device_id;
  const { data, error, refresh } = useLive(`device ${id}`, (signal) => api.manage.devices.retrieve(id, { signal }));
  if (data === undefined) return <NotLoaded live={{ error, refresh }} />;
  const sends = sent(data, entry);
  return (
    <>
      {sends === undefined ? null : (
        <>
          <dt>Sends</dt>
          <dd>{sends}</dd>
        </>
      )}
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

/** Undefined: that is not known, as after the device was replaced by one that was assigned to no other tank before. */
function sent({ since, profile, newest_pending }: InspectedDevice, entry: FleetTank): string | undefined {
  const { latest } = entry;
  const isOlder = latest === null || (since !== null && Date.parse(latest.created_at) < Date.parse(since));
  if (newest_pending === null && isOlder) return "Nothing received from this device yet";
  if (profile !== null) return "payloads, interpreted by its profile";
  if (newest_pending !== null) return newest_pending.payload === null ? "fill percentages" : "payloads, which need a profile";
  return isFromCurrentDevice(entry) ? "fill percentages" : undefined;
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
