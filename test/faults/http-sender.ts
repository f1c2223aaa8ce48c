// A sender over HTTP, as a gateway is one: it sends one message after the other, and those that broke off once more.

import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { sourceOf } from "./fleet.ts";
import type { Reading } from "./ledger.ts";
import type { Sender, SenderParts } from "./sender.ts";

const PATIENCE_MS = 20_000;
const AGAIN_MS = 20;
const DONE = new Set(["stored", "duplicate", "replaced", "waiting"]);

type Message = { readonly readings: readonly Reading[]; readonly init: RequestInit };

/** `most` readings in one message. */
export function httpSender(parts: SenderParts, url: string, most: number): Sender {
  const { ledger, tally, chance, measurements } = parts;
  const abandoned = new AbortController();
  let isStopped = false;

  async function run(): Promise<void> {
    let again: Message | undefined;
    while (!isStopped) {
      const count = chance.of(0.3) ? 1 : chance.whole(1, most);
      const message = again ?? messageOf(parts, measurements.some(count));
      const isDone = await send(message);
      again = isDone || chance.of(0.3) ? undefined : message;
    }
  }

  /** Whether it was acknowledged. */
  async function send({ readings, init }: Message): Promise<boolean> {
    const sending = ledger.begin(readings);
    const signal = AbortSignal.any([abandoned.signal, AbortSignal.timeout(PATIENCE_MS)]);
    let response: Response;
    let text: string;
    try {
      response = await fetch(`${url}/ingest/v1/readings`, { ...init, signal });
      text = await response.text();
    } catch {
      sending.broken();
      tally.broken++;
      await pause(AGAIN_MS);
      return false;
    }
    if (response.status === 200) {
      sending.acknowledged();
      const fault = faultIn(text, readings);
      if (fault !== undefined) tally.strange.push(fault);
      return true;
    }
    sending.refused();
    // It does not wait as long as it is told to, so that the service has something to stand.
    if (response.status === 503 && response.headers.get("retry-after") === "1") tally.refused++;
    else tally.strange.push(`${response.status}: ${text}`);
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

function faultIn(text: string, readings: readonly Reading[]): string | undefined {
  const { results } = JSON.parse(text) as { readonly results: readonly { readonly status: string; readonly reason?: string }[] };
  if (results.length !== readings.length) return `${results.length} results for ${readings.length} readings`;
  const wrong = results.find(({ status }) => !DONE.has(status));
  return wrong === undefined ? undefined : `${wrong.status}: ${wrong.reason}`;
}

/** An object, a list or lines; by tank or by device; packed or not. */
function messageOf({ chance, key }: SenderParts, readings: readonly Reading[]): Message {
  const values = readings.map(({ place, at, fill }) => {
    const { tankId, deviceId } = sourceOf(place);
    const of = tankId !== undefined && chance.of(0.5) ? { tank_id: tankId } : { device_id: named(deviceId, chance.of(0.5)) };
    return { ...of, created_at: new Date(at).toISOString(), fill_percentage: fill };
  });
  const isLines = chance.of(0.3);
  const text = isLines
    ? values.map((value) => JSON.stringify(value)).join("\n")
    : JSON.stringify(values.length === 1 ? values[0] : values);
  const headers = { "x-api-key": key, "content-type": isLines ? "application/x-ndjson" : "application/json" };
  if (chance.of(0.7)) return { readings, init: { method: "POST", headers, body: text } };
  return { readings, init: { method: "POST", headers: { ...headers, "content-encoding": "gzip" }, body: gzipSync(text) } };
}

/** An EUI-64 is written in either case. */
const named = (deviceId: string, isUpper: boolean): string =>
  isUpper && /^[0-9a-f]{16}$/.test(deviceId) ? deviceId.toUpperCase() : deviceId;
