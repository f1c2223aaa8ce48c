// Customers: search, and create one.

import type { ManagedCustomer } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { Button } from "../components/button.tsx";
import { useDialog } from "../components/dialog.tsx";
import { type Column, ObjectList, pageInUrl, Tabs, tabInUrl } from "../components/list.tsx";
import { Screen } from "../components/screen.tsx";
import { SearchField } from "../components/search-field.tsx";
import { Empty } from "../components/states.tsx";
import { Time } from "../components/time.tsx";
import { counted, phoneLink, whole } from "../format.ts";
import { useLive } from "../live.ts";
import { customerPath, href, navigate, query } from "../location.ts";
import { may } from "../session.ts";
import { CustomerDialog } from "./dialogs.tsx";

const SIZE = 25;
const VIEWS = [
  ["existing", "Customers"],
  ["deleted", "Deleted"],
] as const;

const COLUMNS: readonly Column<ManagedCustomer>[] = [
  {
    label: "Name",
    look: "title",
    cell: ({ id, name }) => (
      <a href={href(customerPath(id))} dir="auto">
        {name}
      </a>
    ),
  },
  { label: "E-mail", cell: ({ email }) => email },
  { label: "Phone", cell: ({ phone }) => (phone === null ? <span class="dim">–</span> : <a href={phoneLink(phone)}>{phone}</a>) },
  { label: "Tanks", look: "number", cell: ({ tank_count }) => whole(tank_count) },
  {
    label: "Last seen",
    cell: ({ last_seen_at }) => (last_seen_at === null ? <span class="dim">never</span> : <Time at={last_seen_at} />),
  },
];

export default function Customers() {
  const view = tabInUrl("view", VIEWS);
  const search = (query.value.get("search") ?? "").trim();
  const request = { ...(search === "" ? {} : { search }), deleted: view === "deleted", page: pageInUrl(), size: SIZE };
  const live = useLive(JSON.stringify(request), (signal) => api.manage.customers.list({ ...request, signal }));
  const dialog = useDialog();
  const create = () => dialog.open((close) => <CustomerDialog close={close} done={({ id }) => navigate(customerPath(id))} />);
  return (
    <Screen
      title="Customers"
      summary={
        live.data === undefined ? undefined : `${counted(live.data.total_items, "customer")}${search === "" ? "" : " found"}`
      }
      actions={
        may("dispatcher") ? (
          <Button onClick={create} look="primary">
            Add customer
          </Button>
        ) : undefined
      }
    >
      <search class="toolbar">
        <SearchField label="Search customers" placeholder="Name, e-mail, phone, id" />
        <Tabs label="Which customers" name="view" options={VIEWS} />
      </search>
      <ObjectList
        label="Customers"
        live={live}
        columns={COLUMNS}
        idOf={({ id }) => id}
        empty={<NoCustomers isDeleted={view === "deleted"} search={search} />}
      />
      {dialog.shown}
    </Screen>
  );
}

function NoCustomers({ isDeleted, search }: { readonly isDeleted: boolean; readonly search: string }) {
  if (search !== "") {
    return (
      <Empty title="No customer matches">
        <p>Every word must be part of the name, the e-mail address, the phone number or the id.</p>
        <p>
          <a href={href("/customers")}>Show all customers</a>
        </p>
      </Empty>
    );
  }
  if (isDeleted) return <Empty title="No deleted customers" />;
  return (
    <Empty title="No customers yet">
      <HowToAdd />
    </Empty>
  );
}

function HowToAdd() {
  if (!may("dispatcher")) return <p>Dispatchers and administrators can add customers.</p>;
  return (
    <>
      <p>Add the first one here, or many from a CSV file, on the computer that runs the service:</p>
      <p>
        <code>tank-monitor provision FILE</code>
      </p>
    </>
  );
}
