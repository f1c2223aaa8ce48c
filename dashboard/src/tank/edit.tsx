// The form to change a tank. Its fields show the errors of the API; a change by somebody else meanwhile is not overwritten.

import type { ComponentChildren } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { ApiError, type ManagedCustomer, type ManagedTank } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { Dialog } from "../components/dialog.tsx";
import { Checkbox, Field, FieldErrors, SelectField } from "../components/field.tsx";
import { notify } from "../components/notices.tsx";
import { findCustomers, Picker } from "../components/picker.tsx";
import { ErrorState, Loading } from "../components/states.tsx";
import { COORDINATES, changeOf, PLACES } from "./change.ts";
import { UNITS, USE_CASES } from "./options.ts";

type Props = { readonly id: string; readonly close: () => void; readonly changed: () => Promise<void> };

type Loaded = { readonly tank: ManagedTank; readonly owner: ManagedCustomer; readonly loadedAt: number };

async function load(id: string): Promise<Loaded> {
  const tank = await api.manage.tanks.retrieve(id);
  return { tank, owner: await api.manage.customers.retrieve(tank.owner_id), loadedAt: performance.now() };
}

export function EditTank({ id, close, changed }: Props) {
  const [loaded, setLoaded] = useState<Loaded>();
  const [loadError, setLoadError] = useState<unknown>();
  const [canSwap, setCanSwap] = useState(false);
  const retry = () => {
    setLoadError(undefined);
    load(id).then(setLoaded, setLoadError);
  };
  useEffect(retry, [id]);

  async function submit(form: FormData): Promise<void> {
    if (loaded === undefined) throw new Error("The tank is not loaded yet.");
    const change = changeOf(loaded.tank, form);
    if (Object.keys(change).length === 0) return;
    try {
      await api.manage.tanks.update(id, change, { ifMatch: loaded.tank, ...(form.has("swap") ? { swap: true } : {}) });
    } catch (error) {
      if (error instanceof ApiError && error.code === "device_in_use") setCanSwap(true);
      if (!(error instanceof ApiError) || error.code !== "precondition_failed") throw error;
      setLoaded(await load(id));
      throw new Error(CHANGED_MEANWHILE);
    }
    notify({ text: "The tank was changed" });
    await changed();
  }

  return (
    <Dialog title="Edit tank" action="Save" submit={submit} close={close}>
      {loadError === undefined ? null : <ErrorState error={loadError} retry={retry} />}
      {loaded === undefined && loadError === undefined ? <Loading /> : null}
      {loaded === undefined ? null : <Fields key={loaded.loadedAt} {...loaded} canSwap={canSwap} />}
    </Dialog>
  );
}

const CHANGED_MEANWHILE =
  "Somebody else has changed this tank since you opened the form, and nothing was stored. The form has the present values now: change them again.";

type FieldsProps = Pick<Loaded, "tank" | "owner"> & { readonly canSwap: boolean };

function Fields({ tank, owner, canSwap }: FieldsProps) {
  const first = useRef<HTMLDivElement>(null);
  useEffect(() => first.current?.querySelector("input")?.focus(), []);
  const text = (name: string, label: string, value: string | number | null, more = {}) => (
    <Field label={label} name={name} defaultValue={value === null ? "" : String(value)} {...more} />
  );
  return (
    <>
      <div ref={first}>{text("name", "Name", tank.name, { required: true, maxLength: 512 })}</div>
      {text("assigned_device_id", "Device", tank.assigned_device_id, { required: true, autoComplete: "off" })}
      {canSwap ? <Checkbox name="swap">Exchange the devices of the two tanks</Checkbox> : null}
      <fieldset class="fieldset form">
        <legend>Alerts</legend>
        {text("min_fill_alert_percentage", "Alert threshold in %", tank.min_fill_alert_percentage, {
          inputMode: "numeric",
          required: true,
          help: "An alert opens when the level is at or below it.",
        })}
        <div>
          <Checkbox name="alerts.runs_low_soon" defaultChecked={tank.alerts.runs_low_soon}>
            Alert when it is expected to run low soon
          </Checkbox>
          <Checkbox name="alerts.leak" defaultChecked={tank.alerts.leak}>
            Alert when a leak is suspected
          </Checkbox>
        </div>
        {text("alerts.silent_after", "Silent after", tank.alerts.silent_after, {
          autoComplete: "off",
          help: "This long without a reading, such as 90m, 36h or 3d. Empty: the service default.",
        })}
      </fieldset>
      <fieldset class="fieldset form">
        <legend>Location</legend>
        <div class="field-grid">
          {Object.entries(PLACES).map(([name, label]) =>
            text(`location.${name}`, label, tank.location[name as keyof typeof PLACES], { dir: "auto" }),
          )}
        </div>
        <div class="field-grid">
          {Object.entries(COORDINATES).map(([name, label]) =>
            text(`location.${name}`, label, tank.location[name as keyof typeof COORDINATES]),
          )}
        </div>
      </fieldset>
      <More>
        <div class="field-grid">
          {text("capacity", "Capacity", tank.capacity, { inputMode: "decimal" })}
          <SelectField label="Unit" name="capacity_unit" options={UNITS} defaultValue={tank.capacity_unit} />
          <SelectField label="Use" name="use_case" options={USE_CASES} defaultValue={tank.use_case ?? ""} />
          {text("custom_id", "Custom id", tank.custom_id, { maxLength: 512, dir: "auto" })}
        </div>
        <Picker
          label="Customer"
          help="Another customer sees the tank from then on, with all its readings."
          placeholder="Start of the name"
          name="owner_id"
          initial={{ id: owner.id, title: owner.name, detail: owner.email }}
          search={findCustomers}
        />
      </More>
    </>
  );
}

const MORE = ["capacity", "capacity_unit", "use_case", "custom_id", "owner_id"];

/** Fields that are rarely changed. They are shown when one of them has an error. */
function More({ children }: { readonly children: ComponentChildren }) {
  const [isToggled, setToggled] = useState(false);
  const errors = useContext(FieldErrors);
  const hasError = MORE.some((name) => name in errors);
  return (
    <details open={hasError || isToggled} onToggle={({ currentTarget }) => setToggled(currentTarget.open)}>
      <summary class="strong">More</summary>
      <div class="form more">{children}</div>
    </details>
  );
}
