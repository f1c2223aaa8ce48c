// Links to unsubscribe from mail. A token names a customer and proves that the link came with a mail to their address: it needs
// no row of its own, and stays valid until the address changes.

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Customer } from "./customer.ts";

export const newUnsubscribeSecret = (): string => randomBytes(32).toString("base64url");
export const isUnsubscribeSecret = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text);

/** In the links of a stored mail: whoever reads the database, or a backup, must not find a token. */
export const UNSUBSCRIBE_PLACEHOLDER = "TOKEN-TO-UNSUBSCRIBE";

const TOKEN = /^([A-Za-z0-9_-]{2,700})\.([A-Za-z0-9_-]{43})$/;

type Subscriber = Pick<Customer, "id" | "email">;

export function unsubscribeToken(secret: string, customer: Subscriber): string {
  return `${Buffer.from(customer.id).toString("base64url")}.${codeOf(secret, customer)}`;
}

/** The id of the customer that a token names. Whether it is genuine is not known yet. */
export function customerIn(token: string): string | undefined {
  const [, id] = TOKEN.exec(token) ?? [];
  return id === undefined ? undefined : Buffer.from(id, "base64url").toString();
}

export function isGenuineToken(token: string, secret: string, customer: Subscriber): boolean {
  const [, , code = ""] = TOKEN.exec(token) ?? [];
  const expected = Buffer.from(codeOf(secret, customer));
  const given = Buffer.from(code);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function codeOf(secret: string, { id, email }: Subscriber): string {
  return createHmac("sha256", secret)
    .update(JSON.stringify(["unsubscribe", id, email]))
    .digest("base64url");
}
