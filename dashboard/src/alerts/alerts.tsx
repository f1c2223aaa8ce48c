// Alerts: by default those that nobody has acknowledged, newest first.

import type { Alert } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { ALERT_KINDS, type AlertKind } from "../components/alert-kinds.tsx";
import { Pager } from "../components/pager.tsx";
import { Screen } from "../components/screen.tsx";
import { Empty, ErrorState, Loading } from "../components/states.tsx";
import { counted } from "../format.ts";
import { useLive } from "../live.ts";
import { href, navigate, query, withQuery } from "../location.ts";
import { AlertTable } from "./table.tsx";

const SIZE = 25;

type State = Alert["state"];
const STATES: Readonly<Record<State, string>> = { open: "New", acknowledged: "Acknowledged", closed: "Closed" };
const KINDS = Object.keys(ALERT_KINDS) as AlertKind[];

export default function Alerts() {
  const filters = filtersInUrl();
  const { data, isCurrent, error, refresh } = useLive(JSON.stringify(filters), (signal) =>
    api.insight.alerts.list({ ...filters, size: SIZE, signal }),
  );
  return (
    <Screen title="Alerts" summary={data === undefined ? undefined : counted(data.total_items, "alert")}>
      <FilterBar state={filters.state} kind={filters.kind} />
      {error === undefined ? null : <ErrorState error={error} retry={refresh} />}
      {data === undefined && error === undefined ? <Loading /> : null}
      {data?.total_items === 0 ? <NoAlerts state={filters.state} kind={filters.kind} /> : null}
      {data === undefined || data.total_items === 0 ? null : (
        <div class={isCurrent ? "list" : "list waiting"} aria-busy={!isCurrent}>
          <AlertTable alerts={data.data} changed={refresh} />
          <Pager list={data} />
        </div>
      )}
    </Screen>
  );
}

type Filters = { readonly state: State; readonly page: number; readonly kind?: AlertKind };

/** What is not known is ignored: a link of another version shows the default. */
function filtersInUrl(): Filters {
  const { value } = query;
  const state = value.get("state") ?? "";
  const kind = KINDS.find((one) => one === value.get("kind"));
  return {
    state: state in STATES ? (state as State) : "open",
    page: Math.max(1, Math.floor(Number(value.get("page") ?? 1)) || 1),
    ...(kind === undefined ? {} : { kind }),
  };
}

type BarProps = { readonly state: State; readonly kind: AlertKind | undefined };

function FilterBar({ state, kind }: BarProps) {
  return (
    <div class="toolbar">
      <nav aria-label="State of the alerts">
        <ul class="tabs">
          {Object.entries(STATES).map(([name, label]) => (
            <li key={name}>
              <a
                class="tab"
                href={href(withQuery({ state: name === "open" ? undefined : name, page: undefined }))}
                aria-current={name === state ? "page" : undefined}
              >
                {label}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <select
        class="input order"
        aria-label="Kind"
        value={kind ?? ""}
        onChange={({ currentTarget }) => navigate(withQuery({ kind: currentTarget.value, page: undefined }))}
      >
        <option value="">All kinds</option>
        {KINDS.map((one) => (
          <option key={one} value={one}>
            {ALERT_KINDS[one].label}
          </option>
        ))}
      </select>
    </div>
  );
}

function NoAlerts({ state, kind }: BarProps) {
  const what = kind === undefined ? "" : ` of the kind “${ALERT_KINDS[kind].label}”`;
  if (state !== "open") return <Empty title={`No ${STATES[state].toLowerCase()} alerts${what}`} />;
  return (
    <Empty title={`No new alerts${what}`}>
      <p>An alert appears here by itself when a tank is low, will be low soon, sends no readings, or seems to leak.</p>
      <p>
        <a href={href(withQuery({ state: "acknowledged", page: undefined }))}>Show those that somebody takes care of</a>
      </p>
    </Empty>
  );
}
