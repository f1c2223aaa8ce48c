// Users: the members of the operator's staff, who sign in, and what each may do.

import { useState } from "preact/hooks";
import type { User } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { Badge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { Dialog, useDialog } from "../components/dialog.tsx";
import { Field, SelectField } from "../components/field.tsx";
import { withFocus } from "../components/focus.ts";
import { changedFields, textIn } from "../components/form.ts";
import { useIdempotencyKey } from "../components/idempotency.ts";
import { type Column, ObjectList, pageInUrl } from "../components/list.tsx";
import { notify } from "../components/notices.tsx";
import { Screen } from "../components/screen.tsx";
import { MAX_SESSIONS, Sessions } from "../components/sessions.tsx";
import { SignInLinkButton } from "../components/sign-in-link.tsx";
import { Empty } from "../components/states.tsx";
import { Time } from "../components/time.tsx";
import { counted } from "../format.ts";
import { useLive } from "../live.ts";
import { me } from "../me.ts";
import { ROLE_NAMES } from "../session.ts";

const SIZE = 25;

const COLUMNS: readonly Column<User>[] = [
  {
    label: "Name",
    look: "title",
    cell: ({ id, name }) => (
      <>
        <span dir="auto">{name}</span> {id === me.value?.id ? <Badge text="You" icon="check" /> : null}
      </>
    ),
  },
  { label: "E-mail", cell: ({ email }) => email },
  { label: "Role", cell: ({ role }) => <span class="nowrap">{ROLE_NAMES[role]}</span> },
  { label: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
];

export default function Users() {
  const page = pageInUrl();
  const live = useLive(`users ${page}`, (signal) => api.manage.users.list({ page, size: SIZE, signal }));
  const [shownId, setShownId] = useState<string>();
  const shown = live.data?.data.find(({ id }) => id === shownId);
  const dialog = useDialog();
  const edit = (user?: User) => dialog.open((close) => <UserDialog user={user} close={close} changed={live.refresh} />);
  const remove = (user: User) =>
    withFocus(dialog.open)((close) => <RemoveDialog user={user} close={close} changed={live.refresh} />);
  const columns: readonly Column<User>[] = [
    ...COLUMNS,
    {
      label: "Actions",
      look: "buttons",
      cell: (user) => (
        <>
          <Button onClick={() => edit(user)} of={user.name}>
            Edit
          </Button>
          <SignInLinkButton account={user} create={() => api.manage.users.link(user.id)} open={dialog.open} />
          <Button
            aria-expanded={shownId === user.id}
            onClick={() => setShownId(shownId === user.id ? undefined : user.id)}
            of={`of ${user.name}`}
            look="quiet"
          >
            Sessions
          </Button>
          <Button onClick={() => remove(user)} of={user.name} look="quiet">
            Remove
          </Button>
        </>
      ),
    },
  ];
  return (
    <Screen
      title="Users"
      summary={live.data === undefined ? undefined : counted(live.data.total_items, "user")}
      actions={
        <Button onClick={() => edit()} look="primary">
          Add user
        </Button>
      }
    >
      <ObjectList label="Users" live={live} columns={columns} idOf={({ id }) => id} empty={<Empty title="No users" />} />
      {shown === undefined ? null : <UserSessions key={shown.id} user={shown} />}
      {dialog.shown}
    </Screen>
  );
}

function UserSessions({ user }: { readonly user: User }) {
  const live = useLive(`sessions of ${user.id}`, (signal) => api.manage.users.sessions(user.id, { size: MAX_SESSIONS, signal }));
  return (
    <section class="section" aria-labelledby="sessions">
      <h2 id="sessions" dir="auto">
        Where {user.name} is signed in
      </h2>
      <Sessions live={live} end={({ id }) => api.manage.sessions.delete(id)} />
    </section>
  );
}

const ROLES = [
  ["viewer", "Viewer: reads everything but settings"],
  ["dispatcher", "Dispatcher: also handles alerts, customers, tanks and devices"],
  ["admin", "Administrator: also keys, channels, users and audit"],
] as const;

type Props = { readonly close: () => void; readonly changed: () => Promise<void> };

function UserDialog({ user, close, changed }: Props & { readonly user: User | undefined }) {
  const once = useIdempotencyKey();
  const submit = async (form: FormData) => {
    const fields = {
      name: textIn(form, "name"),
      email: textIn(form, "email"),
      role: ROLES.map(([role]) => role).find((role) => role === form.get("role")) ?? "viewer",
    };
    if (user === undefined) await api.manage.users.create(fields, once(fields));
    else await api.manage.users.update(user.id, changedFields(user, fields));
    notify({ text: user === undefined ? `${fields.name} was added` : "The user was changed" });
    await changed();
  };
  return (
    <Dialog
      title={user === undefined ? "Add user" : "Edit user"}
      action={user === undefined ? "Add" : "Save"}
      submit={submit}
      close={close}
    >
      <Field label="Name" name="name" required maxLength={512} defaultValue={user?.name ?? ""} dir="auto" autoFocus />
      <Field
        label="E-mail address"
        name="email"
        type="email"
        required
        maxLength={254}
        defaultValue={user?.email ?? ""}
        help="The link and the code to sign in are sent to it."
      />
      <SelectField label="Role" name="role" options={ROLES} defaultValue={user?.role ?? "viewer"} />
      {user === undefined ? null : (
        <p class="dim">Changing the role or address ends the user's sessions; they have to sign in again.</p>
      )}
    </Dialog>
  );
}

function RemoveDialog({ user, close, changed }: Props & { readonly user: User }) {
  const submit = async () => {
    await api.manage.users.delete(user.id);
    notify({ text: `${user.name} was removed` });
    await changed();
  };
  return (
    <Dialog title={`Remove ${user.name}?`} action="Remove" isDangerous submit={submit} close={close}>
      <p>
        {user.id === me.value?.id ? "This is you: you are signed out at once." : "All sessions of the user end at once."} What the
        user did stays in the audit log. The same address can be added again.
      </p>
    </Dialog>
  );
}
