// What a device has to say, as it goes out: in our own words, or wrapped by the network server that carries it.

import { formatInstant, type Instant } from "../domain/instant.ts";
import type { Device } from "./device.ts";
import { sensorOf } from "./makers.ts";
import type { Random } from "./random.ts";
import { distanceTo, fillAt, levelAt } from "./vessel.ts";

/** A reading as a device took it. `value` is what it measures: millimetres of level, or the fill where it knows that itself. */
export type Measured = { readonly number: number; readonly at: Instant; readonly value: number };

/** `numbers`: of the readings in it, in their order. */
export type Message = { readonly device: string; readonly numbers: readonly number[] } & (
  | { readonly by: "own"; readonly readings: readonly object[] }
  | { readonly by: "chirpstack" | "tts"; readonly text: string }
);

/** What the device measures in a tank that is so full. */
export function valueAt({ maker, shape }: Device, fill: number): number {
  return maker === "own" ? Math.round(fill * 100) / 100 : levelAt(shape, fill);
}

/** What the service is to make of it. */
export function fillOf({ maker, shape }: Device, value: number): number {
  return maker === "own" ? value : fillAt(shape, value);
}

/** A gateway of our own sends a list at once; network servers send one uplink after the other. */
export function messagesOf(device: Device, measured: readonly Measured[], random: Random): Message[] {
  const { id, maker, shape } = device;
  const sensor = sensorOf(maker);
  const payload = (level: number) => sensor?.payload({ level, distance: distanceTo(shape, level) }) ?? {};
  if (sensor === undefined || sensor.by === "own") {
    const readings = measured.map(({ at, value }) => {
      const created_at = formatInstant(at);
      return sensor === undefined ? { created_at, fill_percentage: value } : { created_at, payload: payload(value) };
    });
    return [{ device: id, by: "own", numbers: measured.map(({ number }) => number), readings }];
  }
  const { by, port } = sensor;
  const wrap = by === "chirpstack" ? chirpstackUp : ttsUp;
  return measured.map(({ number, at, value }) => {
    const uplink = { number, at, port, payload: payload(value) };
    return { device: id, by, numbers: [number], text: JSON.stringify(wrap(device, uplink, random)) };
  });
}

const APPLICATION = "17c82e96-be03-4f38-aef3-f83d48582d97";
const APPLICATION_NAME = "tank-sensors";
const TENANT = "ttn";

/** Where a broker has it. */
export function topicOf({ by, device }: Message): string {
  switch (by) {
    case "own":
      return `tanks/${device}/readings`;
    case "chirpstack":
      return `application/${APPLICATION}/device/${device}/event/up`;
    case "tts":
      return `v3/${APPLICATION_NAME}@${TENANT}/devices/${ttsName(device)}/up`;
  }
}

type Uplink = { readonly number: number; readonly at: Instant; readonly port: number; readonly payload: object };

function chirpstackUp({ id, maker }: Device, { at, number, port, payload }: Uplink, random: Random): object {
  return {
    deduplicationId: uuid(random),
    time: `${withNanoseconds(at, random)}+00:00`,
    deviceInfo: {
      tenantName: "ChirpStack",
      applicationId: APPLICATION,
      applicationName: APPLICATION_NAME,
      deviceProfileName: maker,
      deviceName: `tank ${id.slice(-6)}`,
      deviceClassEnabled: "CLASS_A",
      devEui: id,
      tags: {},
    },
    devAddr: `00${id.slice(-6)}`,
    adr: true,
    dr: 5,
    fCnt: number,
    fPort: port,
    confirmed: false,
    object: payload,
    rxInfo: [{ gatewayId: "0016c001f153a14c", rssi: random.whole(-118, -60), snr: random.whole(-8, 11) }],
    txInfo: { frequency: 868_100_000 },
  };
}

/** It writes EUIs in upper case, and has a name of its own for each device. */
function ttsUp({ id }: Device, { at, number, port, payload }: Uplink, random: Random): object {
  const received_at = `${withNanoseconds(at, random)}Z`;
  return {
    end_device_ids: {
      device_id: ttsName(id),
      application_ids: { application_id: APPLICATION_NAME },
      dev_eui: id.toUpperCase(),
      join_eui: "800000000000000C",
    },
    correlation_ids: [`as:up:${uuid(random)}`],
    received_at,
    uplink_message: {
      f_port: port,
      f_cnt: number,
      decoded_payload: payload,
      rx_metadata: [{ gateway_ids: { gateway_id: "gtw1" }, rssi: random.whole(-118, -60), snr: random.whole(-8, 11) }],
      settings: { data_rate: { lora: { bandwidth: 125_000, spreading_factor: 7 } }, frequency: "868300000" },
      received_at,
    },
  };
}

const ttsName = (device: string): string => `eui-${device}`;

/** Network servers count finer than we do. */
function withNanoseconds(at: Instant, random: Random): string {
  return formatInstant(at).slice(0, -1) + String(random.whole(0, 999_999)).padStart(6, "0");
}

function uuid(random: Random): string {
  const hex = Array.from({ length: 4 }, () => random.whole(0, 0xffffffff).toString(16).padStart(8, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20)].join("-");
}
