// Keys of the API. The secret of a key is shown once, when it is created.

import type { CreatedKey, Key, NewKey } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { Badge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { Dialog, type OpenDialog, SecretDialog, useDialog } from "../components/dialog.tsx";
import { Field, SelectField } from "../components/field.tsx";
import { withFocus } from "../components/focus.ts";
import { changedFields, textIn } from "../components/form.ts";
import { useIdempotencyKey } from "../components/idempotency.ts";
import { type Column, ObjectList, pageInUrl } from "../components/list.tsx";
import { customerOf, type NameOf, useNames } from "../components/names.ts";
import { notify } from "../components/notices.tsx";
import { useComplete } from "../components/objects.ts";
import { CustomerPicker } from "../components/picker.tsx";
import { Screen } from "../components/screen.tsx";
import { Empty } from "../components/states.tsx";
import { Time } from "../components/time.tsx";
import { counted } from "../format.ts";
import { useLive } from "../live.ts";
import { customerPath, href } from "../location.ts";

const SIZE = 25;

export default function Keys() {
  const page = pageInUrl();
  const keys = useLive(`keys ${page}`, (signal) => api.manage.keys.list({ page, size: SIZE, signal }));
  const nameOf = useNames((keys.data?.data ?? []).flatMap(customerOf));
  const live = useComplete(keys, nameOf);
  const dialog = useDialog();
  const showSecret = ({ name, secret }: CreatedKey) =>
    dialog.open((close) => (
      <SecretDialog
        title={`Key ${name}`}
        value={secret}
        ifLost="Replace the key: the new one has a secret that is shown."
        close={close}
      >
        <p>Copy it now: it is not stored, and is shown only this once. Clients send it as the header X-API-Key.</p>
      </SecretDialog>
    ));
  const created = async (key: CreatedKey) => {
    showSecret(key);
    await live.refresh();
  };
  const columns: readonly Column<Key>[] = [
    ...columnsWith(nameOf),
    {
      label: "Actions",
      look: "buttons",
      cell: (key) => <KeyActions of={key} open={dialog.open} changed={live.refresh} created={created} />,
    },
  ];
  return (
    <Screen
      title="Keys"
      summary={live.data === undefined ? undefined : counted(live.data.total_items, "key")}
      actions={
        <Button onClick={() => dialog.open((close) => <CreateDialog close={close} done={created} />)} look="primary">
          Create key
        </Button>
      }
    >
      <ObjectList
        label="Keys"
        live={live}
        columns={columns}
        idOf={({ id }) => id}
        empty={
          <Empty title="No keys yet">
            <p>Programs and gateways use a key: one that may send readings, another that may read.</p>
          </Empty>
        }
      />
      {dialog.shown}
    </Screen>
  );
}

const columnsWith = (nameOf: NameOf): readonly Column<Key>[] => [
  { label: "Name", look: "title", cell: ({ name }) => <span dir="auto">{name}</span> },
  { label: "Role", cell: ({ role }) => ROLE_LABELS[role] },
  { label: "Limited to", cell: (key) => <Scope of={key} nameOf={nameOf} /> },
  { label: "Rate", cell: (key) => <Rate of={key} /> },
  { label: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
  {
    label: "Expires",
    cell: ({ expires_at }) => (expires_at === null ? <span class="dim">never</span> : <Time at={expires_at} />),
  },
  { label: "State", cell: (key) => <State of={key} /> },
];

const ROLE_LABELS: Readonly<Record<Key["role"], string>> = {
  read: "read",
  ingest: "send readings",
  manage: "read and change everything",
  metrics: "read metrics",
};
const ROLES = Object.keys(ROLE_LABELS) as Key["role"][];

/** Where none is set, keys of customers have the default rate of the service, other keys none. */
function Rate({ of: { rate, customer_id } }: { readonly of: Key }) {
  if (rate !== null) return <>{rate} per second</>;
  return <span class="dim">{customer_id === null ? "none" : "default"}</span>;
}

type ScopeProps = { readonly of: Key; readonly nameOf: NameOf };

function Scope({ of: { customer_id, device_id }, nameOf }: ScopeProps) {
  if (customer_id === null && device_id === null) return <span class="dim">not limited</span>;
  return (
    <>
      {customer_id === null ? null : (
        <a class="clamp" href={href(customerPath(customer_id))} dir="auto" title={nameOf(customer_id)}>
          {nameOf(customer_id) ?? customer_id}
        </a>
      )}
      {device_id === null ? null : (
        <span class="clamp" title={device_id}>
          device {device_id}
        </span>
      )}
    </>
  );
}

function State({ of: { state, replaced_by } }: { readonly of: Key }) {
  if (state !== "active") return <Badge text={STATES[state]} icon="close" />;
  // Until it expires.
  if (replaced_by !== null) return <Badge text="Replaced" icon="unknown" />;
  return <Badge text="Active" icon="check" tone="ok" />;
}

const STATES = { revoked: "Revoked", expired: "Expired", customer_deleted: "Customer deleted" } as const;

type KeyActionsProps = {
  readonly of: Key;
  readonly open: OpenDialog;
  readonly changed: () => Promise<void>;
  readonly created: (key: CreatedKey) => Promise<void>;
};

function KeyActions({ of: key, open, changed, created }: KeyActionsProps) {
  if (key.state !== "active") return null;
  return (
    <>
      <Button onClick={() => open((close) => <EditDialog of={key} close={close} done={changed} />)} of={key.name}>
        Edit
      </Button>
      {key.replaced_by === null ? (
        <Button onClick={() => open((close) => <ReplaceDialog of={key} close={close} done={created} />)} of={key.name}>
          Replace
        </Button>
      ) : null}
      <Button
        onClick={() => withFocus(open)((close) => <RevokeDialog of={key} close={close} done={changed} />)}
        of={key.name}
        look="quiet"
      >
        Revoke
      </Button>
    </>
  );
}

type Props<Result> = { readonly close: () => void; readonly done: (result: Result) => Promise<void> };

function CreateDialog({ close, done }: Props<CreatedKey>) {
  const once = useIdempotencyKey();
  const submit = async (form: FormData) => {
    const [customer, device, expires] = ["customer_id", "device_id", "expires_at"].map((name) => textIn(form, name));
    const fields: NewKey = {
      name: textIn(form, "name"),
      role: ROLES.find((role) => role === form.get("role")) ?? "read",
      ...(customer ? { customer_id: customer } : {}),
      ...(device ? { device_id: device } : {}),
      rate: rateIn(form),
      ...(expires ? { expires_at: new Date(`${expires}T00:00`).toISOString() } : {}),
    };
    await done(await api.manage.keys.create(fields, once(fields)));
  };
  return (
    <Dialog title="Create key" action="Create" submit={submit} close={close}>
      <Field label="Name" name="name" required maxLength={512} help="What it is for." dir="auto" autoFocus />
      <SelectField label="Role" name="role" options={ROLES.map((role) => [role, ROLE_LABELS[role]] as const)} />
      <CustomerPicker label="Only for one customer" name="customer_id" none="All customers" />
      <Field
        label="Only for one device"
        name="device_id"
        help="Optional, and only for keys that send readings."
        spellcheck={false}
        autoComplete="off"
      />
      <RateField rate={null} />
      <Field label="Expires" name="expires_at" type="date" help="At the beginning of this day; without one, never." />
    </Dialog>
  );
}

const RateField = ({ rate }: { readonly rate: number | null }) => (
  <Field
    label="Requests per second"
    name="rate"
    type="number"
    min={0.001}
    max={1_000_000}
    step="any"
    inputMode="decimal"
    defaultValue={rate === null ? "" : String(rate)}
    help="Requests above this rate are rejected. Empty: the default, RATE_LIMIT for keys of one customer, and no limit for others."
  />
);

function rateIn(form: FormData): number | null {
  const rate = textIn(form, "rate");
  return rate === "" ? null : Number(rate);
}

function EditDialog({ of: key, close, done }: Props<void> & { readonly of: Key }) {
  const submit = async (form: FormData) => {
    await api.manage.keys.update(key.id, changedFields(key, { name: textIn(form, "name"), rate: rateIn(form) }));
    notify({ text: "The key was changed" });
    await done();
  };
  return (
    <Dialog title="Edit key" action="Save" submit={submit} close={close}>
      <Field label="Name" name="name" required maxLength={512} defaultValue={key.name} dir="auto" autoFocus />
      <RateField rate={key.rate} />
    </Dialog>
  );
}

const OVERLAPS = [
  ["24h", "For a day"],
  ["168h", "For a week"],
  ["0s", "No: it stops working at once"],
] as const;

function ReplaceDialog({ of: key, close, done }: Props<CreatedKey> & { readonly of: Key }) {
  const submit = async (form: FormData) => done(await api.manage.keys.rotate(key.id, { overlap: String(form.get("overlap")) }));
  return (
    <Dialog title={`Replace ${key.name}?`} action="Replace" submit={submit} close={close}>
      <p>A new key with the same permissions is created, and its secret is shown once.</p>
      <SelectField label="The old key still works" name="overlap" options={OVERLAPS} />
    </Dialog>
  );
}

function RevokeDialog({ of: key, close, done }: Props<void> & { readonly of: Key }) {
  const submit = async () => {
    await api.manage.keys.delete(key.id);
    notify({ text: `${key.name} was revoked` });
    await done();
  };
  return (
    <Dialog title={`Revoke ${key.name}?`} action="Revoke" isDangerous submit={submit} close={close}>
      <p>Requests with this key are rejected within a second. This cannot be undone; a new key can be created.</p>
    </Dialog>
  );
}
