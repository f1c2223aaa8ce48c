// The profiles that come with the software, by the decoders that vendors and network servers hand out. What a decoder does
// not tell apart, such as a unit, has a profile each. `profile.ts` says what the fields mean.

export const BUILTIN_PROFILES = {
  /** Milesight's own decoder. Its alarm frames use the same `distance` for a tenth of the value: they are not read. */
  "milesight-em500-udl": {
    value: "distance",
    measures: "distance",
    unit: "mm",
    invalid: [65535],
    checks: [],
    unless: ["distance_alarm"],
  },
  /** The decoder in The Things Network's device repository. Its number is signed: the mark 65535 comes out as -0.001. */
  "milesight-em500-udl-metres": {
    value: "distance",
    measures: "distance",
    unit: "m",
    invalid: [-0.001, 65.535],
    checks: [],
    unless: [],
  },
  /** 0: no probe found; 20: closer than the 280 mm it can measure. */
  "dragino-dds75-lb": {
    value: "Distance",
    measures: "distance",
    unit: "mm",
    invalid: [0, 20],
    checks: [{ path: "Sensor_flag", minimum: 1 }],
    unless: [],
  },
  /** Glued under the tank: `Distance` is the height of the liquid, of which it can measure 20 to 2000 mm. */
  "dragino-dds20-lb": {
    value: "Distance",
    measures: "level",
    unit: "mm",
    invalid: [0],
    checks: [
      { path: "Sensor_flag", minimum: 1 },
      { path: "Distance", minimum: 20, maximum: 2000 },
    ],
    unless: [],
  },
  "decentlab-dl-mbx": {
    value: "distance.value",
    measures: "distance",
    unit: "mm",
    invalid: [],
    checks: [{ path: "number_of_valid_samples.value", minimum: 1 }],
    unless: [],
  },
  elsys: { value: "distance", measures: "distance", unit: "mm", invalid: [], checks: [], unless: [] },
  /** Under the tank, through a gateway with the Theengs decoder. Quality 0 is no confidence, whatever the level says. */
  mopeka: {
    value: "lvl_cm",
    measures: "level",
    unit: "cm",
    invalid: [],
    checks: [{ path: "quality", minimum: 1 }],
    unless: [],
  },
} as const;
