// Sets up a device: the reading that is pending, the tank it is assigned to, and how its payloads are read.

import { useEffect, useState } from "preact/hooks";
import { ApiError, type ChangedDevice, type InspectedDevice, type ManagedTank } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { useConflict } from "../components/conflict.ts";
import { Dialog, InfoDialog } from "../components/dialog.tsx";
import { Checkbox, DecimalField, Field, SelectField } from "../components/field.tsx";
import { notify } from "../components/notices.tsx";
import { type Choice, Picker } from "../components/picker.tsx";
import { counted, dateTime, percent } from "../format.ts";
import { inUseMessage } from "./in-use.ts";
import { CUSTOM, changeOf, describeShape, KEEP, PERCENT, profileOptions } from "./profiles.ts";

type LoadedDevice = { readonly device: InspectedDevice; readonly tank: ManagedTank | undefined };

type Props = { readonly given: LoadedDevice; readonly close: () => void; readonly changed: () => Promise<void> };

export async function loadDevice(id: string): Promise<LoadedDevice> {
  const device = await api.manage.devices.retrieve(id);
  return { device, tank: device.tank_id === null ? undefined : await api.manage.tanks.retrieve(device.tank_id) };
}

/** For those who may not change it. */
export const DeviceInfo = ({ device, close }: Pick<LoadedDevice, "device"> & Pick<Props, "close">) => (
  <InfoDialog title={`Device ${device.id}`} close={close}>
    <PendingReading device={device} />
    <p>To assign a tank or a profile, the role of a dispatcher is needed.</p>
  </InfoDialog>
);

export function DeviceDialog({ given, close, changed }: Props) {
  const { latest, attempt } = useConflict("device", given, () => loadDevice(given.device.id));
  const { device, tank } = latest;
  const [chosen, setChosen] = useState(tank?.id);
  const [profile, setProfile] = useState(KEEP);
  const [canSwap, setCanSwap] = useState(false);
  useEffect(() => setChosen(tank?.id), [tank?.id]);
  const submit = async (form: FormData) => {
    const change = changeOf(form, tank?.id);
    if (Object.keys(change).length === 0) throw new Error("Change the tank, the profile or the shape first.");
    const { shape, ...ofDevice } = change;
    const wanted = { device: ofDevice, ...(shape === undefined ? {} : { tank: { shape } }) };
    const options = { ifMatch: device, ...(form.has("swap") ? { swap: true } : {}) };
    try {
      const stored = await attempt(api.manage.devices.update(device.id, change, options), wanted);
      notify({ text: "released" in stored ? resultOf(stored) : "The device was changed" });
    } catch (error) {
      if (!(error instanceof ApiError && error.code === "device_in_use")) throw error;
      setCanSwap(true);
      throw new Error(await inUseMessage(device.id));
    }
    await changed();
  };
  return (
    <Dialog title={`Set up ${device.id}`} action="Save" submit={submit} close={close}>
      <PendingReading device={device} />
      <Picker
        key={tank?.id}
        label="Tank"
        placeholder="Tank, customer, phone, city"
        name="tank_id"
        help="The tank's readings come from this device from now on, and the pending ones are stored for it. A new tank is added on the page of its customer."
        initial={tank === undefined ? undefined : { id: tank.id, title: tank.name }}
        {...(tank === undefined ? { none: "No tank yet" } : {})}
        search={findTanks}
        onChoose={(choice) => setChosen(choice?.id)}
      />
      <SelectField
        label="Profile"
        help="Where the value is in the payload, and what it measures."
        name="profile"
        options={profileOptions(device.profile)}
        onChange={setProfile}
      />
      {profile === CUSTOM ? <CustomProfile /> : null}
      {chosen === undefined || profile === PERCENT ? null : <ShapeFields key={chosen} tankId={chosen} />}
      {canSwap ? <Checkbox name="swap">Swap the devices of the two tanks</Checkbox> : null}
    </Dialog>
  );
}

