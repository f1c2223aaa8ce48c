// Sends one webhook. Receivers are not trusted: time, bytes and connections are bounded, redirects are not followed, and only
// permitted addresses are connected to. Each channel has connections of its own, so that a slow one does not hold up others.

import { type Dispatcher, Pool } from "undici";
import type { ChannelSecrets } from "../domain/alerts/channel.ts";
import { ATTEMPT_MS, type AttemptResult, WEBHOOK_CONCURRENCY } from "../domain/alerts/notification-queue.ts";
import { signatureHeaders } from "../domain/alerts/webhook-signature.ts";
import { errorInWebhookUrl, type WebhookAllow } from "../domain/alerts/webhook-url.ts";
import type { Clock } from "../domain/instant.ts";
import { type Resolve, systemResolve, webhookConnector } from "./connect.ts";
import { connectionError } from "./connection-error.ts";
import { retryAfter } from "./retry-after.ts";

const MAX_HEADER_BYTES = 16 * 1024;
/** After this many requests the name is resolved again. */
const MAX_REQUESTS_PER_CONNECTION = 1000;
const MAX_IDLE_MS = 60_000;

export type Webhook = {
  readonly channelId: string;
  readonly url: string;
  /** The id of the notification. */
  readonly id: string;
  readonly payload: string;
  readonly secrets: ChannelSecrets;
};

/** Plain data, because it is sent to a thread. */
export type WebhookSettings = {
  readonly allow: WebhookAllow;
  /** Version of the program. */
  readonly version: string;
  readonly timeoutMs?: number;
};

type Options = WebhookSettings & { readonly clock: Clock; readonly resolve?: Resolve };

/** Where the webhooks of a channel go. */
type ReceiverPool = { readonly pool: Pool; readonly path: string };

export class WebhookSender {
  readonly #options: Options;
  readonly #timeoutMs: number;
  readonly #poolOptions: Pool.Options;
  /** Keyed by channel and URL. */
  readonly #receivers = new Map<string, ReceiverPool>();
  #isClosed = false;

  constructor(options: Options) {
    const { allow, timeoutMs = ATTEMPT_MS, resolve = systemResolve } = options;
    this.#options = options;
    this.#timeoutMs = timeoutMs;
    this.#poolOptions = {
      connections: WEBHOOK_CONCURRENCY,
      connect: webhookConnector(allow, resolve, timeoutMs),
      // An attempt has one deadline for everything.
      headersTimeout: 0,
      bodyTimeout: 0,
      allowH2: false,
      maxHeaderSize: MAX_HEADER_BYTES,
      maxRequestsPerClient: MAX_REQUESTS_PER_CONNECTION,
      keepAliveMaxTimeout: MAX_IDLE_MS,
    };
  }

  /**
   * More than `WEBHOOK_CONCURRENCY` of a channel wait for each other, within their time. Errors of the receiver or the connection are results,
   * not rejections: short, and without path, query and secret.
   */
  async send({ channelId, url, id, payload, secrets }: Webhook): Promise<AttemptResult> {
    const { version, clock } = this.#options;
    if (this.#isClosed) return failure(INTERRUPTED);
    const key = `${channelId} ${url}`;
    const receiver = this.#receivers.get(key) ?? this.#addReceiver(key, url);
    if (typeof receiver === "string") return failure(`the URL ${receiver}`);
    const request: Dispatcher.DispatchOptions = {
      method: "POST",
      path: receiver.path,
      headers: {
        "content-type": "application/json",
        "user-agent": `tank-monitor/${version}`,
        ...signatureHeaders(id, payload, secrets, clock()),
      },
      body: payload,
    };
    return attempt(receiver.pool, request, this.#timeoutMs, clock);
  }

  /** Attempts in progress end with the error "interrupted". */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(Array.from(this.#receivers.values(), ({ pool }) => pool.destroy()));
  }

  /** What is wrong with the URL, if it is not permitted: it may have been when the channel was created. */
  #addReceiver(key: string, url: string): ReceiverPool | string {
    const error = errorInWebhookUrl(url, this.#options.allow);
    if (error !== undefined) return error;
    const { origin, pathname, search } = new URL(url);
    const pool = new Pool(origin, this.#poolOptions);
    const receiver = { pool, path: pathname + search };
    this.#receivers.set(key, receiver);
    const removeIfUnused = (): void => {
      const { connected, size } = pool.stats;
      if (connected === 0 && size === 0 && this.#receivers.get(key) === receiver) {
        this.#receivers.delete(key);
        void pool.destroy();
      }
    };
    // Later, because a request that was aborted still counts while its connection is closed.
    const check = (): void => void setImmediate(removeIfUnused);
    pool.on("disconnect", check).on("connectionError", check);
    return receiver;
  }
}

const INTERRUPTED = "interrupted";
const failure = (error: string): AttemptResult => ({ status: null, error });

/** The status decides. The rest of the response is read only to use the connection again. */
function attempt(pool: Pool, request: Dispatcher.DispatchOptions, timeoutMs: number, clock: Clock): Promise<AttemptResult> {
  const { promise, resolve } = Promise.withResolvers<AttemptResult>();
  let controller: Dispatcher.DispatchController | undefined;
  let response: AttemptResult | undefined;
  let isEnded = false;

  function end(error: string): void {
    if (isEnded) return;
    isEnded = true;
    clearTimeout(timer);
    resolve(response ?? failure(error));
  }
  const timer = setTimeout(() => {
    const error = `no response within ${timeoutMs / 1000} seconds`;
    end(error);
    controller?.abort(new Error(error));
  }, timeoutMs);

  pool.dispatch(request, {
    onRequestStart(started) {
      controller = started;
      // It has waited for a connection for too long.
      if (isEnded) started.abort(new Error(INTERRUPTED));
    },
    onResponseStart(_, status, headers) {
      if (status >= 200) response = resultOf(status, headers["retry-after"], clock);
    },
    onResponseData: () => undefined,
    onResponseEnd: () => end("no response"),
    onResponseError: (_, error) => end(connectionError(error) ?? INTERRUPTED),
  });
  return promise;
}

function resultOf(status: number, after: string | string[] | undefined, clock: Clock): AttemptResult {
  if (status >= 200 && status < 300) return { status, error: null };
  if (status >= 300 && status < 400) return { status, error: `redirects are not followed (${status})` };
  if (status === 410) return { status, error: "the receiver wants no more webhooks (410)", isGone: true };
  const retryAfterMs = status === 429 || status === 503 ? retryAfter([after].flat()[0], clock()) : undefined;
  return {
    status,
    error: `the receiver responded with ${status}`,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}
