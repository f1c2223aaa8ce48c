// Alerts: by default the open ones, which nobody has acknowledged, newest first.

import { useEffect, useState } from "preact/hooks";
import type { Alert } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { ALERT_KINDS, ALERT_STATES, type AlertKind } from "../components/alert-kinds.tsx";
import { AlertBadge } from "../components/badge.tsx";
import { useDialog } from "../components/dialog.tsx";
import { FilterSelect } from "../components/filters.tsx";
import { withFocus } from "../components/focus.ts";
import { type Column, ObjectList, pageInUrl, Tabs, tabInUrl } from "../components/list.tsx";
import { useComplete, useTanks } from "../components/objects.ts";
import { Screen } from "../components/screen.tsx";
import { Empty } from "../components/states.tsx";
import { ago, counted, dateTime } from "../format.ts";
import { type Live, useLive } from "../live.ts";
import { href, query, withQuery } from "../location.ts";
import { may } from "../session.ts";
import { Actions } from "./actions.tsx";
import { AlertDetails, Owner, TankName } from "./cells.tsx";
import { usePeople } from "./people.ts";

const SIZE = 25;
const STATES = (["open", "acknowledged", "closed"] as const).map((state) => [state, ALERT_STATES[state]] as const);
const KINDS = Object.keys(ALERT_KINDS) as AlertKind[];
const KIND_OPTIONS = [["", "All kinds"], ...KINDS.map((kind) => [kind, ALERT_KINDS[kind].label] as const)] as const;

export default function Alerts() {
  const state = tabInUrl("state", STATES) as Alert["state"];
  const kind = KINDS.find((one) => one === query.value.get("kind"));
  const request = { state, page: pageInUrl(), size: SIZE, ...(kind === undefined ? {} : { kind }) };
  const alerts = useLive(JSON.stringify(request), (signal) => api.insight.alerts.list({ ...request, signal }));
  const tanks = useTanks(alerts.data?.data.map(({ tank_id }) => tank_id) ?? []);
  const personOf = usePeople(alerts.data?.data.map(({ acknowledged_by }) => acknowledged_by) ?? []);
  const live = useComplete(alerts, tanks, personOf);
  const changed = useRefreshUntilShown(live);
  const dialog = useDialog();
  const open = withFocus(dialog.open);
  const columns: readonly Column<Alert>[] = [
    { label: "Alert", cell: (alert) => <Kind alert={alert} /> },
    { label: "Tank", look: "title", cell: ({ tank_id }) => <TankName id={tank_id} entry={tanks.get(tank_id)} /> },
    // Customers know who they are.
    ...(may("viewer") ? [{ label: "Customer", cell: ({ tank_id }: Alert) => <Owner entry={tanks.get(tank_id)} /> }] : []),
    {
      label: "Details",
      cell: (alert) => (
        <AlertDetails alert={alert} entry={tanks.get(alert.tank_id)} acknowledgedBy={personOf(alert.acknowledged_by)} />
      ),
    },
    {
      label: "Actions",
      look: "buttons",
      cell: (alert) => <Actions alert={alert} entry={tanks.get(alert.tank_id)} open={open} changed={changed} />,
    },
  ];
  return (
    <Screen title="Alerts" summary={live.data === undefined ? undefined : counted(live.data.total_items, "alert")}>
      <div class="toolbar">
        <Tabs label="State of the alerts" name="state" options={STATES} />
        <FilterSelect name="kind" label="Kind" value={kind} options={KIND_OPTIONS} />
      </div>
      <ObjectList
        label="Alerts"
        live={live}
        columns={columns}
        idOf={({ id }) => id}
        empty={<NoAlerts state={state} kind={kind} />}
      />
      {dialog.shown}
    </Screen>
  );
}

/**
 * Refreshes the list, and waits until it is shown, with the tanks of alerts that moved up from the next page. A dialog that closed
 * earlier would give the focus back to a row that is removed later.
 */
function useRefreshUntilShown({ isCurrent, refresh }: Live<unknown>): () => Promise<void> {
  const [waiting, setWaiting] = useState<() => void>();
  useEffect(() => {
    if (isCurrent) waiting?.();
    // Also when the screen is left, or another dialog waits.
    return waiting;
  }, [isCurrent, waiting]);
  return async () => {
    await refresh();
    await new Promise<void>((resolve) => setWaiting(() => resolve));
  };
}

function Kind({ alert }: { readonly alert: Alert }) {
  const { opened_at } = alert;
  return (
    <>
      <AlertBadge alert={alert} />
      <time class="dim block" dateTime={opened_at} title={`Opened ${dateTime(opened_at)}`}>
        {ago(opened_at)}
      </time>
    </>
  );
}

function NoAlerts({ state, kind }: { readonly state: Alert["state"]; readonly kind: AlertKind | undefined }) {
  const what = kind === undefined ? "" : ` of the kind “${ALERT_KINDS[kind].label}”`;
  const title = `No ${state} alerts${what}`;
  if (state !== "open") return <Empty title={title} />;
  return (
    <Empty title={title}>
      <p>An alert appears here automatically when a tank is low, will be low soon, sends no readings, or seems to leak.</p>
      <p>
        <a href={href(withQuery({ state: "acknowledged", page: undefined }))}>Show acknowledged alerts</a>
      </p>
    </Empty>
  );
}
