// Who was notified of an alert, and what became of each attempt.

import { useEffect, useId, useRef } from "preact/hooks";
import type { Notification } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { notify } from "../components/notices.tsx";
import { ErrorState, Loading, messageOf } from "../components/states.tsx";
import { dateTime } from "../format.ts";
import { useLive } from "../live.ts";

const SIZE = 50;

export function NotificationsDialog({ alertId, close }: { readonly alertId: string; readonly close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => dialog.current?.showModal(), []);
  const { data, error, refresh } = useLive(`notifications ${alertId}`, (signal) =>
    api.manage.notifications.list({ alert_id: alertId, size: SIZE, signal }),
  );
  return (
    <dialog class="dialog" ref={dialog} onClose={close} aria-labelledby={id}>
      <h2 id={id}>Notifications of this alert</h2>
      {data === undefined ? error === undefined ? <Loading /> : <ErrorState error={error} retry={refresh} /> : null}
      {data?.total_items === 0 ? (
        <p>Nobody was notified: no channel wants this kind, and its owner gets no mail about it.</p>
      ) : null}
      <ul class="rows">
        {data?.data.map((one) => (
          <Row key={one.id} notification={one} changed={refresh} />
        ))}
      </ul>
      <div class="dialog-buttons">
        <button class="button" type="button" onClick={close}>
          Close
        </button>
      </div>
    </dialog>
  );
}

const STATES: Readonly<Record<Notification["state"], string>> = {
  pending: "waits to be sent",
  delivered: "delivered",
  failed: "failed, given up",
  expired: "not sent in time",
};

function Row({ notification, changed }: { readonly notification: Notification; readonly changed: () => Promise<void> }) {
  const { id, event, channel_id, customer_id, state, attempts, next_attempt_at } = notification;
  const again = async () => {
    try {
      await api.manage.notifications.retry(id);
      notify({ text: "Sent again" });
      await changed();
    } catch (error) {
      notify({ text: messageOf(error), icon: "alert" });
    }
  };
  return (
    <li>
      <span class="row-text">
        <span class="break">
          <span class="strong">{event}</span> to {channel_id === null ? `customer ${customer_id}` : `channel ${channel_id}`}:{" "}
          {STATES[state]}
        </span>
        {attempts.map(({ at, status, error, duration_ms }) => (
          <span class="dim break" key={at}>
            {dateTime(at)}: {error ?? "accepted"}
            {status === null ? "" : ` (${status})`}, {duration_ms} ms
          </span>
        ))}
        {next_attempt_at === null ? null : <span class="dim">Next attempt {dateTime(next_attempt_at)}</span>}
      </span>
      {state === "delivered" ? null : (
        <button class="button" type="button" onClick={again}>
          Send again
        </button>
      )}
    </li>
  );
}
