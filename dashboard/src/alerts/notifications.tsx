// Who was notified of an alert, and what became of each attempt.

import type { Alert, FleetTank, Notification } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { InfoDialog } from "../components/dialog.tsx";
import { type NameOf, useNames } from "../components/names.ts";
import { EVENTS, NotificationState, Recipient, recipientsOf, SendAgain } from "../components/notification.tsx";
import { NotLoaded } from "../components/states.tsx";
import { dateTime } from "../format.ts";
import { useLive } from "../live.ts";
import { Subject } from "./dialogs.tsx";

const SIZE = 50;

type Props = { readonly alert: Alert; readonly entry: FleetTank | undefined; readonly close: () => void };

export function NotificationsDialog({ alert, entry, close }: Props) {
  const { data, error, refresh } = useLive(`notifications ${alert.id}`, (signal) =>
    api.manage.notifications.list({ alert_id: alert.id, size: SIZE, signal }),
  );
  const nameOf = useNames((data?.data ?? []).flatMap(recipientsOf));
  return (
    <InfoDialog title="Notifications of this alert" close={close}>
      <Subject tankId={alert.tank_id} entry={entry} kind={alert.kind} />
      {data === undefined ? <NotLoaded live={{ error, refresh }} /> : null}
      {data?.total_items === 0 ? (
        <p>No notification lists this alert so far. Mail that waits for a delay or for quiet hours is not shown here.</p>
      ) : null}
      <ul class="rows">
        {data?.data.map((one) => (
          <Row key={one.id} notification={one} nameOf={nameOf} changed={refresh} />
        ))}
      </ul>
    </InfoDialog>
  );
}

type RowProps = {
  readonly notification: Notification;
  readonly nameOf: NameOf;
  readonly changed: () => Promise<void>;
};

function Row({ notification, nameOf, changed }: RowProps) {
  const { event, attempts } = notification;
  return (
    <li>
      <span class="row-text">
        <span>
          <span class="strong">{EVENTS[event]}</span> to <Recipient notification={notification} nameOf={nameOf} />
        </span>
        <span>
          <NotificationState notification={notification} />
        </span>
        {attempts.map(({ at, status, error, duration_ms }) => (
          <span class="dim" key={at}>
            {dateTime(at)}: {error ?? "accepted"}
            {status === null ? "" : ` (${status})`}, {duration_ms} ms
          </span>
        ))}
      </span>
      <SendAgain notification={notification} sent={changed} />
    </li>
  );
}
