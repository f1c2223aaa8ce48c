// The part of the service that sends notifications: by webhooks and mail.

import { type AttemptResult, MAIL_CONCURRENCY, WEBHOOK_CONCURRENCY } from "../domain/alerts/notification-queue.ts";
import type { WebhookAllow } from "../domain/alerts/webhook-url.ts";
import type { Mail, Mailbox } from "../domain/mail/mail.ts";
import { type NotificationCleanupOptions, startNotificationCleanup } from "./cleanup.ts";
import type { MailTransport } from "./mail/transport.ts";
import { NotificationSender, type NotificationTransport } from "./sender.ts";
import { WebhookThread } from "./webhook-thread.ts";

type MailSettings = { readonly smtpUrl: string | null; readonly mailFrom: Mailbox | null };

export type NotificationServiceOptions = NotificationCleanupOptions & {
  readonly mail: MailSettings;
  readonly webhookAllow: WebhookAllow;
  readonly version: string;
};

export type NotificationService = {
  /** Something is due now. */
  readonly wake: () => void;
  /** Sends mail at once, and does not store it: for mail with a secret. */
  readonly sendMail: (id: string, mail: Mail) => Promise<AttemptResult>;
  /** Attempts in progress get this long to finish. `mailSent` resolves after the last call of `sendMail`. */
  readonly stop: (milliseconds: number, mailSent?: Promise<void>) => Promise<void>;
};

export function startNotificationService(options: NotificationServiceOptions): NotificationService {
  const { store, clock, observe, mail: settings, webhookAllow: allow, version } = options;
  const webhooks = new WebhookThread({ allow, version });
  const mail = openMail(settings, options.missingForMail);
  const sender = new NotificationSender({ store, clock, observe, webhooks: webhookTransport(webhooks), mail });
  const cleanup = startNotificationCleanup(options);
  return {
    wake: () => sender.wake(),
    sendMail: async (id, content) => (mail === undefined ? NO_MAIL : mail.sendMail(id, content)),
    async stop(milliseconds, mailSent) {
      await Promise.all([sender.stop(milliseconds), cleanup.stop(), mailSent]);
      mail?.interrupt();
      await webhooks.close();
    },
  };
}

function webhookTransport(webhooks: WebhookThread): NotificationTransport {
  return {
    concurrency: WEBHOOK_CONCURRENCY,
    async send({ id, payload, channel_id }, channel) {
      if (channel === undefined || channel.url === null)
        return { status: null, error: "the channel has no URL", isPermanent: true };
      return webhooks.send({ channelId: channel_id ?? "", url: channel.url, id, payload, secrets: channel });
    },
    interrupt: () => void webhooks.close(),
  };
}

const NO_MAIL: AttemptResult = { status: null, error: "mail is not configured", isPermanent: true };

type MailSender = NotificationTransport & Pick<NotificationService, "sendMail">;

function openMail({ smtpUrl, mailFrom }: MailSettings, missingForMail: readonly string[]): MailSender | undefined {
  if (smtpUrl === null || mailFrom === null || missingForMail.length > 0) return undefined;
  let opened: Promise<MailTransport> | undefined;
  // Loaded with the first mail, because the library takes longer to load than the rest of the service to start.
  const open = async (): Promise<MailTransport> => {
    const { openMailTransport } = await import("./mail/transport.ts");
    return openMailTransport(smtpUrl, mailFrom);
  };
  async function sendMail(id: string, mail: Mail): Promise<AttemptResult> {
    opened ??= open().catch((error: unknown) => {
      // The next mail tries again.
      opened = undefined;
      throw error;
    });
    return (await opened).send(id, mail);
  }
  return {
    concurrency: MAIL_CONCURRENCY,
    sendMail,
    async send({ id, payload }, channel) {
      const mail = JSON.parse(payload) as Mail;
      // The address of the channel may have been changed since.
      return sendMail(id, { ...mail, to: channel?.to ?? mail.to });
    },
    interrupt: () =>
      void opened?.then(
        (transport) => transport.close(),
        () => {},
      ),
  };
}
