// Messages as they are sent: readings in the service's own format, or uplinks as ChirpStack and The Things Stack forward them.

import { formatInstant, type Instant } from "../domain/instant.ts";
import type { SimulatedDevice } from "./fleet.ts";
import { distanceTo, fillAt, levelAt, sensorOf } from "./sensors.ts";

/** A reading before it is sent. `value` is a level in millimetres, or a fill percentage for maker `generic`. */
export type MeasuredReading = { readonly number: number; readonly at: Instant; readonly value: number };

/** `numbers` are those of its readings, in order. */
export type Message = { readonly device: string; readonly numbers: readonly number[] } & (
  | { readonly format: "json"; readonly readings: readonly object[] }
  | { readonly format: "chirpstack" | "tts"; readonly text: string }
);

/** What the device measures at that fill. */
export function valueAt({ maker, shape }: SimulatedDevice, fill: number): number {
  return maker === "generic" ? Math.round(fill * 100) / 100 : levelAt(shape, fill);
}

/** The fill that the service must derive from the value. */
export function fillOf({ maker, shape }: SimulatedDevice, value: number): number {
  return maker === "generic" ? value : fillAt(shape, value);
}

/** One message with all readings in the service's own format; one message per reading from a network server. */
export function messagesOf(device: SimulatedDevice, measured: readonly MeasuredReading[]): Message[] {
  const { id, maker, shape } = device;
  const sensor = sensorOf(maker);
  const payload = (level: number) => sensor?.payload({ level, distance: distanceTo(shape, level) }) ?? {};
  if (sensor === undefined || sensor.format === "json") {
    const readings = measured.map(({ at, value }) => {
      const created_at = formatInstant(at);
      return sensor === undefined ? { created_at, fill_percentage: value } : { created_at, payload: payload(value) };
    });
    return [{ device: id, format: "json", numbers: measured.map(({ number }) => number), readings }];
  }
  const { format, port } = sensor;
  const wrap = format === "chirpstack" ? chirpstackUplink : ttsUplink;
  return measured.map(({ number, at, value }) => {
    const uplink = { number, at, port, payload: payload(value) };
    return { device: id, format, numbers: [number], text: JSON.stringify(wrap(device, uplink)) };
  });
}

const APPLICATION_ID = "17c82e96-be03-4f38-aef3-f83d48582d97";
const APPLICATION_NAME = "tank-sensors";
const TENANT = "ttn";

export function topicOf({ format, device }: Message): string {
  switch (format) {
    case "json":
      return `tanks/${device}/readings`;
    case "chirpstack":
      return `application/${APPLICATION_ID}/device/${device}/event/up`;
    case "tts":
      return `v3/${APPLICATION_NAME}@${TENANT}/devices/${ttsName(device)}/up`;
  }
}

type Uplink = { readonly number: number; readonly at: Instant; readonly port: number; readonly payload: object };

function chirpstackUplink({ id, maker }: SimulatedDevice, { at, number, port, payload }: Uplink): object {
  return {
    deduplicationId: `3ac7e3c4-4401-4b8d-9386-${number.toString(16).padStart(12, "0")}`,
    time: `${withNanoseconds(at)}+00:00`,
    deviceInfo: { applicationId: APPLICATION_ID, applicationName: APPLICATION_NAME, deviceProfileName: maker, devEui: id },
    fCnt: number,
    fPort: port,
    object: payload,
    rxInfo: [{ gatewayId: "0016c001f153a14c", rssi: -97, snr: 6.5 }],
  };
}

/** The Things Stack writes EUIs in upper case and gives each device a name. */
function ttsUplink({ id }: SimulatedDevice, { at, number, port, payload }: Uplink): object {
  return {
    end_device_ids: {
      device_id: ttsName(id),
      application_ids: { application_id: APPLICATION_NAME },
      dev_eui: id.toUpperCase(),
    },
    received_at: `${withNanoseconds(at)}Z`,
    uplink_message: {
      f_port: port,
      f_cnt: number,
      decoded_payload: payload,
      rx_metadata: [{ gateway_ids: { gateway_id: "gtw1" }, rssi: -97, snr: 6.5 }],
    },
  };
}

const ttsName = (device: string): string => `eui-${device}`;

/** Network servers report nanoseconds. */
const withNanoseconds = (at: Instant): string => `${formatInstant(at).slice(0, -1)}456789`;
