// The part of the service that sends notifications: by webhooks and mail.

import type { WebhookAllow } from "../domain/alerts/webhook-url.ts";
import type { Mail, Mailbox } from "../domain/mail/mail.ts";
import { MAX_MAIL_CONNECTIONS, openMailTransport } from "./mail/transport.ts";
import { Sender, type Transport } from "./sender.ts";
import { Upkeep, type UpkeepOptions } from "./upkeep.ts";
import { MAX_CONCURRENT_WEBHOOKS, WebhookSender } from "./webhook.ts";

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
  const webhooks = new WebhookSender({ allow, version, clock, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
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
      await webhooks.close();
    },
  };
}

function webhookTransport(webhooks: WebhookSender): Transport {
  return {
    concurrency: MAX_CONCURRENT_WEBHOOKS,
    async send({ id, payload, channel_id }, channel, signal) {
      if (channel === undefined || channel.url === null)
        return { status: null, error: "the channel has no URL", isPermanent: true };
      return webhooks.send({ channelId: channel_id ?? "", url: channel.url, id, payload, secrets: channel, signal });
    },
  };
}

function openMail({ smtpUrl, mailFrom }: MailSettings, missing: readonly string[]) {
  if (smtpUrl === null || mailFrom === null || missing.length > 0) return undefined;
  const connections = openMailTransport(smtpUrl, mailFrom);
  const transport: Transport = {
    concurrency: MAX_MAIL_CONNECTIONS,
    send: ({ id, payload }) => connections.send(id, JSON.parse(payload) as Mail),
  };
  return { transport, close: () => connections.close() };
}
