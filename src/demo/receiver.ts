// The demo's own webhook receiver: verifies what arrives, and describes each event in a line, or many of them together.

import { timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { alertObject } from "../domain/alerts/alert.ts";
import type { testEventObject } from "../domain/alerts/channel.ts";
import { EVENT_TYPES, type eventObject, type refillEventObject } from "../domain/alerts/event.ts";
import { signatureHeaders } from "../domain/alerts/webhook-signature.ts";
import type { refillObject } from "../domain/forecast/objects.ts";

type ReceivedEvent = ReturnType<typeof eventObject | typeof refillEventObject | typeof testEventObject>;
type ReceivedAlert = ReturnType<typeof alertObject>;
type ReceivedRefill = ReturnType<typeof refillObject>;

/** `secret` is set once the channel is created, which needs the URL. */
export type Receiver = { readonly url: string; secret: string; readonly close: () => void };

/** What arrives within this time is described together: above the maximum only by how many there are. */
const TOGETHER_MS = 1000;
const MAX_LINES = 5;

export async function startReceiver(print: (line: string) => void): Promise<Receiver> {
  let recent: ReceivedEvent[] = [];
  function received(event: ReceivedEvent): void {
    if (!EVENT_TYPES.includes(event.type)) return;
    recent.push(event);
    if (recent.length > 1) return;
    setTimeout(() => {
      const events = recent;
      recent = [];
      for (const line of events.length > MAX_LINES ? [describeMany(events)] : events.map(describeEvent)) print(line);
    }, TOGETHER_MS).unref();
  }
  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => undefined);
    // The request was aborted.
    if (body === undefined) return;
    const isAuthentic = isSigned(request, body, receiver.secret);
    response.writeHead(isAuthentic ? 204 : 401).end();
    if (isAuthentic) received(JSON.parse(body) as ReceivedEvent);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    secret: "",
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
  return receiver;
}

/** Whether the receiver of a demo that is running listens there: it rejects what is not signed. */
export async function isReceiving(url: string): Promise<boolean> {
  const response = await fetch(url, { redirect: "error", signal: AbortSignal.timeout(1000) }).catch(() => undefined);
  await response?.body?.cancel();
  return response?.status === 401;
}

function isSigned({ headers }: IncomingMessage, body: string, secret: string): boolean {
  const [id, timestamp, signature] = ["id", "timestamp", "signature"].map((name) => String(headers[`webhook-${name}`]));
  const secrets = { secret, previous_secret: null, previous_until: null };
  const expected = signatureHeaders(id ?? "", body, secrets, Number(timestamp) * 1000)["webhook-signature"];
  const [one, other] = [Buffer.from(expected ?? ""), Buffer.from(signature ?? "")];
  return one.length === other.length && timingSafeEqual(one, other);
}

const timeOf = ({ timestamp }: ReceivedEvent): string => /T(.*)\./.exec(timestamp)?.[1] ?? "";

function describeMany(events: readonly ReceivedEvent[]): string {
  const numbers = Object.entries(Object.groupBy(events, ({ type }) => type)).map(([type, { length }]) => {
    const plural = length === 1 ? "" : "s";
    if (type === "channel.test") return `${length} channel test${plural}`;
    const [noun, verb] = type.split(".");
    return `${length} ${noun}${plural} ${verb}`;
  });
  return `${events.map(timeOf).at(-1)}  ${numbers.join(", ")}`;
}

function describeEvent(event: ReceivedEvent): string {
  const what = event.type.replace(".", " ");
  if (event.type === "channel.test") return `${timeOf(event)}  ${what}`;
  const { tank } = event.data;
  const details = event.type === "tank.refilled" ? refillText(event.data.refill) : alertText(event.data.alert);
  const place = [tank.name, tank.location.city].filter((part) => part !== null).join(", ");
  return `${timeOf(event)}  ${what.padEnd(18)}  ${details}  ${place} (${tank.id})`;
}

const alertText = (alert: ReceivedAlert): string => `${alert.kind.padEnd(13)}  ${stateOf(alert)}`;

const refillText = ({ from_percentage, to_percentage, volume, unit }: ReceivedRefill): string =>
  `from ${from_percentage.toFixed(1)} to ${to_percentage.toFixed(1)} %, ${Math.round(volume)} ${unit}`;

const stateOf = ({ latest_fill_percentage, threshold }: ReceivedAlert): string =>
  `${latest_fill_percentage.toFixed(1).padStart(5)} % (threshold ${threshold} %)`;