async function findTanks(search: string, signal: AbortSignal): Promise<readonly Choice[]> {
  const { data } = await api.insight.fleet.list({ size: 6, signal, ...(search === "" ? {} : { search }) });
  return data.map(({ tank, customer }) => ({
    id: tank.id,
    title: tank.name,
    detail: `${customer.name}, now ${tank.assigned_device_id}`,
  }));
}

function PendingReading({ device }: { readonly device: InspectedDevice }) {
  const { pending, pending_reason, newest_pending } = device;
  if (newest_pending === null) return <p class="dim">No readings of it are pending.</p>;
  const { created_at, fill_percentage, payload } = newest_pending;
  return (
    <div class="pending">
      <p>
        <span class="strong">{counted(pending, "reading")}</span> pending
        {pending_reason === null ? "." : `: ${pending_reason}`}
      </p>
      <p class="dim">The newest, of {dateTime(created_at)}:</p>
      <pre class="payload">{fill_percentage === null ? indented(payload ?? "") : percent(fill_percentage)}</pre>
    </div>
  );
}

/** A long payload is cut by the service, and then is no JSON. */
function indented(payload: string): string {
  try {
    return JSON.stringify(JSON.parse(payload), null, 2);
  } catch {
    return payload;
  }
}

const MEASURES = [
  ["distance", "Distance from the sensor down to the surface"],
  ["level", "Level from the bottom up to the surface"],
  ["volume", "Volume"],
  ["percent", "Fill percentage"],
] as const;
const PROFILE_UNITS = ["mm", "cm", "m", "in", "ft", "liters", "gallons", "m3"].map((unit) => [unit, unit] as const);
const LENGTHS = ["cm", "mm", "m", "in", "ft"].map((unit) => [unit, unit] as const);

const CustomProfile = () => (
  <fieldset class="fieldset">
    <legend>Value in the payload</legend>
    <Field label="Path" help="Names separated by dots, such as distance.value" name="profile.value" required spellcheck={false} />
    <SelectField label="It measures" name="profile.measures" options={MEASURES} />
    <SelectField label="Unit" name="profile.unit" options={[["", "none, for a percentage"], ...PROFILE_UNITS]} />
  </fieldset>
);

/** What a height means. Needed for profiles that measure a distance or a level. */
function ShapeFields({ tankId }: { readonly tankId: string }) {
  const [tank, setTank] = useState<ManagedTank>();
  const [kind, setKind] = useState("");
  useEffect(() => {
    api.manage.tanks.retrieve(tankId).then(setTank, () => {});
  }, [tankId]);
  return (
    <>
      <SelectField
        label="Shape of the tank"
        help="Converts a distance or a level to a fill percentage."
        name="shape"
        options={[
          ["", `Keep: ${tank === undefined ? "…" : describeShape(tank.shape)}`],
          ["upright", "Upright, or rectangular"],
          ["horizontal_cylinder", "Horizontal cylinder"],
        ]}
        onChange={setKind}
      />
      {kind === "" ? null : (
        <fieldset class="fieldset">
          <legend>Inner dimensions</legend>
          <div class="field-grid">
            {kind === "upright" ? <Length label="Height" name="height" /> : <Length label="Diameter" name="diameter" />}
            <SelectField label="Unit" name="shape.unit" options={LENGTHS} />
            <Length label="Sensor height above the bottom" name="sensor_height" isOptional />
          </div>
        </fieldset>
      )}
    </>
  );
}

type LengthProps = { readonly label: string; readonly name: string; readonly isOptional?: boolean };

const Length = ({ label, name, isOptional = false }: LengthProps) => (
  <DecimalField label={label} name={`shape.${name}`} required={!isOptional} />
);

function resultOf({ released, pending, pending_reason, replaced_device_id }: ChangedDevice): string {
  const parts = [
    released === null ? "Saved" : `${counted(released.readings, "pending reading")} stored`,
    released === null || released.rejected === 0 ? "" : `, ${counted(released.rejected, "reading")} not readable`,
    replaced_device_id === null ? "" : `, ${replaced_device_id} replaced`,
    pending === 0 ? "" : `. ${counted(pending, "reading")} still pending${pending_reason === null ? "" : `: ${pending_reason}`}`,
  ];
  return parts.join("");
}
