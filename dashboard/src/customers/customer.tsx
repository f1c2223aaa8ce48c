// A customer: who it is, its tanks, and what can be done about it.

import { ApiError, type FleetTank, type ManagedCustomer, type ManagedTank } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { ActionButton } from "../components/action-button.tsx";
import { AlertBadge, Badge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { useDialog } from "../components/dialog.tsx";
import { FillBar } from "../components/fill-bar.tsx";
import { withFocus } from "../components/focus.ts";
import { LANGUAGES } from "../components/form.ts";
import { Icon } from "../components/icon.tsx";
import { type Column, ObjectList, pageInUrl, Tabs, tabInUrl } from "../components/list.tsx";
import { notify } from "../components/notices.tsx";
import { Screen } from "../components/screen.tsx";
import { MAX_SESSIONS, Sessions } from "../components/sessions.tsx";
import { SignInLinkButton } from "../components/sign-in-link.tsx";
import { Empty, NotLoaded } from "../components/states.tsx";
import { Time } from "../components/time.tsx";
import { dateTime, phoneLink, place } from "../format.ts";
import { useLive } from "../live.ts";
import { href, tankPath } from "../location.ts";
import type { ScreenProps } from "../routes.ts";
import { may } from "../session.ts";
import { CustomerDialog, DeleteDialog, RestoreDialog, TankDialog } from "./dialogs.tsx";

const SIZE = 25;
const TANK_VIEWS = [
  ["existing", "Tanks"],
  ["deleted", "Deleted"],
] as const;

export default function Customer({ params: { id = "" } }: ScreenProps) {
  const live = useLive(`customer ${id}`, (signal) => api.manage.customers.retrieve(id, { signal }));
  const dialog = useDialog();
  // In one component, so that the heading stays the same element, with the focus.
  const { data, error, refresh } = live;
  if (error instanceof ApiError && error.status === 404) {
    return (
      <Screen title="There is no such customer">
        <Empty title="The address may be mistyped">
          <a class="button" href={href("/customers")}>
            Go to the customers
          </a>
        </Empty>
      </Screen>
    );
  }
  if (data === undefined) {
    return (
      <Screen title="Customer">
        <NotLoaded live={live} />
      </Screen>
    );
  }
  const canChange = may("dispatcher");
  const { deleted, name } = data;
  const view = tabInUrl("tanks", TANK_VIEWS);
  const openWith = (Form: typeof DeleteDialog) => () =>
    withFocus(dialog.open)((close) => <Form customer={data} close={close} done={refresh} />);
  const edit = () => dialog.open((close) => <CustomerDialog customer={data} close={close} done={refresh} />);
  return (
    <Screen
      title={name}
      summary={<a href={href("/customers")}>All customers</a>}
      actions={
        !canChange ? undefined : deleted ? (
          <Button onClick={openWith(RestoreDialog)} look="primary">
            Restore
          </Button>
        ) : (
          <>
            <Button onClick={edit}>
              <Icon name="edit" />
              Edit
            </Button>
            <Button onClick={openWith(TankDialog)}>Add tank</Button>
            {may("admin") ? (
              <SignInLinkButton account={data} create={() => api.manage.customers.link(id)} open={dialog.open} />
            ) : null}
            <Button onClick={openWith(DeleteDialog)} look="danger">
              Delete
            </Button>
          </>
        )
      }
    >
      {deleted ? (
        <p class="note" role="status">
          This customer is deleted: nobody can sign in to its account, and its keys do not work. Its data is kept, and it can be
          restored.
        </p>
      ) : null}
      <Facts customer={data} changed={refresh} />
      <section class="section" aria-labelledby="tanks">
        <h2 id="tanks">Tanks</h2>
        {deleted ? null : <Tabs label="Which tanks" name="tanks" options={TANK_VIEWS} />}
        {deleted || view === "deleted" ? <DeletedTanks id={id} /> : <Tanks id={id} />}
      </section>
      {may("admin") && !deleted ? <CustomerSessions id={id} /> : null}
      {dialog.shown}
    </Screen>
  );
}

type Props = { readonly customer: ManagedCustomer; readonly changed: () => Promise<void> };

function Facts({ customer, changed }: Props) {
  const { id, email, phone, is_verified, last_seen_at, created_at, notifications, deleted } = customer;
  const verify = async () => {
    await api.manage.customers.verification(id);
    notify({ text: `A link will be sent to ${email}` });
    await changed();
  };
  return (
    <section class="card section" aria-label="Customer">
      <dl class="facts">
        <dt>E-mail</dt>
        <dd>
          <a href={`mailto:${email}`}>{email}</a>{" "}
          {is_verified ? <Badge text="Verified" icon="check" tone="ok" /> : <Badge text="Not verified" icon="unknown" />}
        </dd>
        <dt>Phone</dt>
        <dd>{phone === null ? "–" : <a href={phoneLink(phone)}>{phone}</a>}</dd>
        <dt>Mail about alerts</dt>
        <dd>
          {mailOf(customer)}
          {may("admin") ? (
            <>
              ; <a href={href(`/channels?${new URLSearchParams({ view: "notifications", customer_id: id })}`)}>its mail</a>
            </>
          ) : null}
        </dd>
        <dt>Language</dt>
        <dd>{notifications.language === null ? "by the country of the tank" : LANGUAGES[notifications.language]}</dd>
        <dt>Last seen</dt>
        <dd>{last_seen_at === null ? "never" : dateTime(last_seen_at)}</dd>
        <dt>Created</dt>
        <dd>{dateTime(created_at)}</dd>
        <dt>Id</dt>
        <dd>
          <code>{id}</code>
        </dd>
      </dl>
      {is_verified || deleted || !may("dispatcher") ? null : (
        <ActionButton act={verify}>Send a link to verify the address</ActionButton>
      )}
    </section>
  );
}

function mailOf({ is_verified, notifications: { unsubscribed_at } }: ManagedCustomer): string {
  if (unsubscribed_at !== null) return `not wanted, since ${dateTime(unsubscribed_at)}`;
  return is_verified ? "sent when a tank is low" : "none until the address is verified";
}

const Place = ({ of }: { readonly of: FleetTank["tank"]["location"] }) => (
  <span class="clamp" dir="auto" title={place(of)}>
    {place(of) || "–"}
  </span>
);

const TANKS: readonly Column<FleetTank>[] = [
  {
    label: "Tank",
    look: "title",
    cell: ({ tank }) => (
      <a href={href(tankPath(tank.id))} dir="auto">
        {tank.name}
      </a>
    ),
  },
  { label: "Place", cell: ({ tank }) => <Place of={tank.location} /> },
  { label: "Level", cell: (entry) => <FillBar entry={entry} /> },
  {
    label: "Last reading",
    cell: ({ latest }) => (latest === null ? <span class="dim">never</span> : <Time at={latest.created_at} />),
  },
  {
    label: "Alerts",
    cell: ({ alerts }) =>
      alerts.length === 0 ? (
        <span class="dim">none</span>
      ) : (
        <span class="badges">
          {alerts.map((alert) => (
            <AlertBadge key={alert.id} alert={alert} />
          ))}
        </span>
      ),
  },
];

function Tanks({ id }: { readonly id: string }) {
  const page = pageInUrl();
  const live = useLive(`tanks ${id} ${page}`, (signal) => api.insight.fleet.list({ owner_id: id, page, size: SIZE, signal }));
  const empty = (
    <Empty title="No tanks yet">
      {may("dispatcher") ? <p>“Add tank” above registers the first one; you need the id of its device.</p> : null}
    </Empty>
  );
  return <ObjectList label="Tanks" live={live} columns={TANKS} idOf={({ tank }) => tank.id} empty={empty} />;
}

const DELETED_TANKS: readonly Column<ManagedTank>[] = [
  {
    label: "Tank",
    look: "title",
    cell: ({ id, name }) => (
      <a href={href(tankPath(id))} dir="auto">
        {name}
      </a>
    ),
  },
  { label: "Place", cell: ({ location }) => <Place of={location} /> },
  { label: "Device", cell: ({ assigned_device_id }) => <code>{assigned_device_id}</code> },
];

/** Each is restored on its own screen. */
function DeletedTanks({ id }: { readonly id: string }) {
  const page = pageInUrl();
  const live = useLive(`deleted tanks ${id} ${page}`, (signal) =>
    api.manage.tanks.list({ owner_id: id, deleted: true, page, size: SIZE, signal }),
  );
  return (
    <ObjectList
      label="Deleted tanks"
      live={live}
      columns={DELETED_TANKS}
      idOf={(tank) => tank.id}
      empty={<Empty title="No deleted tanks" />}
    />
  );
}

function CustomerSessions({ id }: { readonly id: string }) {
  const live = useLive(`sessions of ${id}`, (signal) => api.manage.customers.sessions(id, { size: MAX_SESSIONS, signal }));
  return (
    <section class="section" aria-labelledby="sessions">
      <h2 id="sessions">Where this customer is signed in</h2>
      <Sessions live={live} end={(session) => api.manage.sessions.delete(session.id)} />
    </section>
  );
}
