// The links by which customers verify their addresses.

import assert from "node:assert/strict";
import { MAIL_DESTINATION } from "../../src/domain/alerts/notification.ts";
import { newId } from "../../src/domain/id.ts";
import type { Mail } from "../../src/domain/mail/mail.ts";
import type { Store } from "../../src/domain/store.ts";
import { at, executed } from "./commands.ts";

/** The token of the link in the text of a mail. */
export function tokenIn(text: string): string {
  const [, token] = /\/verify\?token=([\w-]{43})\s/.exec(text) ?? [];
  return token ?? assert.fail(text);
}

/** Requests a link for the customer; returns the id of its mail. */
export async function requestLink(store: Store, customerId: string, now = Date.now()): Promise<string> {
  const id = newId("msg", now);
  const request = { type: "request_verification", id: customerId, newId: id, publicUrl: "https://tanks.example.com" } as const;
  await executed(store, request, at(now));
  return id;
}

/** Claims the mail as the sender does; returns the token of its link. */
export async function claimedToken(store: Store, id: string, now = Date.now()): Promise<string> {
  const { notifications } = await store.claimNotifications([{ destination: MAIL_DESTINATION, limit: 100 }], now);
  const { payload = "{}" } = notifications.find((one) => one.id === id) ?? {};
  return tokenIn((JSON.parse(payload) as Mail).text);
}
