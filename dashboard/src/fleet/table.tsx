// The tanks of one page, one a row; on a phone, one a card.

import type { FleetTank } from "../../../client/src/index.ts";
import { AlertBadge, Badge, LowBadge } from "../components/badge.tsx";
import { FillBar } from "../components/fill-bar.tsx";
import { Icon } from "../components/icon.tsx";
import { isLowWithoutAlert, unconfirmedJump } from "../components/tank-state.ts";
import {
  date,
  dateTime,
  duration,
  emptyIn,
  emptyRange,
  now,
  percent,
  place,
  rangeOf,
  shortVolume,
  streetLine,
  timeOfDay,
  untilDate,
  volume,
  whole,
} from "../format.ts";
import { customerPath, href, tankPath } from "../location.ts";
import { may } from "../session.ts";

/** Tanks by their ids, also of other pages. */
export type SelectedTanks = ReadonlyMap<string, FleetTank["tank"]>;
type Selection = { readonly selected: SelectedTanks; readonly setSelected: (selected: SelectedTanks) => void };
/** `selection`: for those who may change tanks. */
type Props = { readonly entries: readonly FleetTank[]; readonly selection: Selection | undefined };

const HEADINGS = [
  ["fleet-tank", "Tank"],
  ["fleet-customer", "Customer"],
  ["fleet-place", "Place"],
  ["fleet-level", "Level"],
  ["fleet-days number", "Days left"],
  ["fleet-use number", "Use per day"],
  ["fleet-room number", "Room"],
  ["fleet-age", "Last reading"],
  ["fleet-state", "State"],
] as const;

