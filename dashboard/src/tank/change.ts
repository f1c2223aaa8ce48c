// What the form of a tank changes: only the fields that differ. What is left empty is removed where that is possible.

import type { ManagedTank, TankChange } from "../../../client/src/index.ts";
import { decimalOf, textIn } from "../components/form.ts";
import { UNITS, USE_CASES } from "./options.ts";

export const PLACES = {
  street: "Street",
  street_number: "Number",
  postal_code: "Postal code",
  city: "City",
  district: "District",
  region: "Region",
  country: "Country",
} as const;
export const COORDINATES = { latitude: "Latitude", longitude: "Longitude" } as const;

export function changeOf(tank: ManagedTank, form: FormData): TankChange {
  const given = (name: string): string => textIn(form, name);
  /** What is no number is sent as it is, and "" where one is required: the response then has an error of the field. */
  const numberIn = (name: string): number | string | null => {
    const text = given(name);
    const number = decimalOf(text);
    return text === "" ? null : Number.isFinite(number) ? number : text;
  };
  const wanted = {
    name: given("name"),
    min_fill_alert_percentage: numberIn("min_fill_alert_percentage") ?? "",
    assigned_device_id: given("assigned_device_id"),
    capacity: numberIn("capacity") ?? "",
    capacity_unit: chosen(UNITS, given("capacity_unit")),
    use_case: chosen(USE_CASES, given("use_case")) || null,
    custom_id: given("custom_id") || null,
    owner_id: given("owner_id"),
  };
  const alerts = {
    runs_low_soon: form.has("alerts.runs_low_soon"),
    leak: form.has("alerts.leak"),
    silent_after: given("alerts.silent_after") || null,
  };
  const location = {
    ...Object.fromEntries(Object.keys(PLACES).map((name) => [name, given(`location.${name}`) || null])),
    ...Object.fromEntries(Object.keys(COORDINATES).map((name) => [name, numberIn(`location.${name}`)])),
  };
  return {
    ...differing(wanted, tank),
    ...within("alerts", differing(alerts, tank.alerts)),
    ...within("location", differing(location, tank.location)),
  };
}

const chosen = <T extends string>(options: readonly (readonly [T, string])[], given: string): T | undefined =>
  options.map(([value]) => value).find((value) => value === given);

function differing(wanted: object, current: object): object {
  const before = current as Readonly<Record<string, unknown>>;
  return Object.fromEntries(Object.entries(wanted).filter(([name, value]) => value !== undefined && value !== before[name]));
}

const within = (name: string, fields: object): object => (Object.keys(fields).length === 0 ? {} : { [name]: fields });
