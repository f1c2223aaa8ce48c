// Clients that send readings over HTTP and MQTT, and record what was acknowledged.

import { setTimeout as pause } from "node:timers/promises";
import mqtt from "mqtt";
import type { Random } from "../../src/simulate/random.ts";
import type { Mqtt5Broker } from "../support/mqtt5-broker.ts";
import type { Lifetime } from "../support/service.ts";
import { type Measurements, type Reading, SOURCES, type Source } from "./fleet.ts";
import type { Ledger, Sending } from "./ledger.ts";

/** Responses other than acknowledgements. */
export type FailureCounts = {
  /** 503 with `Retry-After`. */
  unavailable: number;
  /** Connections that broke or could not be opened. */
  broken: number;
  /** Responses that nobody should get. */
  readonly unexpected: string[];
};

export type Load = {
  readonly ledger: Ledger;
  readonly measurements: Measurements;
  readonly failures: FailureCounts;
  readonly random: Random;
  /** After each request and message; 0 for as many as possible. */
  readonly pauseMs: number;
};

export type LoadSender = {
  /** Resolves when nothing is in flight. */
  readonly stop: () => Promise<void>;
  /** Immediately, whatever is in flight. */
  readonly abandon: () => void;
};

export const readingJson = ({ at, fill }: Reading) => ({ created_at: new Date(at).toISOString(), fill_percentage: fill });

/** Readings of one source. */
export const mqttMessage = (source: Source, readings: readonly Reading[]) => ({
  topic: `tanks/${source.deviceId}/readings`,
  payload: JSON.stringify(readings.map(readingJson)),
});

const HTTP_TIMEOUT_MS = 20_000;
const HTTP_RETRY_MS = 20;
const ACCEPTED = new Set(["stored", "duplicate", "replaced", "pending"]);

/** Up to `maxReadings` per request, by tank or by device. */
export function httpSender(
  { ledger, measurements, failures, random, pauseMs }: Load,
  url: string,
  key: string,
  maxReadings: number,
): LoadSender {
  const abandoned = new AbortController();
  let isStopped = false;

  async function run(): Promise<void> {
    let retried: readonly Reading[] | undefined;
    while (!isStopped) {
      const readings = retried ?? measurements.some(random.chance(0.3) ? 1 : random.whole(1, maxReadings));
      const isDone = await send(readings);
      if (pauseMs > 0) await pause(pauseMs);
      retried = isDone || random.chance(0.3) ? undefined : readings;
    }
  }

  /** Whether it was acknowledged. */
  async function send(readings: readonly Reading[]): Promise<boolean> {
    const sending = ledger.begin(readings);
    const byTank = random.chance(0.5);
    const body = readings.map((reading) => {
      const { isKnown, tankId, deviceId } = reading.source;
      return { ...(byTank && isKnown ? { tank_id: tankId } : { device_id: deviceId }), ...readingJson(reading) };
    });
    const signal = AbortSignal.any([abandoned.signal, AbortSignal.timeout(HTTP_TIMEOUT_MS)]);
    const headers = { "x-api-key": key, "content-type": "application/json" };
    let response: Response;
    let text: string;
    try {
      response = await fetch(`${url}/ingest/v1/readings`, { method: "POST", headers, body: JSON.stringify(body), signal });
      text = await response.text();
    } catch {
      sending.broken();
      failures.broken++;
      await pause(HTTP_RETRY_MS);
      return false;
    }
    if (response.status === 200) {
      sending.acknowledged();
      const { results } = JSON.parse(text) as { readonly results: readonly { readonly status: string }[] };
      if (results.length !== readings.length || results.some(({ status }) => !ACCEPTED.has(status)))
        failures.unexpected.push(text);
      return true;
    }
    sending.rejected();
    // It does not wait for Retry-After, to keep the load up.
    if (response.status === 503 && response.headers.get("retry-after") === "1") failures.unavailable++;
    else failures.unexpected.push(`${response.status}: ${text}`);
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

const MQTT_IN_FLIGHT = 5;
const DRAIN_MS = 30_000;
const MQTT_RETRY_MS = 50;
const READINGS_PER_MESSAGE = 20;

/** Of any source, or of one alone. */
export function mqttSender(load: Load, url: string, password: string, only?: Source): LoadSender {
  const { failures, pauseMs } = load;
  const client = mqtt.connect(url, { username: "any", password, reconnectPeriod: MQTT_RETRY_MS, reconnectOnConnackError: true });
  // Emitted with every failed attempt.
  client.on("error", () => {});
  client.on("close", () => failures.broken++);
  let isStopped = false;

  async function run(): Promise<void> {
    while (!isStopped) {
      const { sending, topic, payload } = nextMessage(load, only);
      await client.publishAsync(topic, payload, { qos: 1 }).then(sending.acknowledged, sending.broken);
      if (pauseMs > 0) await pause(pauseMs);
    }
  }

  const running = Promise.all(Array.from({ length: MQTT_IN_FLIGHT }, run));
  return {
    async stop() {
      isStopped = true;
      const isDone = await Promise.race([running.then(() => true), pause(DRAIN_MS, false, { ref: false })]);
      if (!isDone) failures.unexpected.push(`messages are not acknowledged ${DRAIN_MS / 1000} s after the last was sent`);
      await client.endAsync(true);
    },
    abandon() {
      isStopped = true;
      client.end(true);
    },
  };
}

type Message = { readonly sending: Sending; readonly topic: string; readonly payload: string };

function nextMessage({ ledger, measurements, random }: Load, only?: Source): Message {
  const source = only ?? random.pick(SOURCES);
  const readings = measurements.some(random.chance(0.6) ? 1 : random.whole(1, READINGS_PER_MESSAGE), source);
  return { sending: ledger.begin(readings), ...mqttMessage(source, readings) };
}

const BROKER_IN_FLIGHT = 100;
const BROKER_INTERVAL_MS = 5;

/** Publishes to an external broker until the returned function is called; what the service acknowledges there counts. */
export function publishTo(life: Lifetime, broker: Mqtt5Broker, load: Load): () => Promise<void> {
  const pending = new Map<string, Sending[]>();
  let recorded = 0;
  let isStopped = false;
  let isAbandoned = false;
  life.after(() => {
    isAbandoned = true;
  });

  function publish(): void {
    const { sending, topic, payload } = nextMessage(load);
    pending.set(payload, [...(pending.get(payload) ?? []), sending]);
    broker.publish(topic, payload);
  }

  function recordAcknowledged(): void {
    for (const payload of broker.acknowledged.slice(recorded)) {
      recorded++;
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