/** With roles, because on a phone the rows are shown as cards, and browsers would then see no table. */
export function FleetTable({ entries, selection }: Props) {
  return (
    <div class="table-box">
      <table
        class={selection === undefined ? "table fleet" : "table fleet selectable"}
        role="table"
        aria-label="Tanks"
        aria-keyshortcuts={selection === undefined ? "j k" : "j k x"}
      >
        <thead role="rowgroup">
          <tr role="row">
            {selection === undefined ? null : (
              <th class="fleet-select" role="columnheader" scope="col">
                <SelectAll entries={entries} selection={selection} />
              </th>
            )}
            {HEADINGS.filter(([name]) => name !== "fleet-customer" || may("viewer")).map(([name, label]) => (
              <th key={name} class={name} role="columnheader" scope="col">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {entries.map((entry) => (
            <Row key={entry.tank.id} entry={entry} selection={selection} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function SelectAll({ entries, selection }: { readonly entries: readonly FleetTank[]; readonly selection: Selection }) {
  const { selected, setSelected } = selection;
  const isAll = entries.every(({ tank }) => selected.has(tank.id));
  const toggle = () => {
    const next = new Map(selected);
    for (const { tank } of entries) {
      if (isAll) next.delete(tank.id);
      else next.set(tank.id, tank);
    }
    setSelected(next);
  };
  return <input type="checkbox" aria-label="Select all tanks of this page" checked={isAll} onChange={toggle} />;
}

function Select({ tank, selection }: { readonly tank: FleetTank["tank"]; readonly selection: Selection }) {
  const { selected, setSelected } = selection;
  const isSelected = selected.has(tank.id);
  const toggle = () => {
    const next = new Map(selected);
    if (isSelected) next.delete(tank.id);
    else next.set(tank.id, tank);
    setSelected(next);
  };
  return <input type="checkbox" aria-label={`Select ${tank.name}`} checked={isSelected} onChange={toggle} />;
}

function Row({ entry, selection }: { readonly entry: FleetTank; readonly selection: Selection | undefined }) {
  const { tank, customer, room } = entry;
  const isSelected = selection?.selected.has(tank.id) === true;
  return (
    <tr role="row" class={isSelected ? "selected" : undefined}>
      {selection === undefined ? null : (
        <td class="fleet-select" role="cell">
          <Select tank={tank} selection={selection} />
        </td>
      )}
      <td class="fleet-tank" role="cell">
        <a class="cut" href={href(tankPath(tank.id))} dir="auto" title={tank.name}>
          {tank.name}
        </a>
      </td>
      {may("viewer") ? (
        <td class="fleet-customer" role="cell">
          <a class="cut" href={href(customerPath(customer.id))} dir="auto" title={contactOf(customer)}>
            {customer.name}
          </a>
          {place(tank.location) === "" ? null : <span class="card-place">{place(tank.location)}</span>}
          <div class="on-paper">{customer.phone}</div>
        </td>
      ) : null}
      <td class="fleet-place" role="cell">
        <div class="on-paper" dir="auto">
          {streetLine(tank.location)}
        </div>
        <span class="cut" dir="auto" title={place(tank.location)}>
          {place(tank.location)}
        </span>
      </td>
      <td class="fleet-level" role="cell">
        <FillBar entry={entry} />
      </td>
      <td class="fleet-days number" role="cell">
        <DaysLeft entry={entry} />
      </td>
      <td class="fleet-use number" role="cell">
        <Use entry={entry} />
      </td>
      <td class="fleet-room number" role="cell">
        {room === null ? (
          <span class="dim unknown">–</span>
        ) : (
          <span title={volume(room)}>
            <span class="card-word">room </span>
            {shortVolume(room)}
          </span>
        )}
      </td>
      <td class="fleet-age" role="cell">
        <Age entry={entry} />
      </td>
      <td class="fleet-state" role="cell">
        <State entry={entry} />
      </td>
    </tr>
  );
}

const contactOf = ({ name, phone }: FleetTank["customer"]): string => (phone === null ? name : `${name}, ${phone}`);

/** "12 9–17": as likely as not by then, and with a probability of 10 and 90 %. */
function DaysLeft({ entry }: { readonly entry: FleetTank }) {
  const { days_left, state } = entry;
  if (state === "low") return <LowTank entry={entry} />;
  if (days_left === null || days_left.p50 === null) {
    const jump = unconfirmedJump(entry);
    return (
      <span class="dim unknown" title={jump && `After ${jump}: new forecast in a day or two`}>
        –
      </span>
    );
  }
  const [days, range] = [whole(days_left.p50), rangeOf(days_left, "∞")];
  const isLessThanADay = Math.round(days_left.p50) === 0;
  return (
    <span title={range === "0" ? "Less than a day" : `With a probability of 80 % in ${rangeOf(days_left, "∞", " to ")} days`}>
      <span class="table-days">
        <span class="strong">{isLessThanADay ? "<1" : days}</span> <span class="dim range">{range === days ? "" : range}</span>
      </span>
      <span class="card-days">
        {isLessThanADay ? (
          "less than a day"
        ) : (
          <>
            <span class="strong">{days}</span>{" "}
            <span class="dim">{range === days ? (days === "1" ? "day" : "days") : `${range} days`}</span>
          </>
        )}
      </span>
    </span>
  );
}

/** "empty in 4 days 3–6". */
function LowTank({ entry }: { readonly entry: FleetTank }) {
  const range = emptyRange(entry);
  return (
    <span class="low-tank" title={range && `Empty with a probability of 80 % in ${rangeOf(range, "∞", " to ")} ${range.unit}`}>
      <span class="low-now">{emptyIn(entry)}</span> <span class="dim range">{range && rangeOf(range, "∞")}</span>
    </span>
  );
}

function Use({ entry: { forecast } }: { readonly entry: FleetTank }) {
  const use = forecast.use_per_day;
  if (use === null) return <span class="dim unknown">–</span>;
  const isNone = use.percentage < 0.05;
  return (
    <span title={`${volume(use)} per day`}>
      <Icon name={isNone ? "flat" : "down"} /> {percent(use.percentage)}
      <span class="card-word"> per day</span>
    </span>
  );
}

/** Readings arrive some minutes late. */
const OVERDUE_SECONDS = 3_600;

/** "2 h ago, next in 1 h"; on paper the date and time. */
function Age({ entry: { latest, next_reading_at: next } }: { readonly entry: FleetTank }) {
  if (latest === null) return <span class="dim">never</span>;
  const seconds = Math.max(0, (now.value - Date.parse(latest.created_at)) / 1000);
  const remaining = next === null ? undefined : (Date.parse(next) - now.value) / 1000;
  const isOverdue = remaining !== undefined && remaining < -OVERDUE_SECONDS;
  const due =
    remaining === undefined ? undefined : remaining >= 60 ? `next in ${duration(remaining)}` : isOverdue ? "overdue" : "next due";
  return (
    <>
      <span class="on-screen" title={`${dateTime(latest.created_at)}${next === null ? "" : `; next due ${dateTime(next)}`}`}>
        <time dateTime={latest.created_at}>
          {seconds < 60 ? "now" : `${duration(seconds)} ago`}
          {due === undefined ? "" : ","}
        </time>{" "}
        <span class="dim next-reading">{due}</span>
      </span>
      <span class="on-paper">
        <time>{date(latest.created_at)}</time> <time>{timeOfDay(latest.created_at)}</time>
      </span>
    </>
  );
}

function State({ entry }: { readonly entry: FleetTank }) {
  const { alerts, state, silent, alerts_paused_until: pausedUntil } = entry;
  const hasSilentAlert = alerts.some(({ kind }) => kind === "silent");
  return (
    <span class="badges">
      {isLowWithoutAlert(entry) ? <LowBadge /> : null}
      {alerts.map((alert) => (
        <AlertBadge key={alert.id} alert={alert} />
      ))}
      {pausedUntil === null ? null : (
        <Badge text="Paused" icon="pause" title={`No alert opens until ${untilDate(pausedUntil)}`} />
      )}
      {silent && !hasSilentAlert ? <Badge text="Silent" icon="silent" tone="silent" /> : null}
      {state === "unknown" ? <Badge text="No reading" icon="unknown" /> : null}
      {state === "ok" && alerts.length === 0 && !silent ? <Badge text="OK" icon="check" tone="ok" /> : null}
    </span>
  );
}
