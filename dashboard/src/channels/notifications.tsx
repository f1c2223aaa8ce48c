// Notifications: what was sent to channels and customers, and what became of each attempt.

import type { FleetTank, Notification } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { Chip } from "../components/filters.tsx";
import { type Column, ObjectList, pageInUrl, Tabs, tabInUrl } from "../components/list.tsx";
import { useNames } from "../components/names.ts";
import { Attempts, EVENTS, NotificationState, Recipient, recipientsOf, SendAgain } from "../components/notification.tsx";
import { useComplete, useTanks } from "../components/objects.ts";
import { Empty } from "../components/states.tsx";
import { Time } from "../components/time.tsx";
import { useLive } from "../live.ts";
import { href, query, tankPath } from "../location.ts";
import { SendAllAgain } from "./send-all-again.tsx";

const SIZE = 25;
const STATES = [
  ["failed", "Failed"],
  ["pending", "To be sent"],
  ["delivered", "Delivered"],
  ["expired", "Not sent in time"],
] as const;

export function Notifications() {
  const state = tabInUrl("state", STATES) as Notification["state"];
  const channel_id = query.value.get("channel") ?? undefined;
  const customer_id = query.value.get("customer_id") ?? undefined;
  const filter = { ...(channel_id === undefined ? {} : { channel_id }), ...(customer_id === undefined ? {} : { customer_id }) };
  const request = { state, page: pageInUrl(), size: SIZE, ...filter };
  const notifications = useLive(`notifications ${JSON.stringify(request)}`, (signal) =>
    api.manage.notifications.list({ ...request, signal }),
  );
  const shown = notifications.data?.data ?? [];
  const filteredBy = { channel_id: channel_id ?? null, customer_id: customer_id ?? null };
  const nameOf = useNames([...shown, filteredBy].flatMap(recipientsOf));
  const tanks = useTanks(shown.flatMap(({ tank_id }) => tank_id ?? []));
  const live = useComplete(notifications, nameOf, tanks);
  const mayBeSentAgain = (state === "failed" || state === "expired") && Boolean(live.data?.total_items);
  const channelName = channel_id && (nameOf(channel_id) ?? channel_id);
  const customerName = customer_id && (nameOf(customer_id) ?? customer_id);
  const columns: readonly Column<Notification>[] = [
    { label: "About", look: "title", cell: (one) => <About notification={one} entry={tanks.get(one.tank_id ?? "")} /> },
    {
      label: "To",
      cell: (one) => (
        <span class="clamp">
          <Recipient notification={one} nameOf={nameOf} />
        </span>
      ),
    },
    { label: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
    { label: "State", cell: (one) => <NotificationState notification={one} /> },
    { label: "Attempts", cell: (one) => <Attempts notification={one} /> },
    {
      label: "Actions",
      look: "buttons",
      cell: (one) => <SendAgain notification={one} sent={live.refresh} />,
    },
  ];
  return (
    <>
      <div class="toolbar">
        <Tabs label="State of the notifications" name="state" options={STATES} />
        {channelName === undefined ? null : <Chip name="channel" label="Channel" value={channelName} />}
        {customerName === undefined ? null : <Chip name="customer_id" label="Customer" value={customerName} />}
        {mayBeSentAgain ? (
          <SendAllAgain channelId={channel_id} customerId={customer_id} name={channelName ?? customerName} sent={live.refresh} />
        ) : null}
      </div>
      <ObjectList label="Notifications" live={live} columns={columns} idOf={({ id }) => id} empty={<None state={state} />} />
    </>
  );
}

function None({ state }: { readonly state: Notification["state"] }) {
  if (state === "pending") return <Empty title="No pending notifications" />;
  if (state === "delivered") return <Empty title="Nothing was delivered in the last 30 days" />;
  if (state === "expired") return <Empty title="Everything was sent in time" />;
  return (
    <Empty title="No failed notifications">
      <p>A notification appears here if it could not be sent after several attempts. It can then be sent again.</p>
    </Empty>
  );
}

type AboutProps = { readonly notification: Notification; readonly entry: FleetTank | undefined };

function About({ notification: { event, tank_id }, entry }: AboutProps) {
  if (tank_id === null) return EVENTS[event];
  return (
    <>
      <span class="block">{EVENTS[event]}</span>
      <a class="cut" href={href(tankPath(tank_id))} dir="auto" title={entry?.tank.name}>
        {entry?.tank.name ?? tank_id}
      </a>
      {entry === undefined ? null : (
        <span class="dim cut" dir="auto" title={entry.customer.name}>
          {entry.customer.name}
        </span>
      )}
    </>
  );
}
