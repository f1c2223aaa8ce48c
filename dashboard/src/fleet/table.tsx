// The tanks of one page, one a row; on a phone, one a card.

import type { FleetTank } from "../../../client/src/index.ts";
import type { Tone } from "../components/alert-kinds.tsx";
import { AlertBadge, Badge } from "../components/badge.tsx";
import { Icon } from "../components/icon.tsx";
import { Level } from "../components/level.tsx";
import { dateTime, duration, percent, place, volume, whole } from "../format.ts";
import { href, tankPath } from "../location.ts";

export function FleetTable({ entries }: { readonly entries: readonly FleetTank[] }) {
  return (
    <div class="table-box">
      <table class="table fleet">
        <thead>
          <tr>
            <th scope="col">Tank</th>
            <th scope="col">Customer</th>
            <th scope="col">Place</th>
            <th scope="col">Level</th>
            <th scope="col" class="number">
              Days left
            </th>
            <th scope="col" class="number">
              Use per day
            </th>
            <th scope="col" class="number">
              Room
            </th>
            <th scope="col">Last reading</th>
            <th scope="col">State</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <Row key={entry.tank.id} entry={entry} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ entry }: { readonly entry: FleetTank }) {
  const { tank, customer, latest, room } = entry;
  return (
    <tr>
      <td class="fleet-tank">
        <a class="cut" href={href(tankPath(tank.id))} dir="auto" title={tank.name}>
          {tank.name}
        </a>
      </td>
      <td class="fleet-customer">
        <span class="cut" dir="auto" title={customer.name}>
          {customer.name}
        </span>
      </td>
      <td class="fleet-place">
        <span class="cut" dir="auto" title={place(tank.location)}>
          {place(tank.location)}
        </span>
      </td>
      <td class="fleet-level">
        <Level fill={latest?.fill_percentage ?? null} threshold={tank.min_fill_alert_percentage} tone={toneOf(entry)} />
      </td>
      <td class="fleet-days number">
        <DaysLeft entry={entry} />
      </td>
      <td class="fleet-use number">
        <Use entry={entry} />
      </td>
      <td class="fleet-room number">{room === null ? <span class="dim">–</span> : volume(room)}</td>
      <td class="fleet-age">
        <Age entry={entry} />
      </td>
      <td class="fleet-state">
        <State entry={entry} />
      </td>
    </tr>
  );
}

/** Within which the person who plans deliveries has to act. */
const SOON_DAYS = 7;

function toneOf({ state, days_left }: FleetTank): Tone | undefined {
  if (state === "low") return "low";
  return (days_left?.p50 ?? Number.POSITIVE_INFINITY) <= SOON_DAYS ? "soon" : undefined;
}

/** "12 (9–17)": as likely as not by then, and with a probability of 10 and 90 %. */
function DaysLeft({ entry: { days_left, state } }: { readonly entry: FleetTank }) {
  if (state === "low") return <span class="strong">low now</span>;
  if (days_left === null || days_left.p50 === null) return <span class="dim">–</span>;
  const { p10, p50, p90 } = days_left;
  const until = p90 === null ? "∞" : whole(p90);
  return (
    <span title={`With a probability of 80 % in ${whole(p10 ?? 0)} to ${until} days`}>
      <span class="strong">{whole(p50)}</span>{" "}
      <span class="dim range">
        {whole(p10 ?? 0)}–{until}
      </span>
    </span>
  );
}

function Use({ entry: { forecast } }: { readonly entry: FleetTank }) {
  const use = forecast.use_per_day;
  if (use === null) return <span class="dim">–</span>;
  const isNone = use.percentage < 0.05;
  return (
    <span title={`${volume(use)} per day`}>
      <Icon name={isNone ? "flat" : "down"} /> {percent(use.percentage)}
    </span>
  );
}

function Age({ entry: { latest } }: { readonly entry: FleetTank }) {
  if (latest === null) return <span class="dim">never</span>;
  const seconds = Math.max(0, (Date.now() - Date.parse(latest.created_at)) / 1000);
  return (
    <time dateTime={latest.created_at} title={dateTime(latest.created_at)}>
      {seconds < 60 ? "just now" : `${duration(seconds)} ago`}
    </time>
  );
}

function State({ entry }: { readonly entry: FleetTank }) {
  const { alerts, state, silent } = entry;
  const has = (kind: string) => alerts.some((alert) => alert.kind === kind);
  return (
    <span class="badges">
      {state === "low" && !has("low") ? <Badge text="Low" icon="low" tone="low" title="Without an alert" /> : null}
      {alerts.map((alert) => (
        <AlertBadge key={alert.id} alert={alert} />
      ))}
      {silent && !has("silent") ? <Badge text="Silent" icon="silent" tone="silent" /> : null}
      {state === "unknown" ? <Badge text="No reading" icon="unknown" /> : null}
      {state === "ok" && alerts.length === 0 && !silent ? <Badge text="OK" icon="check" tone="ok" /> : null}
    </span>
  );
}
