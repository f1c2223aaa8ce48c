// The flags of tanks, and what they are in the interface.

import type { Field } from "./fields.ts";

export const TANK_FIELDS: readonly Field[] = [
  { flag: "name", path: "name", value: "NAME", words: "the tank's name" },
  { flag: "owner", path: "owner_id", value: "ID", words: "the customer it belongs to" },
  { flag: "device", path: "assigned_device_id", value: "ID", words: "the device that reports for it" },
  { flag: "capacity", path: "capacity", value: "N", words: "how much it holds", kind: "number" },
  { flag: "unit", path: "capacity_unit", value: "UNIT", words: "liters or gallons" },
  {
    flag: "threshold",
    path: "min_fill_alert_percentage",
    value: "N",
    words: "the fill in percent at which it is low",
    kind: "number",
  },
  {
    flag: "use-case",
    path: "use_case",
    value: "WORD",
    words: "residential, commercial or industrial",
    empties: true,
  },
  { flag: "custom-id", path: "custom_id", value: "TEXT", words: "the customer's own name for it", empties: true },
  {
    flag: "shape",
    path: "shape",
    value: "JSON|@FILE",
    words: "what a level means in it: docs/devices.md",
    kind: "json",
    empties: true,
  },
  { flag: "street", path: "location.street", value: "TEXT", words: "where it is", empties: true },
  { flag: "street-number", path: "location.street_number", value: "TEXT", words: "its house number", empties: true },
  { flag: "postal-code", path: "location.postal_code", value: "TEXT", words: "its postal code", empties: true },
  { flag: "city", path: "location.city", value: "TEXT", words: "its city", empties: true },
  { flag: "district", path: "location.district", value: "TEXT", words: "its district", empties: true },
  { flag: "region", path: "location.region", value: "TEXT", words: "its region or state", empties: true },
  { flag: "country", path: "location.country", value: "TEXT", words: "its country", empties: true },
  { flag: "latitude", path: "location.latitude", value: "DEGREES", words: "from -90 to 90", kind: "number", empties: true },
  { flag: "longitude", path: "location.longitude", value: "DEGREES", words: "from -180 to 180", kind: "number", empties: true },
];

export const TANK_ID: Field = { flag: "id", path: "id", value: "ID", words: "an id of your own; otherwise it gets one" };

export const TANK_FILTERS: readonly Field[] = [
  { flag: "name", path: "name", value: "TEXT", words: "those whose name begins so" },
  { flag: "city", path: "city", value: "TEXT", words: "those in a city that begins so" },
  { flag: "custom-id", path: "custom_id", value: "TEXT", words: "those whose custom id begins so" },
  { flag: "owner", path: "owner_id", value: "ID", words: "those of this customer" },
  { flag: "device", path: "device_id", value: "ID", words: "the one with this device" },
];
