// The form to change a tank. Its fields show the errors of the API; a change by somebody else meanwhile is not overwritten.

import type { ComponentChildren } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { ApiError, type ManagedCustomer, type ManagedTank } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { useConflict } from "../components/conflict.ts";
import { Dialog } from "../components/dialog.tsx";
import { Checkbox, DecimalField, Field, FieldErrors, SelectField } from "../components/field.tsx";
import { notify } from "../components/notices.tsx";
import { CustomerPicker } from "../components/picker.tsx";
import { ErrorState, Loading } from "../components/states.tsx";
import { inUseMessage } from "../devices/in-use.ts";
import { COORDINATES, changeOf, PLACES } from "./change.ts";
import { UNITS, USE_CASES } from "./options.ts";

type Props = { readonly id: string; readonly close: () => void; readonly changed: () => Promise<void> };

type Loaded = { readonly tank: ManagedTank; readonly owner: ManagedCustomer };

async function load(id: string): Promise<Loaded> {
  const tank = await api.manage.tanks.retrieve(id);
  return { tank, owner: await api.manage.customers.retrieve(tank.owner_id) };
}

export function EditTank({ id, close, changed }: Props) {
  const { latest: loaded, read, attempt } = useConflict<Loaded | undefined>("tank", undefined, () => load(id));
  const [loadError, setLoadError] = useState<unknown>();
  const [canSwap, setCanSwap] = useState(false);
  const retry = () => {
    setLoadError(undefined);
    read().catch(setLoadError);
  };
  useEffect(retry, [id]);

  async function submit(form: FormData): Promise<void> {
    if (loaded === undefined) throw new Error("The tank is not loaded yet.");
    const change = changeOf(loaded.tank, form);
    if (Object.keys(change).length === 0) return;
    try {
      const options = { ifMatch: loaded.tank, ...(form.has("swap") ? { swap: true } : {}) };
      await attempt(api.manage.tanks.update(id, change, options), { tank: change });
    } catch (error) {
      if (!(error instanceof ApiError && error.code === "device_in_use")) throw error;
      setCanSwap(true);
      throw new Error(await inUseMessage(change.assigned_device_id ?? ""));
    }
    notify({ text: "The tank was changed" });
    await changed();
  }

  return (
    <Dialog title="Edit tank" action="Save" submit={submit} close={close}>
      {loadError === undefined ? null : <ErrorState error={loadError} retry={retry} />}
      {loaded === undefined && loadError === undefined ? <Loading /> : null}
      {loaded === undefined ? null : <Fields {...loaded} />}
      {canSwap ? <Checkbox name="swap">Swap the devices of the two tanks</Checkbox> : null}
    </Dialog>
  );
}

/** Keyed by its value, a field is created again when somebody else has changed it. Other fields keep what was typed. */
function Fields({ tank, owner }: Loaded) {
  const first = useRef<HTMLDivElement>(null);
  useEffect(() => first.current?.querySelector("input")?.focus(), []);
  const text = (name: string, label: string, value: string | number | null, more = {}) => (
    <Field key={`${name} ${value}`} label={label} name={name} defaultValue={value === null ? "" : String(value)} {...more} />
  );
  const decimal = (name: string, label: string, value: number, more = {}) => (
    <DecimalField key={`${name} ${value}`} label={label} name={name} defaultValue={String(value)} {...more} />
  );
  const check = (name: string, label: string, isChecked: boolean) => (
    <Checkbox key={`${name} ${isChecked}`} name={name} defaultChecked={isChecked}>
      {label}
    </Checkbox>
  );
  const select = (name: string, label: string, options: typeof UNITS | typeof USE_CASES, value: string) => (
    <SelectField key={`${name} ${value}`} label={label} name={name} options={options} defaultValue={value} />
  );
  return (
    <>
      <div ref={first}>{text("name", "Name", tank.name, { required: true, maxLength: 512 })}</div>
      {text("assigned_device_id", "Device", tank.assigned_device_id, { required: true, autoComplete: "off" })}
      <fieldset class="fieldset form">
        <legend>Alerts</legend>
        {decimal("min_fill_alert_percentage", "Alert threshold in %", tank.min_fill_alert_percentage, {
          required: true,
          help: "An alert opens when the level is at or below it.",
        })}
        <div>
          {check("alerts.runs_low_soon", "Alert when it is expected to run low soon", tank.alerts.runs_low_soon)}
          {check("alerts.leak", "Alert when a leak is suspected", tank.alerts.leak)}
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
          {decimal("capacity", "Capacity", tank.capacity, { isLarge: true })}
          {select("capacity_unit", "Unit", UNITS, tank.capacity_unit)}
          {select("use_case", "Use case", USE_CASES, tank.use_case ?? "")}
          {text("custom_id", "Custom id", tank.custom_id, { maxLength: 512, dir: "auto" })}
        </div>
        <CustomerPicker
          key={owner.id}
          label="Customer"
          help="Another customer sees the tank from then on, with all its readings."
          name="owner_id"
          initial={{ id: owner.id, title: owner.name, detail: owner.email }}
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
    <details
      open={hasError || isToggled}
      onToggle={({ currentTarget }) => setToggled(currentTarget.open)}
      onInvalidCapture={({ currentTarget }) => {
        // At once, so that the browser can show what is wrong.
        currentTarget.open = true;
      }}
    >
      <summary class="strong">More</summary>
      <div class="form more">{children}</div>
    </details>
  );
}
