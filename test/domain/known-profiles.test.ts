import assert from "node:assert/strict";
import test from "node:test";
import { type Interpretation, interpret } from "../../src/domain/interpret.ts";
import { profileOf } from "../../src/domain/profile.ts";
import { shapeOf } from "../../src/domain/shape.ts";

// Payloads as the vendors' decoders write them. The tank is 2 m high, its sensor 3 m above the bottom: a distance of 2 m is
// a level of 1 m, half full.
const shape = shapeOf({ kind: "upright", height: 2, unit: "m", sensor_height: 3 });

const read = (profile: string, payload: string): Interpretation =>
  interpret(JSON.parse(payload), profileOf(profile), { shape, capacity: 2700, capacity_unit: "liters" });

/** Each case: the payload, and its fill or the reason for rejection. */
const check = (profile: string, cases: readonly (readonly [string, number | string])[]) => {
  for (const [payload, expected] of cases) {
    const result = read(profile, payload);
    assert.deepEqual(result, typeof expected === "number" ? { fill: expected } : { rejected: expected }, payload);
  }
};

test("Milesight EM500-UDL, by Milesight's decoder: millimetres", () => {
  check("milesight-em500-udl", [
    ['{"battery":100,"distance":2000}', 50],
    ['{"distance":1000}', 100],
    ['{"distance":3000.0}', 0],
    ['{"battery":100,"distance":30}', "distance: 30 mm puts the surface at 2.97 m, outside the tank's 0 to 2 m"],
    ['{"battery":100,"distance":65535}', 'distance: 65535 is the sensor\'s code for "no reading"'],
    ['{"battery":100}', "distance: is missing from the payload"],
    ['{"history":[{"timestamp":1763112600,"distance":2000}]}', "distance: is missing from the payload"],
    [
      '{"ipso_version":"v0.1","hardware_version":"v1.1","firmware_version":"v1.10","sn":"6126a10412345678","device_status":"on"}',
      "distance: is missing from the payload",
    ],
    [
      '{"distance":200,"distance_mutation":1,"distance_alarm":"threshold_alarm"}',
      "distance_alarm: the profile excludes payloads with this field",
    ],
  ]);
});

test("Milesight EM500-UDL, by the decoder of The Things Network's device repository: metres under the same name", () => {
  check("milesight-em500-udl-metres", [
    ['{"battery":100,"distance":2}', 50],
    ['{"battery":100,"distance":2.1}', 45],
    ['{"battery":100,"distance":0.03}', "distance: 0.03 m puts the surface at 2.97 m, outside the tank's 0 to 2 m"],
    ['{"battery":100,"distance":-0.001}', 'distance: -0.001 is the sensor\'s code for "no reading"'],
    ['{"battery":100,"distance":65.535}', 'distance: 65.535 is the sensor\'s code for "no reading"'],
    ['{"battery":100}', "distance: is missing from the payload"],
  ]);
});

test("Dragino DDS75-LB", () => {
  const frame = (distance: string, flag = 1) =>
    `{"Node_type":"DDS75-LB","Bat":2.885,"Distance":${distance},"Interrupt_flag":0,"TempC_DS18B20":"26.10","Sensor_flag":${flag}}`;
  check("dragino-dds75-lb", [
    [frame("2821"), 8.95],
    [frame("2000"), 50],
    [frame("0"), 'Distance: 0 is the sensor\'s code for "no reading"'],
    [frame("20"), 'Distance: 20 is the sensor\'s code for "no reading"'],
    [frame("2821", 0), "Sensor_flag: 0 is below the profile's minimum of 1"],
    [frame('"2821 mm"'), 'Distance: must be a number, not the string "2821 mm"'],
    [frame('"No Sensor"'), 'Distance: must be a number, not the string "No Sensor"'],
    [frame('"Invalid Reading"'), 'Distance: must be a number, not the string "Invalid Reading"'],
    ['{"Bat":3.384,"Additional_Distance_Data":[2821,2820,2819]}', "Distance: is missing from the payload"],
    ['{"Node_type":"DDS75-LB","DATALOG":"[2821,1],[2820,1],","PNACKMD":"True"}', "Distance: is missing from the payload"],
    [
      '{"SENSOR_MODEL":"DDS75-LB","FIRMWARE_VERSION":"1.0.0","FREQUENCY_BAND":"EU868","SUB_BAND":"NULL","BAT":3.3}',
      "Distance: is missing from the payload",
    ],
    [
      '{"battery":2.885,"distance1":261,"distance2":0,"distance3":0,"s_flag":1,"i_flag":0}',
      "Distance: is missing from the payload",
    ],
    // An older decoder sends no flag.
    ['{"Bat":2.885,"Distance":2000,"Interrupt_flag":0,"TempC_DS18B20":"26.10"}', 50],
  ]);
});

