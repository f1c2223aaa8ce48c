// Devices: first those with pending readings, which need a tank, a profile or a shape.

import { ApiError, type Device } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { ActionButton } from "../components/action-button.tsx";
import { Badge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { Dialog, useDialog } from "../components/dialog.tsx";
import { withFocus } from "../components/focus.ts";
import { type Column, ObjectList, type Page, pageInUrl, Tabs, tabInUrl } from "../components/list.tsx";
import { notify } from "../components/notices.tsx";
import { useComplete, useTanks } from "../components/objects.ts";
import { Screen } from "../components/screen.tsx";
import { SearchField } from "../components/search-field.tsx";
import { Empty } from "../components/states.tsx";
import { counted } from "../format.ts";
import { useLive } from "../live.ts";
import { href, query, tankPath } from "../location.ts";
import { may } from "../session.ts";
import { describeProfile } from "./profiles.ts";
import { DeviceDialog, DeviceInfo, loadDevice } from "./setup.tsx";

const SIZE = 25;
const VIEWS = [
  ["pending", "With pending readings"],
  ["others", "Others"],
] as const;

export default function Devices() {
  const view = tabInUrl("view", VIEWS);
  const page = pageInUrl();
  const id = (query.value.get("id") ?? "").trim();
  const devices = useLive<Page<Device>>(id === "" ? `devices ${view} ${page}` : `device ${id}`, async (signal) =>
    id === "" ? api.manage.devices.list({ pending: view === "pending", page, size: SIZE, signal }) : deviceWithId(id, signal),
  );
  const tanks = useTanks((devices.data?.data ?? []).flatMap(({ tank_id }) => tank_id ?? []));
  const live = useComplete(devices, tanks);
  const dialog = useDialog();
  const canChange = may("dispatcher");
  const open = withFocus(dialog.open);
  const show = async ({ id }: Device) => {
    const loaded = await loadDevice(id);
    open((close) =>
      canChange ? (
        <DeviceDialog given={loaded} close={close} changed={live.refresh} />
      ) : (
        <DeviceInfo device={loaded.device} close={close} />
      ),
    );
  };
  const remove = (device: Device) => open((close) => <RemoveDialog device={device} close={close} changed={live.refresh} />);
  const columns: readonly Column<Device>[] = [
    { label: "Device", look: "title", cell: ({ id }) => <code>{id}</code> },
    { label: "Pending", cell: (device) => <Pending device={device} /> },
    { label: "Tank", cell: ({ tank_id }) => <TankLink id={tank_id} tanks={tanks} /> },
    { label: "Profile", cell: ({ profile }) => describeProfile(profile) },
    {
      label: "Actions",
      look: "buttons",
      cell: (device) => (
        <>
          <ActionButton act={() => show(device)} of={device.id}>
            {canChange ? "Set up" : "Show"}
          </ActionButton>
          {canChange && device.tank_id === null ? (
            <Button onClick={() => remove(device)} of={device.id} look="quiet">
              Remove
            </Button>
          ) : null}
        </>
      ),
    },
  ];
  return (
    <Screen title="Devices" summary={live.data === undefined ? undefined : counted(live.data.total_items, "device")}>
      <search class="toolbar">
        <SearchField name="id" label="Device id" placeholder="Id of a device" />
        {id === "" ? (
          <Tabs label="Which devices" name="view" options={VIEWS} />
        ) : (
          <a class="button quiet" href={href("/devices")}>
            Show all devices
          </a>
        )}
      </search>
      <ObjectList
        label="Devices"
        live={live}
        columns={columns}
        idOf={(device) => device.id}
        empty={id === "" ? <NoDevices view={view} /> : <NoSuchDevice id={id} />}
      />
      {dialog.shown}
    </Screen>
  );
}

/** A list of one; of none, if there is no such device. */
async function deviceWithId(id: string, signal: AbortSignal): Promise<Page<Device>> {
  const data = await api.manage.devices.retrieve(id, { signal }).then(
    (device) => [device],
    (error) => {
      if (error instanceof ApiError && error.code === "device_unknown") return [];
      throw error;
    },
  );
  return { data, page: 1, size: SIZE, total_pages: 1, total_items: data.length };
}

type LinkProps = { readonly id: string | null; readonly tanks: ReturnType<typeof useTanks> };

function TankLink({ id, tanks }: LinkProps) {
  if (id === null) return <None />;
  const entry = tanks.get(id);
  return (
    <>
      <a href={href(tankPath(id))} dir="auto">
        {entry?.tank.name ?? id}
      </a>
      {entry === undefined ? null : (
        <span class="dim block" dir="auto">
          {entry.customer.name}
        </span>
      )}
    </>
  );
}

const None = () => <span class="dim">none</span>;

function Pending({ device: { pending, dropped } }: { readonly device: Device }) {
  return (
    <>
      {pending === 0 ? <None /> : <Badge text={counted(pending, "reading")} icon="clock" tone="soon" />}
      {dropped === 0 ? null : <span class="dim block">{counted(dropped, "reading")} dropped</span>}
    </>
  );
}

function NoDevices({ view }: { readonly view: string }) {
  return (
    <Empty title={view === "pending" ? "No readings are pending" : "No other devices"}>
      <p>
        {view === "pending"
          ? "A device appears here as soon as it sends readings that have no tank, or that need a profile to be read."
          : "A device is known once it sends readings, or once a tank has it."}
      </p>
      {may("admin") ? (
        <p>
          Devices need a key of the role “send readings”. <a href={href("/keys")}>Create a key</a>
        </p>
      ) : (
        <p>Devices need a key of the role “send readings”, which an administrator creates.</p>
      )}
    </Empty>
  );
}

const NoSuchDevice = ({ id }: { readonly id: string }) => (
  <Empty title="No device has this id">
    <p>
      Enter the whole id. If you know a part of it, <a href={href(`/?search=${encodeURIComponent(id)}`)}>search the fleet</a>: it
      lists the tanks of such devices.
    </p>
  </Empty>
);

type RemoveProps = { readonly device: Device; readonly close: () => void; readonly changed: () => Promise<void> };

function RemoveDialog({ device: { id, pending }, close, changed }: RemoveProps) {
  const submit = async () => {
    await api.manage.devices.delete(id);
    notify({ text: `${id} was removed` });
    await changed();
  };
  return (
    <Dialog title="Remove this device?" action="Remove" isDangerous submit={submit} close={close}>
      <p class="break">
        <code>{id}</code> loses its profile
        {pending === 0 ? "" : `, and ${counted(pending, "pending reading is", "pending readings are")} permanently deleted`}. If
        it sends again, it appears again.
      </p>
    </Dialog>
  );
}
