// Receivers of webhooks on this machine, each at its own path and with its own channel of the service.

import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Of the service; the key has the role manage. */
export type ManagedService = { readonly url: string; readonly key: string };

const CHANNELS = "/manage/v1/channels";
/** Longer than the pauses between runs. */
const KEEP_ALIVE_MS = 120_000;
const HANGING = "/hanging";

export class WebhookReceivers {
  readonly #server: Server;
  readonly #service: ManagedService;
  readonly #onWebhook: (id: string) => void;
  readonly #channelIds: string[] = [];
  readonly #unanswered = new Set<ServerResponse>();

  private constructor(service: ManagedService, onWebhook: (id: string) => void) {
    this.#service = service;
    this.#onWebhook = onWebhook;
    this.#server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => this.#receive(request, response));
  }

  /** `onWebhook` is called with the id of each webhook, but not of those to receivers that hang. */
  static async open(service: ManagedService, onWebhook: (id: string) => void): Promise<WebhookReceivers> {
    const receivers = new WebhookReceivers(service, onWebhook);
    receivers.#server.listen(0, "127.0.0.1");
    await once(receivers.#server, "listening");
    return receivers;
  }

  /** Creates receivers and their channels. One that hangs never responds. */
  async add(count: number, hanging: number): Promise<void> {
    const { port } = this.#server.address() as AddressInfo;
    for (let i = 0; i < count; i++) {
      const url = `http://127.0.0.1:${port}${i < hanging ? HANGING : ""}/${i}`;
      const { id } = (await this.#manage("POST", CHANNELS, { type: "webhook", url })) as { readonly id: string };
      this.#channelIds.push(id);
    }
  }

  /** Deletes all channels, and with them what is still pending. */
  async removeAll(): Promise<void> {
    for (const id of this.#channelIds.splice(0)) await this.#manage("DELETE", `${CHANNELS}/${id}`);
    for (const { socket } of this.#unanswered) socket?.destroy();
    this.#unanswered.clear();
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    request.resume();
    if (request.url?.startsWith(HANGING) === true) {
      this.#unanswered.add(response);
      return;
    }
    request.on("end", () => {
      this.#onWebhook(String(request.headers["webhook-id"]));
      response.writeHead(204).end();
    });
  }

  async #manage(method: string, path: string, body?: object): Promise<unknown> {
    const { url, key } = this.#service;
    const headers = { "x-api-key": key, "content-type": "application/json" };
    const response = await fetch(`${url}${path}`, {
      method,
      headers: body === undefined ? { "x-api-key": key } : headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} got ${response.status}: ${text.slice(0, 300)}`);
    return text === "" ? undefined : JSON.parse(text);
  }
}
