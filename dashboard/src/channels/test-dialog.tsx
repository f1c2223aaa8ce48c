// Sends a test to a channel, and shows what becomes of it.

import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Channel, Notification } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { ErrorState, Loading } from "../components/states.tsx";
import { useLive } from "../live.ts";
import { Attempts, NotificationState } from "./notifications.tsx";

export function TestDialog({ channel, close }: { readonly channel: Channel; readonly close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [sent, setSent] = useState<Notification>();
  const [error, setError] = useState<unknown>();
  const id = useId();
  const send = () => {
    setError(undefined);
    api.manage.channels.test(channel.id).then(setSent, setError);
  };
  useEffect(() => {
    dialog.current?.showModal();
    send();
  }, []);
  return (
    <dialog class="dialog" ref={dialog} onClose={close} aria-labelledby={id}>
      <h2 id={id}>Test of this channel</h2>
      <div class="form">
        <p class="break">To {channel.url ?? channel.to}</p>
        {error === undefined ? null : <ErrorState error={error} retry={send} />}
        {sent === undefined ? error === undefined ? <Loading /> : null : <Result id={sent.id} />}
        <div class="dialog-buttons">
          <button class="button primary" type="button" onClick={() => dialog.current?.close()}>
            Done
          </button>
        </div>
      </div>
    </dialog>
  );
}

function Result({ id }: { readonly id: string }) {
  const { data, error, refresh } = useLive(`notification ${id}`, (signal) => api.manage.notifications.retrieve(id, { signal }));
  if (data === undefined) return error === undefined ? <Loading /> : <ErrorState error={error} retry={refresh} />;
  return (
    <div role="status">
      <NotificationState notification={data} />
      <Attempts notification={data} />
    </div>
  );
}
