// Profiles and shapes, as forms have them.

import type { DeviceChange, Profile, Shape } from "../../../client/src/index.ts";
import { decimalIn, decimalOf, textIn } from "../components/form.ts";

const BUILT_IN: readonly (readonly [string, string])[] = [
  ["milesight-em500-udl", "Milesight EM500-UDL (mm)"],
  ["milesight-em500-udl-metres", "Milesight EM500-UDL (m)"],
  ["dragino-dds75-lb", "Dragino DDS75-LB"],
  ["dragino-dds20-lb", "Dragino DDS20-LB"],
  ["decentlab-dl-mbx", "Decentlab DL-MBX"],
  ["elsys", "Elsys, with a distance input"],
  ["mopeka", "Mopeka Pro Check"],
];

/** Values of the form that are no names of profiles. */
export const KEEP = "";
export const PERCENT = "percent";
export const CUSTOM = "custom";

export const profileOptions = (current: Profile | null): readonly (readonly [string, string])[] => [
  [KEEP, `Keep: ${describeProfile(current)}`],
  [PERCENT, "No profile: the device sends fill percentages"],
  ...BUILT_IN,
  [CUSTOM, "Custom: enter the path of the value"],
];

export function describeProfile(profile: Profile | null): string {
  if (profile === null) return "none";
  if (typeof profile === "string") return BUILT_IN.find(([name]) => name === profile)?.[1] ?? profile;
  return `${profile.value}: ${profile.measures}${profile.unit === undefined ? "" : ` in ${profile.unit}`}`;
}

export function describeShape(shape: Shape | null): string {
  if (shape === null) return "not known";
  const sensor = shape.sensor_height === undefined ? "" : `, sensor at ${shape.sensor_height} ${shape.unit}`;
  switch (shape.kind) {
    case "horizontal_cylinder": {
      const heads = shape.heads === "elliptical" ? " with elliptical heads" : "";
      return `horizontal cylinder${heads}, ${shape.diameter} ${shape.unit}${sensor}`;
    }
    case "strapping_table":
      return `strapping table${sensor}`;
    default:
      return `${shape.kind}, ${shape.height} ${shape.unit}${sensor}`;
  }
}

/** What the form sets: the tank only if it is another one than `tankId`. The service checks the values. */
export function changeOf(form: FormData, tankId: string | undefined): DeviceChange {
  const tank = textIn(form, "tank_id");
  const profile = profileOf(form);
  const shape = shapeOf(form);
  return {
    ...(tank === "" || tank === tankId ? {} : { tank_id: tank }),
    ...(profile === undefined ? {} : { profile }),
    ...(shape === undefined ? {} : { shape }),
  };
}

function profileOf(form: FormData): Profile | null | undefined {
  const name = textIn(form, "profile");
  if (name === KEEP) return undefined;
  if (name === PERCENT) return null;
  if (name !== CUSTOM) return name as Profile;
  const unit = textIn(form, "profile.unit");
  const fields = { value: textIn(form, "profile.value"), measures: textIn(form, "profile.measures") };
  return { ...fields, ...(unit === "" ? {} : { unit }) } as Profile;
}

function shapeOf(form: FormData): Shape | undefined {
  const kind = textIn(form, "shape");
  if (kind === "") return undefined;
  const size = kind === "upright" ? "height" : "diameter";
  const sensor = textIn(form, "shape.sensor_height");
  return {
    kind,
    [size]: decimalIn(form, `shape.${size}`),
    unit: textIn(form, "shape.unit"),
    ...(sensor === "" ? {} : { sensor_height: decimalOf(sensor) }),
  } as Shape;
}
