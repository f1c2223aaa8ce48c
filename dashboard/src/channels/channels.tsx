// Channels, where alerts are sent, and the notifications that were sent.

import type { Channel } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { ActionButton } from "../components/action-button.tsx";
import { ALERT_KINDS } from "../components/alert-kinds.tsx";
import { Badge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { Dialog, SecretDialog, useDialog } from "../components/dialog.tsx";
import { SelectField } from "../components/field.tsx";
import { withFocus } from "../components/focus.ts";
import { type Column, ObjectList, pageInUrl, Tabs, tabInUrl } from "../components/list.tsx";
import { channelName, customerOf, type NameOf, useNames } from "../components/names.ts";
import { notify } from "../components/notices.tsx";
import { EVENTS } from "../components/notification.tsx";
import { useComplete } from "../components/objects.ts";
import { Screen } from "../components/screen.tsx";
import { Empty } from "../components/states.tsx";
import { withLocalTimes } from "../format.ts";
import { refreshAll, useLive } from "../live.ts";
import { href, withQuery } from "../location.ts";
import { ChannelDialog } from "./form.tsx";
import { Notifications } from "./notifications.tsx";
import { TestDialog } from "./test-dialog.tsx";

const SIZE = 25;
const VIEWS = [
  ["channels", "Channels"],
  ["notifications", "Notifications"],
] as const;

export default function Channels() {
  const view = tabInUrl("view", VIEWS);
  const dialog = useDialog();
  const showSecret = (secret: string | null) =>
    dialog.open((close) => (
      <SecretDialog
        title="Secret of the webhook"
        value={secret}
        ifLost="Choose “New secret” of this channel: the new one is shown."
        close={close}
      >
        <p>Copy it now: it is shown only this once. The receiver checks the signature of each request with it.</p>
      </SecretDialog>
    ));
  return (
    <Screen
      title="Channels"
      actions={
        <Button onClick={() => dialog.open((close) => <ChannelDialog close={close} showSecret={showSecret} />)} look="primary">
          Add channel
        </Button>
      }
    >
      <Tabs label="Channels or notifications" name="view" options={VIEWS} />
      {view === "channels" ? <ChannelList dialog={dialog} showSecret={showSecret} /> : <Notifications />}
      {dialog.shown}
    </Screen>
  );
}

type ListProps = {
  readonly dialog: Pick<ReturnType<typeof useDialog>, "open">;
  readonly showSecret: (secret: string | null) => void;
};

function ChannelList({ dialog, showSecret }: ListProps) {
  const page = pageInUrl();
  const channels = useLive(`channels ${page}`, (signal) => api.manage.channels.list({ page, size: SIZE, signal }));
  const nameOf = useNames((channels.data?.data ?? []).flatMap(customerOf));
  const live = useComplete(channels, nameOf);
  const columns: readonly Column<Channel>[] = [
    { label: "Channel", look: "title", cell: (channel) => <Target channel={channel} /> },
    { label: "Sends", cell: (channel) => <Filter channel={channel} nameOf={nameOf} /> },
    { label: "State", cell: (channel) => <State channel={channel} /> },
    {
      label: "Actions",
      look: "buttons",
      cell: (channel) => <ChannelActions {...{ channel, nameOf, dialog, showSecret }} changed={live.refresh} />,
    },
  ];
  return (
    <ObjectList
      label="Channels"
      live={live}
      columns={columns}
      idOf={({ id }) => id}
      empty={
        <Empty title="No channels yet">
          <p>Customers get mail about their own tanks. Add a channel to send alerts to your office, or to another program.</p>
        </Empty>
      }
    />
  );
}

type ChannelActionsProps = ListProps & {
  readonly channel: Channel;
  readonly nameOf: NameOf;
  readonly changed: () => Promise<void>;
};

function ChannelActions({ channel, nameOf, dialog, showSecret, changed }: ChannelActionsProps) {
  const name = channelName(channel);
  const setState = async (state: Channel["state"]) => {
    await api.manage.channels.update(channel.id, { state });
    notify({ text: state === "active" ? "The channel is active again" : "The channel is disabled" });
    await changed();
  };
  return (
    <>
      {channel.state === "active" ? (
        <Button onClick={() => dialog.open((close) => <TestDialog channel={channel} close={close} />)} of={name}>
          Test
        </Button>
      ) : (
        <ActionButton act={() => setState("active")} of={name} look="primary">
          Enable again
        </ActionButton>
      )}
      <Button onClick={() => dialog.open((close) => <ChannelDialog {...{ channel, nameOf, close, showSecret }} />)} of={name}>
        Edit
      </Button>
      {channel.type === "webhook" ? (
        <Button
          onClick={() => dialog.open((close) => <SecretChangeDialog channel={channel} close={close} showSecret={showSecret} />)}
          of={`of ${name}`}
          look="quiet"
        >
          New secret
        </Button>
      ) : null}
      {channel.state === "active" ? (
        <ActionButton act={() => setState("disabled")} of={name} look="quiet">
          Disable
        </ActionButton>
      ) : null}
      <Button
        onClick={() => withFocus(dialog.open)((close) => <DeleteDialog channel={channel} close={close} />)}
        of={name}
        look="quiet"
      >
        Delete
      </Button>
    </>
  );
}

function Target({ channel }: { readonly channel: Channel }) {
  const { id, type, description, url, to } = channel;
  return (
    <>
      {description === null ? null : (
        <span class="strong block" title={description} dir="auto">
          <span class="clamp">{description}</span>
        </span>
      )}
      <span class="block" title={url ?? to ?? undefined}>
        <span class="clamp">{url ?? to}</span>
      </span>
      <span class="dim block">
        {type === "webhook" ? "Webhook" : "E-mail"},{" "}
        <a href={href(withQuery({ view: "notifications", channel: id, page: undefined }))}>its notifications</a>
      </span>
    </>
  );
}

type FilterProps = { readonly channel: Channel; readonly nameOf: NameOf };

function Filter({ channel, nameOf }: FilterProps) {
  const { events, kinds, customer_id, delay, quiet_hours } = channel;
  return (
    <>
      <span class="block">{events === null ? "All events" : events.map((event) => EVENTS[event]).join(", ")}</span>
      <span class="block">
        {kinds === null ? "of all kinds" : `only ${kinds.map((kind) => ALERT_KINDS[kind].label).join(", ")}; no refills`}
      </span>
      {customer_id === null ? null : (
        <span class="dim clamp" title={nameOf(customer_id)}>
          only of customer <bdi>{nameOf(customer_id) ?? customer_id}</bdi>
        </span>
      )}
      {delay === null ? null : <span class="dim block">if still unacknowledged after {delay}</span>}
      {quiet_hours === null ? null : (
        <span class="dim block">
          held from {quiet_hours.from} to {quiet_hours.to} ({quiet_hours.timezone})
        </span>
      )}
    </>
  );
}

function State({ channel: { state, disabled_reason, problem } }: { readonly channel: Channel }) {
  const reason = disabled_reason ?? problem;
  return (
    <>
      {state === "disabled" ? <Badge text="Disabled" icon="close" tone="low" /> : null}
      {state === "active" && problem !== null ? <Badge text="Problem" icon="alert" tone="soon" /> : null}
      {state === "active" && problem === null ? <Badge text="Active" icon="check" tone="ok" /> : null}
      {reason === null ? null : <span class="block break">{withLocalTimes(reason)}</span>}
    </>
  );
}

const OVERLAPS = [
  ["24h", "For a day"],
  ["168h", "For a week"],
  ["0s", "No, only with the new one"],
] as const;

type SecretChangeProps = Pick<ListProps, "showSecret"> & { readonly channel: Channel; readonly close: () => void };

function SecretChangeDialog({ channel, close, showSecret }: SecretChangeProps) {
  const submit = async (form: FormData) =>
    showSecret((await api.manage.channels.rotate(channel.id, { overlap: String(form.get("overlap")) })).secret);
  return (
    <Dialog title={`New secret of ${channelName(channel)}?`} action="Create" submit={submit} close={close}>
      <p>Requests are signed with a new secret from now on. It is shown once: enter it in the receiver.</p>
      <SelectField label="Also sign with the old secret" name="overlap" options={OVERLAPS} />
    </Dialog>
  );
}

function DeleteDialog({ channel, close }: { readonly channel: Channel; readonly close: () => void }) {
  const submit = async () => {
    await api.manage.channels.delete(channel.id);
    notify({ text: "The channel was deleted" });
    await refreshAll();
  };
  return (
    <Dialog title={`Delete ${channelName(channel)}?`} action="Delete" isDangerous submit={submit} close={close}>
      <p>
        It is permanently deleted, and notifications that are still to be sent are not sent any more. To pause it, disable it.
      </p>
    </Dialog>
  );
}
