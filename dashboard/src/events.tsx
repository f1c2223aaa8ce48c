// Follows the event feed while the dashboard is open: how many alerts are open, and a notice for each that is opened.

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { AlertEvent, EventList } from "../../client/src/index.ts";
import { api } from "./api.ts";
import { ALERT_KINDS } from "./components/alert-kinds.tsx";
import { notify } from "./components/notices.tsx";
import { useLive } from "./live.ts";
import { href, tankPath } from "./location.ts";

/** Alerts that nobody has acknowledged; undefined until it is known. */
export const openAlerts = signal<number | undefined>(undefined);

/** No database has come that far, so that the response has only the present position. */
const NEWEST = Number.MAX_SAFE_INTEGER;
/** Of one round; of more only their number is shown. */
const MAX_NOTICES = 3;

export function Follower() {
  const after = useRef(NEWEST);
  const { data: page } = useLive("events", async (abort) => {
    const list = await api.insight.events.list({ after: after.current, size: 100, signal: abort });
    after.current = list.next_after;
    return list;
  });
  const { data: count } = useLive("open-alerts", async (abort) => {
    const { total_items } = await api.insight.alerts.list({ state: "open", size: 1, signal: abort });
    return total_items;
  });
  useEffect(() => {
    openAlerts.value = count;
  }, [count]);
  useEffect(() => {
    if (page !== undefined) announce(page);
  }, [page]);
  return null;
}

function announce({ data }: EventList): void {
  const opened = data.filter((event): event is AlertEvent => event.type === "alert.opened");
  for (const { data: event } of opened.slice(0, MAX_NOTICES)) {
    const { alert, tank } = event;
    const { label, icon } = ALERT_KINDS[alert.kind];
    notify({ text: `${label}: ${tank.name}`, icon, href: href(tankPath(tank.id)) });
  }
  const more = opened.length - MAX_NOTICES;
  if (more > 0) notify({ text: `and ${more} more alerts`, href: href("/alerts") });
}
