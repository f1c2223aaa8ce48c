// The part of the service that sends notifications: by webhooks and mail.

import { MAX_MAILS, MAX_WEBHOOKS } from "../domain/alerts/delivery.ts";
import type { WebhookAllow } from "../domain/alerts/webhook-url.ts";
import type { Mail, Mailbox } from "../domain/mail/mail.ts";
import type { MailTransport } from "./mail/transport.ts";
import { Sender, type Transport } from "./sender.ts";
import { Upkeep, type UpkeepOptions } from "./upkeep.ts";
import type { WebhookSender } from "./webhook.ts";

type MailSettings = { readonly smtpUrl: string | null; readonly mailFrom: Mailbox | null };

export type DeliveryOptions = UpkeepOptions & {
  readonly mail: MailSettings;
  readonly webhookAllow: WebhookAllow;
  readonly version: string;
  /** Of one webhook. */
  readonly timeoutMs?: number;
};

export type Delivery = {
  /** Something is due now. */
  readonly wake: () => void;
  /** What is under way is finished within the time. */
  readonly stop: (milliseconds: number) => Promise<void>;
};

export function startDelivery(options: DeliveryOptions): Delivery {
  const { store, clock, observe, mail: settings, webhookAllow: allow, version, timeoutMs } = options;
  // Loaded with the first message, because the libraries take longer to load than the rest of the service to start.
  const webhooks = onFirstUse(async () => {
    const { WebhookSender } = await import("./webhook.ts");
    return new WebhookSender({ allow, version, clock, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
  });
  const mail = openMail(settings, options.missing);
  const sender = new Sender({ store, clock, observe, webhooks: webhookTransport(webhooks), mail: mail?.transport });
  const upkeep = new Upkeep(options);
  return {
    wake: () => sender.wake(),
    async stop(milliseconds) {
      const stopped = Promise.all([sender.stop(milliseconds), upkeep.stop()]);
      // After the sender has interrupted all attempts; those of mail end with their connections.
      const timer = setTimeout(() => mail?.close(), milliseconds);
      await stopped;
      clearTimeout(timer);
      mail?.close();
      await (await webhooks.opened())?.close();
    },
  };
}

type OnFirstUse<T> = { readonly open: () => Promise<T>; readonly opened: () => Promise<T> | undefined };

function onFirstUse<T>(load: () => Promise<T>): OnFirstUse<T> {
  let loaded: Promise<T> | undefined;
  return {
    open() {
      loaded ??= load();
      return loaded;
    },
    opened: () => loaded,
  };
}

function webhookTransport(webhooks: OnFirstUse<WebhookSender>): Transport {
  return {
    concurrency: MAX_WEBHOOKS,
    async send({ id, payload, channel_id }, channel, signal) {
      if (channel === undefined || channel.url === null)
        return { status: null, error: "the channel has no URL", isPermanent: true };
      return (await webhooks.open()).send({
        channelId: channel_id ?? "",
        url: channel.url,
        id,
        payload,
        secrets: channel,
        signal,
      });
    },
  };
}

function openMail({ smtpUrl, mailFrom }: MailSettings, missing: readonly string[]) {
  if (smtpUrl === null || mailFrom === null || missing.length > 0) return undefined;
  const connections: OnFirstUse<MailTransport> = onFirstUse(async () => {
    const { openMailTransport } = await import("./mail/transport.ts");
    return openMailTransport(smtpUrl, mailFrom);
  });
  const transport: Transport = {
    concurrency: MAX_MAILS,
    send: async ({ id, payload }) => (await connections.open()).send(id, JSON.parse(payload) as Mail),
  };
  return { transport, close: () => void connections.opened()?.then((opened) => opened.close()) };
}
