// Who was notified of an alert, and what became of each attempt.

import type { Notification } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { InfoDialog } from "../components/dialog.tsx";
import { EVENTS, NotificationState, Recipient, SendAgain, useRecipients } from "../components/notification.tsx";
import { NotLoaded } from "../components/states.tsx";
import { dateTime } from "../format.ts";
import { useLive } from "../live.ts";

const SIZE = 50;

export function NotificationsDialog({ alertId, close }: { readonly alertId: string; readonly close: () => void }) {
  const { data, error, refresh } = useLive(`notifications ${alertId}`, (signal) =>
    api.manage.notifications.list({ alert_id: alertId, size: SIZE, signal }),
  );
  const nameOf = useRecipients(data?.data ?? []);
  return (
    <InfoDialog title="Notifications of this alert" close={close}>
      {data === undefined ? <NotLoaded live={{ error, refresh }} /> : null}
      {data?.total_items === 0 ? (
        <p>Nobody was notified: no channel wants this kind, and its owner gets no mail about it.</p>
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
  readonly nameOf: ReturnType<typeof useRecipients>;
  readonly changed: () => Promise<void>;
};

function Row({ notification, nameOf, changed }: RowProps) {
  const { event, attempts } = notification;
  return (
    <li>
      <span class="row-text">
        <span class="break">
          <span class="strong">{EVENTS[event]}</span> to <Recipient notification={notification} nameOf={nameOf} />
        </span>
        <span>
          <NotificationState notification={notification} />
        </span>
        {attempts.map(({ at, status, error, duration_ms }) => (
          <span class="dim break" key={at}>
            {dateTime(at)}: {error ?? "accepted"}
            {status === null ? "" : ` (${status})`}, {duration_ms} ms
          </span>
        ))}
      </span>
      <SendAgain notification={notification} sent={changed} />
    </li>
  );
}
