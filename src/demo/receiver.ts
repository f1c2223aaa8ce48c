// The demo's own webhook receiver: verifies what arrives, and describes it in a line.

import { timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { alertObject } from "../domain/alerts/alert.ts";
import type { eventObject } from "../domain/alerts/event.ts";
import { signatureHeaders } from "../domain/alerts/webhook-signature.ts";

type ReceivedEvent = ReturnType<typeof eventObject>;
type ReceivedAlert = ReturnType<typeof alertObject>;

/** `secret` is set once the channel is created, which needs the URL. */
export type Receiver = { readonly url: string; secret: string; readonly close: () => void };

export async function startReceiver(print: (line: string) => void): Promise<Receiver> {
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const isAuthentic = isSigned(request, body, receiver.secret);
    response.writeHead(isAuthentic ? 204 : 401).end();
    if (isAuthentic) print(describeEvent(JSON.parse(body) as ReceivedEvent));
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

function isSigned({ headers }: IncomingMessage, body: string, secret: string): boolean {
  const [id, timestamp, signature] = ["id", "timestamp", "signature"].map((name) => String(headers[`webhook-${name}`]));
  const secrets = { secret, previous_secret: null, previous_until: null };
  const expected = signatureHeaders(id ?? "", body, secrets, Number(timestamp) * 1000)["webhook-signature"];
  const [one, other] = [Buffer.from(expected ?? ""), Buffer.from(signature ?? "")];
  return one.length === other.length && timingSafeEqual(one, other);
}

function describeEvent({ type, timestamp, data: { alert, tank } }: ReceivedEvent): string {
  const [, time = ""] = /T(.*)\./.exec(timestamp) ?? [];
  const what = type.replace(".", " ");
  return `${time}  ${what.padEnd(18)}  ${alert.kind.padEnd(6)}  ${stateOf(alert)}  ${tank.name}, ${tank.location.city} (${tank.id})`;
}

const stateOf = ({ latest_fill_percentage, threshold }: ReceivedAlert): string =>
  `${latest_fill_percentage.toFixed(1).padStart(5)} % (threshold ${threshold} %)`;
