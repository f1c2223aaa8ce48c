// Polls the event feed while the dashboard is open: how many alerts are open, and a notice for each that is opened.

import { computed, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { AlertCounts, AlertEvent, EventList } from "../../client/src/index.ts";
import { api } from "./api.ts";
import { ALERT_KINDS } from "./components/alert-kinds.tsx";
import { notify } from "./components/notices.tsx";
import { counted, place } from "./format.ts";
import { useLive } from "./live.ts";
import { href, tankPath } from "./location.ts";

/** Alerts that are not closed; undefined until it is known. */
export const alertCounts = signal<AlertCounts | undefined>(undefined);
/** The number of alerts in the state `open`: nobody has acknowledged them. */
export const openAlerts = computed(() => Object.values(alertCounts.value?.open ?? {}).reduce((sum, count) => sum + count, 0));

/** No database has come that far, so that the response has only the current position. */
const NEWEST = Number.MAX_SAFE_INTEGER;
/** Notices per poll; if there are more, only their number is shown. */
const MAX_NOTICES = 3;

export function EventFeedPoller() {
  const after = useRef(NEWEST);
  const { data: page } = useLive("events", async (abort) => {
    const list = await api.insight.events.list({ after: after.current, size: 100, signal: abort });
    after.current = list.next_after;
    return list;
  });
  const { data: counts } = useLive("alert-counts", (abort) => api.insight.alerts.counts({ signal: abort }));
  useEffect(() => {
    alertCounts.value = counts;
  }, [counts]);
  // Nobody is signed in any more.
  useEffect(
    () => () => {
      alertCounts.value = undefined;
    },
    [],
  );
  useEffect(() => {
    if (page !== undefined) announce(page);
  }, [page]);
  return null;
}

function announce({ data }: EventList): void {
  const opened = data.filter((event): event is AlertEvent => event.type === "alert.opened");
  for (const { data: event } of opened.slice(0, MAX_NOTICES)) {
    const { alert, tank, customer } = event;
    const { label, icon } = ALERT_KINDS[alert.kind];
    // Several tanks may have the same name.
    const text = `${label}: ${tank.name}, ${place(tank.location) || customer.name}`;
    notify({ text, icon, href: href(tankPath(tank.id)) });
  }
  const more = opened.length - MAX_NOTICES;
  if (more > 0) notify({ text: `and ${counted(more, "more alert")}`, href: href("/alerts") });
}
