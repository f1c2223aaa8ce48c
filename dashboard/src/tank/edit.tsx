// The form to change a tank. Its fields show the errors of the API; a change by somebody else meanwhile is not overwritten.

import { useEffect, useState } from "preact/hooks";
import { ApiError, type FieldError, type ManagedTank, type TankChange } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { Dialog } from "../components/dialog.tsx";
import { Field } from "../components/field.tsx";
import { notify } from "../components/notices.tsx";
import { messageOf } from "../components/states.tsx";

type Props = { readonly id: string; readonly close: () => void; readonly changed: () => Promise<void> };

const PLACES = {
  street: "Street",
  street_number: "Number",
  postal_code: "Postal code",
  city: "City",
  region: "Region",
  country: "Country",
} as const;
const COORDINATES = { latitude: "Latitude", longitude: "Longitude" } as const;

const NOT_A_NUMBER = "must be a number, with a point";

export function EditTank({ id, close, changed }: Props) {
  const [tank, setTank] = useState<ManagedTank>();
  const [errors, setErrors] = useState<readonly FieldError[]>([]);
  const [maySwap, setMaySwap] = useState(false);
  const [isOutdated, setOutdated] = useState(false);
  const load = () => {
    setErrors([]);
    api.manage.tanks.retrieve(id).then(setTank, (error) => {
      notify({ text: messageOf(error), icon: "alert" });
      close();
    });
  };
  useEffect(load, [id]);
  if (tank === undefined) return null;
  const errorOf = (field: string) => errors.find((error) => error.field === field)?.message;

  async function submit(form: FormData): Promise<void> {
    if (tank === undefined) return;
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
    if (error.errors.length > 0) return new Error("Some fields are not valid.");
    if (error.code === "device_in_use") {
      setErrors([{ field: "assigned_device_id", message: error.message }]);
      setMaySwap(true);
      return new Error("This device serves another tank.");
    }
    if (error.code !== "precondition_failed") return error;
    load();
    setOutdated(true);
    return error;
  }

  const text = (name: string, label: string, value: string | number | null, more = {}) => (
    <Field label={label} name={name} defaultValue={value === null ? "" : String(value)} error={errorOf(name)} {...more} />
  );
  return (
    <Dialog title="Edit tank" action="Save" submit={submit} close={close} key={tank.updated_at}>
      {isOutdated ? (
        <p class="hint" role="alert">
          Somebody else has changed this tank since you opened the form, and nothing was stored. The form has the present values
          now: change them again.
        </p>
      ) : null}
      {text("name", "Name", tank.name, { required: true, maxLength: 512 })}
      {text("min_fill_alert_percentage", "Alert threshold in %", tank.min_fill_alert_percentage, {
        inputMode: "numeric",
        required: true,
        help: "An alert opens when the level is at or below it.",
      })}
      {text("assigned_device_id", "Device", tank.assigned_device_id, { required: true, autoComplete: "off" })}
      {maySwap ? (
        <label class="check">
          <input type="checkbox" name="swap" /> Exchange the devices of the two tanks
        </label>
      ) : null}
      <fieldset class="fieldset">
        <legend>Location</legend>
        <div class="field-grid">
          {Object.entries(PLACES).map(([name, label]) =>
            text(`location.${name}`, label, tank.location[name as keyof typeof PLACES]),
          )}
          {Object.entries(COORDINATES).map(([name, label]) =>
            text(`location.${name}`, label, tank.location[name as keyof typeof COORDINATES]),
          )}
        </div>
      </fieldset>
    </Dialog>
  );
}

type Change = { readonly change: TankChange; readonly invalid: readonly FieldError[] };

/** Only the fields that differ. What is left empty is removed where that is possible. */
function changeOf(tank: ManagedTank, form: FormData): Change {
  const invalid: FieldError[] = [];
  const given = (name: string): string => String(form.get(name) ?? "").trim();
  const numberIn = (name: string): number | null => {
    const text = given(name);
    if (text !== "" && !Number.isFinite(Number(text))) invalid.push({ field: name, message: NOT_A_NUMBER });
    return text === "" ? null : Number(text);
  };
  const location = {
    ...Object.fromEntries(Object.keys(PLACES).map((name) => [name, given(`location.${name}`) || null])),
    ...Object.fromEntries(Object.keys(COORDINATES).map((name) => [name, numberIn(`location.${name}`)])),
  };
  const threshold = numberIn("min_fill_alert_percentage");
  const wanted = {
    name: given("name"),
    min_fill_alert_percentage: threshold ?? tank.min_fill_alert_percentage,
    assigned_device_id: given("assigned_device_id"),
  };
  const moved = differing(location, tank.location);
  const change = { ...differing(wanted, tank), ...(Object.keys(moved).length === 0 ? {} : { location: moved }) };
  return { change, invalid };
}

function differing(wanted: object, present: object): object {
  const before = present as Readonly<Record<string, unknown>>;
  return Object.fromEntries(Object.entries(wanted).filter(([name, value]) => value !== before[name]));
}