test("Dragino DDS20-LB: the same payload, but the liquid's height from below", () => {
  const frame = (distance: number, flag = 1) =>
    `{"Node_type":"DDS20-LB","Bat":2.885,"Distance":${distance},"Interrupt_flag":0,"TempC_DS18B20":"26.10","Sensor_flag":${flag}}`;
  check("dragino-dds20-lb", [
    [frame(500), 25],
    [frame(20), 1],
    [frame(2000), 100],
    [frame(0), 'Distance: 0 is the sensor\'s code for "no reading"'],
    [frame(19), "Distance: 19 is below the profile's minimum of 20"],
    [frame(2001), "Distance: 2001 is above the profile's maximum of 2000"],
    [frame(500, 0), "Sensor_flag: 0 is below the profile's minimum of 1"],
  ]);
});

test("Decentlab DL-MBX", () => {
  const frame = (distance: number, samples: number) =>
    `{"protocol_version":2,"device_id":303,"distance":{"displayName":"Distance","value":${distance},"unit":"mm"},` +
    `"number_of_valid_samples":{"displayName":"Number of valid samples","value":${samples}},` +
    `"battery_voltage":{"displayName":"Battery voltage","value":2.993,"unit":"V"}}`;
  check("decentlab-dl-mbx", [
    [frame(1234, 1), 88.3],
    [frame(2000, 15), 50],
    [frame(1234, 0), "number_of_valid_samples.value: 0 is below the profile's minimum of 1"],
    [
      '{"protocol_version":2,"device_id":303,"battery_voltage":{"displayName":"Battery voltage","value":2.993,"unit":"V"}}',
      "distance.value: is missing from the payload",
    ],
    ['{"distance":1234}', "distance.value: is missing from the payload"],
  ]);
});

test("Elsys", () => {
  const frame = (distance: number) =>
    `{"temperature":22.6,"humidity":41,"x":1,"y":39,"z":5,"pressure":100729.105,"distance":${distance}}`;
  check("elsys", [
    [frame(2000), 50],
    [frame(8977), "distance: 8977 mm puts the surface at -5.977 m, outside the tank's 0 to 2 m"],
    ['{"temperature":22.6,"humidity":41,"vdd":3642}', "distance: is missing from the payload"],
  ]);
});

test("Mopeka Pro Check, through a gateway: a level, and only with some confidence", () => {
  const frame = (level: number, quality: number) =>
    `{"brand":"Mopeka/Lippert","model":"Pro Check (Universal)/BottleCheck Sensor","model_id":"M1017","type":"UNIQ","cidc":false,` +
    `"tempc":25,"tempf":77,"lvl_cm":${level},"lvl_in":6.068689961,"sync":false,"volt":2.90625,"batt":100,"quality":${quality},"accx":3,"accy":35}`;
  check("mopeka", [
    [frame(15.4144725, 3), 7.71],
    [frame(100, 1), 50],
    [frame(0, 0), "quality: 0 is below the profile's minimum of 1"],
    [frame(39.4, 0), "quality: 0 is below the profile's minimum of 1"],
    [frame(412.2, 1), "lvl_cm: 412.2 cm is outside the tank's 0 to 2 m"],
    ['{"model_id":"M1017","tempc":19,"volt":2.90625,"quality":3}', "lvl_cm: is missing from the payload"],
  ]);
});
