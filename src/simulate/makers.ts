// What sensors of several makers send of a surface: the decoded payload, as their own decoders make it, and who carries it.

/** The surface in millimetres: from the bottom up, and from the sensor down. */
type Surface = { readonly level: number; readonly distance: number };

type Sensor = {
  /** The profile that reads its payload. */
  readonly profile: string;
  /** Who carries it: a network server, or a gateway that speaks our own words. */
  readonly by: "chirpstack" | "tts" | "own";
  /** The maker's first digits of an EUI-64; empty where its devices have none. */
  readonly prefix: string;
  readonly port: number;
  readonly payload: (surface: Surface) => object;
};

/** `own` knows its fill itself. */
const SENSORS = {
  milesight: {
    profile: "milesight-em500-udl",
    by: "chirpstack",
    prefix: "24e124",
    port: 85,
    payload: ({ distance }) => ({ battery: 100, distance }),
  },
  "milesight-tts": {
    profile: "milesight-em500-udl-metres",
    by: "tts",
    prefix: "24e124",
    port: 85,
    payload: ({ distance }) => ({ battery: 100, distance: distance / 1000 }),
  },
  dragino: {
    profile: "dragino-dds75-lb",
    by: "chirpstack",
    prefix: "a84041",
    port: 2,
    payload: ({ distance }) => ({
      Node_type: "DDS75-LB",
      Bat: 3.41,
      Distance: distance,
      Interrupt_flag: 0,
      TempC_DS18B20: "11.50",
      Sensor_flag: 1,
    }),
  },
  decentlab: {
    profile: "decentlab-dl-mbx",
    by: "chirpstack",
    prefix: "70b3d5",
    port: 1,
    payload: ({ distance }) => ({
      protocol_version: 2,
      device_id: 303,
      distance: { displayName: "Distance", value: distance, unit: "mm" },
      number_of_valid_samples: { displayName: "Number of valid samples", value: 10 },
      battery_voltage: { displayName: "Battery voltage", value: 2.993, unit: "V" },
    }),
  },
  elsys: {
    profile: "elsys",
    by: "tts",
    prefix: "a81758",
    port: 5,
    payload: ({ distance }) => ({ temperature: 11.6, humidity: 41, distance, vdd: 3612 }),
  },
  mopeka: {
    profile: "mopeka",
    by: "own",
    prefix: "",
    port: 0,
    payload: ({ level }) => ({
      brand: "Mopeka/Lippert",
      model: "Pro Check (Universal)/BottleCheck Sensor",
      model_id: "M1017",
      tempc: 12,
      lvl_cm: level / 10,
      batt: 96,
      quality: 3,
    }),
  },
} as const satisfies Readonly<Record<string, Sensor>>;

export type Maker = keyof typeof SENSORS | "own";
export const MAKERS: readonly Maker[] = ["own", "milesight", "milesight-tts", "dragino", "decentlab", "elsys", "mopeka"];

export function sensorOf(maker: Maker): Sensor | undefined {
  return maker === "own" ? undefined : SENSORS[maker];
}
