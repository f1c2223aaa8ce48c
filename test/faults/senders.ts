// Clients that send readings over HTTP and MQTT, and record what was acknowledged.

import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import mqtt from "mqtt";
import type { Lifetime } from "../e2e/program.ts";
import type { Mqtt5Broker } from "../support/mqtt5-broker.ts";
import { SOURCES, sourceOf } from "./fleet.ts";
import type { Ledger, Reading, Sending } from "./ledger.ts";
import type { Measurements } from "./measurements.ts";
import type { Random } from "./random.ts";

/** Responses other than acknowledgements. */
export type Tally = {
  /** 503 with `Retry-After`. */
  unavailable: number;
  /** Connections that broke or could not be opened. */
  broken: number;
  /** Responses that nobody should get. */
  readonly unexpected: string[];
};

export type SenderParts = {
  readonly ledger: Ledger;
  readonly measurements: Measurements;
  readonly tally: Tally;
  readonly random: Random;
  /** The secret of an ingest key. */
  readonly key: string;
};

export type Sender = {
  /** Resolves when nothing is in flight. */
  readonly stop: () => Promise<void>;
  /** At once, whatever is in flight. */
  readonly abandon: () => void;
};

export type MqttMessage = { readonly topic: string; readonly payload: string };

/** Readings of one place in our own format or, for one reading, that of a network server. */
export function mqttMessage(random: Random, readings: readonly Reading[]): MqttMessage {
  const { deviceId } = sourceOf(readings[0]?.place ?? "");
  const reported = readings.map(({ at, fill }) => ({ created_at: new Date(at).toISOString(), fill_percentage: fill }));
  const [first] = reported;
  if (first === undefined || reported.length > 1) return own(deviceId, reported);
  return random.pick([own, own, chirpstack, tts])(deviceId, first);
}

type Reported = { readonly created_at: string; readonly fill_percentage: number };

const own = (deviceId: string, reported: Reported | readonly Reported[]): MqttMessage => ({
  topic: `tanks/${deviceId}/readings`,
  payload: JSON.stringify(reported),
});

function chirpstack(deviceId: string, { created_at, fill_percentage }: Reported): MqttMessage {
  const message = {
    deduplicationId: "3ac7e3c4-4401-4b8d-9386-a5c902f9202d",
    time: created_at,
    deviceInfo: { devEui: deviceId },
    fPort: 85,
    object: { battery: 93, fill_percentage },
  };
  return { topic: `application/1/device/${deviceId}/event/up`, payload: JSON.stringify(message) };
}

function tts(deviceId: string, { created_at, fill_percentage }: Reported): MqttMessage {
  const isEui = /^[0-9a-f]{16}$/.test(deviceId);
  const ids = isEui ? { device_id: `eui-${deviceId}`, dev_eui: deviceId.toUpperCase() } : { device_id: deviceId };
  const uplink_message = { f_port: 85, decoded_payload: { battery: 93, fill_percentage } };
  const message = { end_device_ids: ids, received_at: created_at, uplink_message };
  return { topic: `v3/app@tenant/devices/${ids.device_id}/up`, payload: JSON.stringify(message) };
}

const HTTP_TIMEOUT_MS = 20_000;
const HTTP_RETRY_MS = 20;
const DONE = new Set(["stored", "duplicate", "replaced", "waiting"]);

type HttpMessage = { readonly readings: readonly Reading[]; readonly init: RequestInit };

/** Up to `maxReadings` in one message. */
export function httpSender(parts: SenderParts, url: string, maxReadings: number): Sender {
  const { ledger, tally, random, measurements } = parts;
  const abandoned = new AbortController();
  let isStopped = false;

  async function run(): Promise<void> {
    let retried: HttpMessage | undefined;
    while (!isStopped) {
      const count = random.of(0.3) ? 1 : random.whole(1, maxReadings);
      const message = retried ?? httpMessage(parts, measurements.some(count));
      const isDone = await send(message);
      retried = isDone || random.of(0.3) ? undefined : message;
    }
  }

  /** Whether it was acknowledged. */
  async function send({ readings, init }: HttpMessage): Promise<boolean> {
    const sending = ledger.begin(readings);
    const signal = AbortSignal.any([abandoned.signal, AbortSignal.timeout(HTTP_TIMEOUT_MS)]);
    let response: Response;
    let text: string;
    try {
      response = await fetch(`${url}/ingest/v1/readings`, { ...init, signal });
      text = await response.text();
    } catch {
      sending.broken();
      tally.broken++;
      await pause(HTTP_RETRY_MS);
      return false;
    }
    if (response.status === 200) {
      sending.acknowledged();
      const error = errorIn(text, readings);
      if (error !== undefined) tally.unexpected.push(error);
      return true;
    }
    sending.refused();
    // It does not wait for Retry-After, to keep the load up.
    if (response.status === 503 && response.headers.get("retry-after") === "1") tally.unavailable++;
    else tally.unexpected.push(`${response.status}: ${text}`);
    return false;
  }

  const running = run();
  return {
    async stop() {
      isStopped = true;
      await running;
    },
    abandon() {
      isStopped = true;
      abandoned.abort();
    },
  };
}

