// Sends a test to a channel, and shows what becomes of it.

import { useState } from "preact/hooks";
import type { Channel, Notification } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { InfoDialog } from "../components/dialog.tsx";
import { Attempts, NotificationState } from "../components/notification.tsx";
import { ErrorState, Loading, NotLoaded } from "../components/states.tsx";
import { withLocalTimes } from "../format.ts";
import { useLive } from "../live.ts";

export function TestDialog({ channel, close }: { readonly channel: Channel; readonly close: () => void }) {
  const [sent, setSent] = useState<Notification>();
  const [error, setError] = useState<unknown>();
  const send = () => {
    setError(undefined);
    api.manage.channels.test(channel.id).then(setSent, setError);
  };
  return (
    <InfoDialog title="Test of this channel" close={close} onOpen={send}>
      <p class="break">To {channel.url ?? channel.to}</p>
      {error === undefined ? null : <ErrorState error={error} retry={send} />}
      {sent === undefined ? error === undefined ? <Loading /> : null : <Result id={sent.id} problem={channel.problem} />}
    </InfoDialog>
  );
}

type ResultProps = Pick<Channel, "problem"> & Pick<Notification, "id">;

function Result({ id, problem }: ResultProps) {
  const live = useLive(`notification ${id}`, (signal) => api.manage.notifications.retrieve(id, { signal }));
  const { data } = live;
  if (data === undefined) return <NotLoaded live={live} />;
  return (
    <div role="status">
      <NotificationState notification={data} />
      <Attempts notification={data} />
      {problem === null || data.state === "delivered" ? null : <p class="error-text">{withLocalTimes(problem)}</p>}
    </div>
  );
}
