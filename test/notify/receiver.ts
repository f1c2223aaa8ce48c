// Receivers of webhooks on 127.0.0.1, and a sender that may reach them.

import { createServer as createHttpServer, type IncomingMessage, type RequestListener } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { newWebhookSecret } from "../../src/domain/alerts/webhook-signature.ts";
import { parseWebhookAllow } from "../../src/domain/alerts/webhook-url.ts";
import { type Webhook, WebhookSender } from "../../src/notify/webhook.ts";
import { TEST_CERTIFICATE } from "../support/certificate.ts";

export type Received = { readonly request: IncomingMessage; readonly body: string };

export type Receiver = {
  readonly port: number;
  readonly url: string;
  readonly sockets: Set<Socket>;
  readonly connections: () => number;
};

async function listen(t: TestContext, server: Server, scheme: "http" | "https"): Promise<Receiver> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on("connection", (socket: Socket) => {
    connections += 1;
    sockets.add(socket.on("close", () => sockets.delete(socket)).on("error", () => undefined));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `${scheme}://127.0.0.1:${port}/hooks/SECRETPATH?token=SECRETQUERY`,
    sockets,
    connections: () => connections,
  };
}

export const httpReceiver = (t: TestContext, respond: RequestListener): Promise<Receiver> =>
  listen(t, createHttpServer(respond), "http");

export const httpsReceiver = (t: TestContext, respond: RequestListener): Promise<Receiver> =>
  listen(t, createHttpsServer(TEST_CERTIFICATE, respond), "https");

/** Gets the request as raw bytes, whole, and responds with anything. */
export function rawReceiver(t: TestContext, respond: (socket: Socket) => void): Promise<Receiver> {
  return listen(
    t,
    createTcpServer((socket) => void socket.on("data", () => respond(socket))),
    "http",
  );
}

/** Responds with the status to everything, and keeps what it got. */
export async function recordingReceiver(t: TestContext, status = 200, headers: Record<string, string> = {}) {
  const received: Received[] = [];
  const receiver = await httpReceiver(t, async (request, response) => {
    received.push({ request, body: await text(request) });
    response.writeHead(status, headers).end("thanks");
  });
  return { ...receiver, received };
}

export const SECRETS = { secret: newWebhookSecret(), previous_secret: null, previous_until: null };

/** A sender for what `allow` opens, closed after the test. */
export function openSender(
  t: TestContext,
  options: Partial<ConstructorParameters<typeof WebhookSender>[0]> & { readonly opened?: string } = {},
): WebhookSender {
  const { opened = "127.0.0.1", ...more } = options;
  const allow = opened === "" ? [] : parseWebhookAllow(opened);
  const sender = new WebhookSender({ allow, version: "1.2.3", clock: Date.now, ...more });
  t.after(() => sender.close());
  return sender;
}

export function webhook(url: string, fields: Partial<Webhook> = {}): Webhook {
  return { channelId: "chn_1", url, id: "msg_1", payload: '{"type":"channel.test"}', secrets: SECRETS, ...fields };
}
