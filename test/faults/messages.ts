// Readings as MQTT messages, in the words of several senders.

import type { Chance } from "./chance.ts";
import { sourceOf } from "./fleet.ts";
import type { Reading } from "./ledger.ts";

export type Message = { readonly topic: string; readonly payload: string };

/** Readings of one place: in our own words, or, one reading at a time, as the network servers put it. */
export function messageOf(chance: Chance, readings: readonly Reading[]): Message {
  const { deviceId } = sourceOf(readings[0]?.place ?? "");
  const told = readings.map(({ at, fill }) => ({ created_at: new Date(at).toISOString(), fill_percentage: fill }));
  const [first] = told;
  if (first === undefined || told.length > 1) return own(deviceId, told);
  return chance.pick([own, own, chirpstack, tts])(deviceId, first);
}

type Told = { readonly created_at: string; readonly fill_percentage: number };

const own = (deviceId: string, told: Told | readonly Told[]): Message => ({
  topic: `tanks/${deviceId}/readings`,
  payload: JSON.stringify(told),
});

function chirpstack(deviceId: string, { created_at, fill_percentage }: Told): Message {
  const message = {
    deduplicationId: "3ac7e3c4-4401-4b8d-9386-a5c902f9202d",
    time: created_at,
    deviceInfo: { devEui: deviceId },
    fPort: 85,
    object: { battery: 93, fill_percentage },
  };
  return { topic: `application/1/device/${deviceId}/event/up`, payload: JSON.stringify(message) };
}

function tts(deviceId: string, { created_at, fill_percentage }: Told): Message {
  const isEui = /^[0-9a-f]{16}$/.test(deviceId);
  const ids = isEui ? { device_id: `eui-${deviceId}`, dev_eui: deviceId.toUpperCase() } : { device_id: deviceId };
  const uplink_message = { f_port: 85, decoded_payload: { battery: 93, fill_percentage } };
  const message = { end_device_ids: ids, received_at: created_at, uplink_message };
  return { topic: `v3/app@tenant/devices/${ids.device_id}/up`, payload: JSON.stringify(message) };
}
