// The thread that sends webhooks. Signing and sending one takes longer than a read: in the serving thread, reads would wait.

import { parentPort, workerData } from "node:worker_threads";
import type { AttemptResult } from "../domain/alerts/notification-queue.ts";
import { type Webhook, WebhookSender, type WebhookSettings } from "./webhook.ts";

/** Many go in one message, and so do their replies. */
export type WebhookCall = { readonly number: number; readonly webhook: Webhook };
export type WebhookReply = { readonly number: number } & ({ readonly result: AttemptResult } | { readonly error: unknown });

if (parentPort !== null) {
  const port = parentPort;
  const sender = new WebhookSender({ ...(workerData as WebhookSettings), clock: Date.now });
  let replies: WebhookReply[] = [];

  function postReplies(): void {
    port.postMessage(replies);
    replies = [];
  }

  /** Sends the reply together with all others of this iteration of the event loop. */
  function reply(one: WebhookReply): void {
    if (replies.push(one) === 1) setImmediate(postReplies);
  }

  port.on("message", (message: readonly WebhookCall[] | "close") => {
    if (message === "close") {
      void sender.close().finally(() => {
        postReplies();
        port.close();
      });
      return;
    }
    for (const { number, webhook } of message) {
      sender.send(webhook).then(
        (result) => reply({ number, result }),
        (error: unknown) => reply({ number, error }),
      );
    }
  });
}
