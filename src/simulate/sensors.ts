// The simulated sensors: what each maker's decoder outputs for a level, and the tank shapes they measure in. Levels and
// distances are whole millimetres.

import { fillAtLevel, fullLevel, type Shape } from "../domain/shape.ts";
import { inUnit } from "../domain/units.ts";
import type { Random } from "./random.ts";

/** `level` is measured from the bottom up, `distance` from the sensor down. */
type Surface = { readonly level: number; readonly distance: number };

type Sensor = {
  /** The profile that interprets its payload. */
  readonly profile: string;
  /** The message format: that of a network server, or `json` for `/ingest/v1/readings`. */
  readonly format: "chirpstack" | "tts" | "json";
  /** The maker's part of an EUI-64; empty where its devices have none. */
  readonly euiPrefix: string;
  readonly port: number;
  readonly payload: (surface: Surface) => object;
};

const SENSORS = {
  milesight: {
    profile: "milesight-em500-udl",
    format: "chirpstack",
    euiPrefix: "24e124",
    port: 85,
    payload: ({ distance }) => ({ battery: 100, distance }),
  },
  "milesight-tts": {
    profile: "milesight-em500-udl-metres",
    format: "tts",
    euiPrefix: "24e124",
    port: 85,
    payload: ({ distance }) => ({ battery: 100, distance: distance / 1000 }),
  },
  dragino: {
    profile: "dragino-dds75-lb",
    format: "chirpstack",
    euiPrefix: "a84041",
    port: 2,
    payload: ({ distance }) => ({ Node_type: "DDS75-LB", Bat: 3.41, Distance: distance, Sensor_flag: 1 }),
  },
  decentlab: {
    profile: "decentlab-dl-mbx",
    format: "chirpstack",
    euiPrefix: "70b3d5",
    port: 1,
    payload: ({ distance }) => ({
      distance: { displayName: "Distance", value: distance, unit: "mm" },
      number_of_valid_samples: { displayName: "Number of valid samples", value: 10 },
    }),
  },
  elsys: {
    profile: "elsys",
    format: "tts",
    euiPrefix: "a81758",
    port: 5,
    payload: ({ distance }) => ({ temperature: 11.6, humidity: 41, distance, vdd: 3612 }),
  },
  mopeka: {
    profile: "mopeka",
    format: "json",
    euiPrefix: "",
    port: 0,
    payload: ({ level }) => ({ model_id: "M1017", tempc: 12, lvl_cm: level / 10, batt: 96, quality: 3 }),
  },
} as const satisfies Readonly<Record<string, Sensor>>;

/** A device of maker `generic` sends the fill percentage itself and has no sensor model. */
export type Maker = keyof typeof SENSORS | "generic";
export const MAKERS: readonly Maker[] = ["generic", "milesight", "milesight-tts", "dragino", "decentlab", "elsys", "mopeka"];

export function sensorOf(maker: Maker): Sensor | undefined {
  return maker === "generic" ? undefined : SENSORS[maker];
}

/** Common ultrasonic sensors cannot see anything nearer than 280 to 500 mm. */
const SENSOR_CLEARANCE_MM = 550;
/** Length of the straight part of a horizontal tank, in diameters. */
const LENGTH_TO_DIAMETER = 2.5;
const MM3_PER_LITRE = 1e6;

/** A random shape of about that volume. All its lengths are whole millimetres, in whatever unit. */
export function shapeFor(litres: number, random: Random): Shape {
  const mm3 = litres * MM3_PER_LITRE;
  const draw = random.next();
  if (draw < 0.5) {
    const diameter = Math.round(Math.cbrt(mm3 / (Math.PI * (LENGTH_TO_DIAMETER / 4 + 1 / 12))));
    const length = Math.round(diameter * LENGTH_TO_DIAMETER);
    const sensor_height = diameter + SENSOR_CLEARANCE_MM;
    return { kind: "horizontal_cylinder", heads: "elliptical", unit: "mm", diameter, length, sensor_height };
  }
  if (draw < 0.7) {
    const diameter = Math.round(Math.cbrt(mm3 / ((Math.PI * LENGTH_TO_DIAMETER) / 4)));
    const sensor_height = metres(diameter + SENSOR_CLEARANCE_MM);
    return { kind: "horizontal_cylinder", heads: "flat", unit: "m", diameter: metres(diameter), sensor_height };
  }
  const height = Math.round(Math.cbrt(mm3 * 2));
  return { kind: "upright", unit: "m", height: metres(height), sensor_height: metres(height + SENSOR_CLEARANCE_MM) };
}

const metres = (millimetres: number): number => millimetres / 1000;

/** The level at that fill, rounded down to the millimetre. */
export function levelAt(shape: Shape, fill: number): number {
  const full = Math.round(inUnit(fullLevel(shape), shape.unit, "mm"));
  if (fill >= 100) return full;
  let [low, high] = [0, full];
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (fillAt(shape, middle) <= fill) low = middle;
    else high = middle;
  }
  return low;
}

/** Distance from the sensor down to the level. */
export function distanceTo(shape: Shape, level: number): number {
  return Math.round(inUnit(shape.sensor_height ?? 0, shape.unit, "mm")) - level;
}

export function fillAt(shape: Shape, level: number): number {
  const fill = fillAtLevel(shape, inUnit(level, "mm", shape.unit));
  if (fill === undefined) throw new Error(`${level} mm is outside of ${JSON.stringify(shape)}`);
  return fill;
}
