// Verification of a customer's e-mail address: a link with a random token is sent to it, and whoever uses the link can read its
// mail. Only the hash of the token is stored: the stored mail has a placeholder, and each attempt to send it a token of its own.

import { randomBytes } from "node:crypto";
import { DAY, type Instant } from "./instant.ts";

/** The address that is verified: the link is invalid if the customer has another one by then. */
export type EmailVerification = {
  readonly hash: string;
  readonly customer_id: string;
  readonly email: string;
  readonly expires_at: Instant;
};

/** A mail with such a link. */
export type VerificationMail = { readonly id: string; readonly created_at: Instant; readonly isPending: boolean };

export const VERIFICATION_MS = 7 * DAY;

const TOKEN_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** In the link of a stored mail. */
export const TOKEN_PLACEHOLDER = "TOKEN-OF-THIS-ATTEMPT";

export const newVerificationToken = (): string => randomBytes(TOKEN_BYTES).toString("base64url");
export const isVerificationToken = (text: string): boolean => TOKEN.test(text);

/** Reads for the pages that links in mail lead to. */
export interface MailLinkReads {
  verification(hash: string): Promise<EmailVerification | undefined>;
  /** Undefined: no link to unsubscribe was ever sent. */
  unsubscribeSecret(): Promise<string | undefined>;
}