function errorIn(text: string, readings: readonly Reading[]): string | undefined {
  const { results } = JSON.parse(text) as { readonly results: readonly { readonly status: string; readonly reason?: string }[] };
  if (results.length !== readings.length) return `${results.length} results for ${readings.length} readings`;
  const wrong = results.find(({ status }) => !DONE.has(status));
  return wrong === undefined ? undefined : `${wrong.status}: ${wrong.reason}`;
}

/** An object, a list or lines; by tank or by device; compressed or not. */
function httpMessage({ random, key }: SenderParts, readings: readonly Reading[]): HttpMessage {
  const values = readings.map(({ place, at, fill }) => {
    const { tankId, deviceId } = sourceOf(place);
    const of = tankId !== undefined && random.of(0.5) ? { tank_id: tankId } : { device_id: inCase(deviceId, random.of(0.5)) };
    return { ...of, created_at: new Date(at).toISOString(), fill_percentage: fill };
  });
  const isLines = random.of(0.3);
  const text = isLines
    ? values.map((value) => JSON.stringify(value)).join("\n")
    : JSON.stringify(values.length === 1 ? values[0] : values);
  const headers = { "x-api-key": key, "content-type": isLines ? "application/x-ndjson" : "application/json" };
  if (random.of(0.7)) return { readings, init: { method: "POST", headers, body: text } };
  return { readings, init: { method: "POST", headers: { ...headers, "content-encoding": "gzip" }, body: gzipSync(text) } };
}

/** An EUI-64 is written in either case. */
const inCase = (deviceId: string, isUpper: boolean): string =>
  isUpper && /^[0-9a-f]{16}$/.test(deviceId) ? deviceId.toUpperCase() : deviceId;

const MQTT_IN_FLIGHT = 5;
const DRAIN_MS = 30_000;
const MQTT_RETRY_MS = 50;

export type MqttSender = Sender & {
  /** Messages that have been sent and not acknowledged. */
  readonly inFlight: () => number;
};

/** Up to `maxReadings` in one message, of any place or of one alone. */
export function mqttSender(parts: SenderParts, url: string, maxReadings: number, place?: string): MqttSender {
  const { ledger, tally, random, measurements, key: password } = parts;
  const client = mqtt.connect(url, { username: "any", password, reconnectPeriod: MQTT_RETRY_MS, reconnectOnConnackError: true });
  // Emitted with every failed attempt.
  client.on("error", () => {});
  client.on("close", () => tally.broken++);
  let inFlight = 0;
  let isStopped = false;

  async function run(): Promise<void> {
    while (!isStopped) {
      const count = random.of(0.6) ? 1 : random.whole(1, maxReadings);
      await send(measurements.some(count, place ?? random.pick(SOURCES).place));
    }
  }

  async function send(readings: readonly Reading[]): Promise<void> {
    const { topic, payload } = mqttMessage(random, readings);
    const sending = ledger.begin(readings);
    inFlight++;
    try {
      await client.publishAsync(topic, payload, { qos: 1 });
      sending.acknowledged();
    } catch {
      sending.broken();
    } finally {
      inFlight--;
    }
  }

  const running = Promise.all(Array.from({ length: MQTT_IN_FLIGHT }, run));
  return {
    inFlight: () => inFlight,
    async stop() {
      isStopped = true;
      const isDone = await Promise.race([running.then(() => true), pause(DRAIN_MS, false, { ref: false })]);
      if (!isDone)
        tally.unexpected.push(`${inFlight} messages are not acknowledged ${DRAIN_MS / 1000} s after the last was sent`);
      await client.endAsync(true);
    },
    abandon() {
      isStopped = true;
      client.end(true);
    },
  };
}

const BROKER_IN_FLIGHT = 100;
const BROKER_READINGS = 20;
const BROKER_INTERVAL_MS = 5;

type Load = Pick<SenderParts, "random" | "ledger" | "measurements">;

/** Publishes to an external broker until the returned function is called; what the service acknowledges there counts. */
export function publishTo(life: Lifetime, broker: Mqtt5Broker, { random, ledger, measurements }: Load): () => Promise<void> {
  const pending = new Map<string, Sending[]>();
  let seen = 0;
  let isStopped = false;
  let isAbandoned = false;
  life.after(() => {
    isAbandoned = true;
  });

  function publish(): void {
    const readings = measurements.some(random.of(0.6) ? 1 : random.whole(1, BROKER_READINGS), random.pick(SOURCES).place);
    const { topic, payload } = mqttMessage(random, readings);
    pending.set(payload, [...(pending.get(payload) ?? []), ledger.begin(readings)]);
    broker.publish(topic, payload);
  }

  function recordAcknowledged(): void {
    for (const payload of broker.acknowledged.slice(seen)) {
      seen++;
      pending.get(payload)?.shift()?.acknowledged();
    }
  }

  async function run(): Promise<void> {
    for (; !isStopped && !isAbandoned; await pause(BROKER_INTERVAL_MS)) {
      recordAcknowledged();
      while (broker.unacknowledged < BROKER_IN_FLIGHT) publish();
    }
    for (const deadline = performance.now() + DRAIN_MS; broker.unacknowledged > 0; await pause(BROKER_INTERVAL_MS)) {
      if (isAbandoned) return;
      if (performance.now() > deadline) throw new Error(`${broker.unacknowledged} messages are not acknowledged`);
    }
    recordAcknowledged();
  }

  const running = run();
  running.catch(() => {});
  return () => {
    isStopped = true;
    return running;
  };
}
