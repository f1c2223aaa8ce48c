// The form to change a tank. Its fields show the errors of the API; a change by somebody else meanwhile is not overwritten.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiError, type FieldError, type ManagedCustomer, type ManagedTank } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { Dialog } from "../components/dialog.tsx";
import { Checkbox, Field, SelectField } from "../components/field.tsx";
import { notify } from "../components/notices.tsx";
import { findCustomers, Picker } from "../components/picker.tsx";
import { messageOf } from "../components/states.tsx";
import { COORDINATES, changeOf, PLACES } from "./change.ts";
import { UNITS, USE_CASES } from "./options.ts";

type Props = { readonly id: string; readonly close: () => void; readonly changed: () => Promise<void> };

/** `number`: of the attempt to load it. */
type Loaded = { readonly tank: ManagedTank; readonly owner: ManagedCustomer; readonly number: number };

const MORE = ["capacity", "capacity_unit", "use_case", "custom_id", "owner_id"];

async function load(id: string, number: number): Promise<Loaded> {
  const tank = await api.manage.tanks.retrieve(id);
  return { tank, owner: await api.manage.customers.retrieve(tank.owner_id), number };
}

export function EditTank({ id, close, changed }: Props) {
  const [loaded, setLoaded] = useState<Loaded>();
  const [errors, setErrors] = useState<readonly FieldError[]>([]);
  const [maySwap, setMaySwap] = useState(false);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    setErrors([]);
    load(id, attempt).then(setLoaded, (error) => {
      notify({ text: messageOf(error), icon: "alert" });
      close();
    });
  }, [id, attempt]);
  if (loaded === undefined) return null;
  const { tank, owner, number } = loaded;
  const errorOf = (field: string) => errors.find((error) => error.field === field)?.message;

  async function submit(form: FormData): Promise<void> {
    const { change, invalid } = changeOf(tank, form);
    setErrors(invalid);
    if (invalid.length > 0) throw new Error("Some fields are not valid.");
    if (Object.keys(change).length === 0) return;
    try {
      await api.manage.tanks.update(id, change, { ifMatch: tank, ...(form.has("swap") ? { swap: true } : {}) });
    } catch (error) {
      throw explained(error);
    }
    notify({ text: "The tank was changed" });
    await changed();
  }

  function explained(error: unknown): unknown {
    if (!(error instanceof ApiError)) return error;
    setErrors(error.errors);
    if (error.code === "device_in_use") {
      setErrors([{ field: "assigned_device_id", message: error.message }]);
      setMaySwap(true);
      return new Error("This device serves another tank.");
    }
    if (error.code === "precondition_failed") setAttempt(attempt + 1);
    return error;
  }

  const text = (name: string, label: string, value: string | number | null, more = {}) => (
    <Field label={label} name={name} defaultValue={value === null ? "" : String(value)} error={errorOf(name)} {...more} />
  );
  return (
    <Dialog title="Edit tank" action="Save" submit={submit} close={close} key={number}>
      {number === 0 ? null : (
        <p class="hint" role="alert">
          Somebody else has changed this tank since you opened the form, and nothing was stored. The form has the present values
          now: change them again.
        </p>
      )}
      {text("name", "Name", tank.name, { required: true, maxLength: 512 })}
      {text("assigned_device_id", "Device", tank.assigned_device_id, { required: true, autoComplete: "off" })}
      {maySwap ? <Checkbox name="swap">Exchange the devices of the two tanks</Checkbox> : null}
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
          help: "This long without a reading, such as 90m, 36h or 3d. Empty: as the service is set for all tanks.",
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
      <More isOpen={errors.some(({ field }) => MORE.includes(field))}>
        <div class="field-grid">
          {text("capacity", "Capacity", tank.capacity, { inputMode: "decimal" })}
          <SelectField label="Unit" name="capacity_unit" options={UNITS} defaultValue={tank.capacity_unit} />
          <SelectField label="Use" name="use_case" options={USE_CASES} defaultValue={tank.use_case ?? ""} />
          {text("custom_id", "Custom id", tank.custom_id, { maxLength: 512, dir: "auto" })}
        </div>
        <Picker
          label="Customer"
          help="Another customer sees the tank from then on, with all its readings."
          placeholder="Beginning of a name"
          name="owner_id"
          initial={{ id: owner.id, title: owner.name, detail: owner.email }}
          search={findCustomers}
        />
      </More>
    </Dialog>
  );
}

type MoreProps = { readonly isOpen: boolean; readonly children: ComponentChildren };

/** Fields that are rarely changed. `isOpen`: one of them has an error. */
function More({ isOpen, children }: MoreProps) {
  const [isToggled, setToggled] = useState(false);
  return (
    <details open={isOpen || isToggled} onToggle={({ currentTarget }) => setToggled(currentTarget.open)}>
      <summary class="strong">More</summary>
      <div class="form more">{children}</div>
    </details>
  );
}
