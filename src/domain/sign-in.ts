// Signing in without a password: whoever reads the mail of an address may open the accounts that have it. The mail has a link with
// a token, and a code for the browser that requested it. Only hashes of both are stored.

import { randomInt } from "node:crypto";
import { HOUR, type Instant, MINUTE } from "./instant.ts";
import { hashSecret } from "./key.ts";
import type { ManagedCustomer } from "./resource.ts";
import { type Account, type AccountKey, customerAccount, type SessionWithAccount, userAccount } from "./session.ts";
import type { User } from "./user.ts";

/** A link, and the code that was sent with it. It opens the accounts that have the address when it is used. */
export type SignIn = {
  /** Hash of the token. */
  readonly hash: string;
  /** The address as it is stored with the account. */
  readonly email: string;
  /** The only account that it opens, for which the operator created it; both null: all accounts with the address. */
  readonly user_id: string | null;
  readonly customer_id: string | null;
  /** See `hashCode`; null where there is no code, or it was tried too often. */
  readonly code: string | null;
  /** The hash of the cookie of the browser that requested it. */
  readonly browser: string | null;
  /** Wrong codes so far. */
  readonly tries: number;
  readonly created_at: Instant;
  /** 0 once it is used: a link works once. */
  readonly expires_at: Instant;
};

/** Lifetime of a link and its code. */
export const SIGN_IN_LINK_LIFETIME_MS = 10 * MINUTE;
/** A code is invalid after this many wrong ones. */
export const MAX_TRIES = 5;
/** Mails to one address in an hour, whoever requests them. */
export const MAX_SIGN_IN_MAILS = 30;
/** Sign-ins are kept this long, to count the mails that were sent. */
export const SIGN_IN_RETENTION_MS = HOUR;
/** Accounts of each kind with one address. */
export const MAX_ACCOUNTS = 100;
/** Spellings of one address, in upper and lower case, that get a mail each. */
export const MAX_SPELLINGS = 3;

const CODE_DIGITS = 8;
const CODE = new RegExp(`^\\d{${CODE_DIGITS}}$`);

export const newCode = (): string => String(randomInt(10 ** CODE_DIGITS)).padStart(CODE_DIGITS, "0");

/** People type the spaces and hyphens that they see. */
export const cleanCode = (text: string): string | undefined => {
  const digits = text.replaceAll(/[\s-]/g, "");
  return CODE.test(digits) ? digits : undefined;
};

/** A code is short: with the secret of the browser, nobody who reads the database can find it. */
export const hashCode = (browserSecret: string, code: string): string => hashSecret(`${browserSecret} ${code}`);

/** The token is in the fragment, which is not sent to any server. */
export const signInUrl = (publicUrl: string, token: string): string => `${publicUrl}/sign-in#token=${token}`;

type AccountLookup = Pick<AccountReads, "customersWithEmail" | "userList">;

/** What a link opens: the accounts that have its address now. */
export async function accountsFor(signIn: SignIn, lookup: AccountLookup): Promise<readonly Account[]> {
  const { email, user_id, customer_id } = signIn;
  const allUsers = customer_id === null ? await lookup.userList() : [];
  const users = allUsers.filter((user) => user.email === email && (user_id === null || user.id === user_id));
  const customers = user_id === null ? await lookup.customersWithEmail(email, customer_id) : [];
  const own = customers.filter(({ customer }) => customer.email === email);
  return [...users.map(userAccount), ...own.map(({ customer }) => customerAccount(customer))];
}

export interface AccountReads {
  /** All of them, newest first, then by id. */
  userList(): Promise<readonly User[]>;
  /** Newest first; without expired ones. */
  sessionsOf(account: AccountKey, now: Instant): Promise<readonly SessionWithAccount[]>;
  /** Also finds expired sign-ins. */
  signInByHash(hash: string): Promise<SignIn | undefined>;
  /** Sign-in links that a browser has requested for this address, in any case of letters; newest first. */
  signInsOf(browser: string, email: string): Promise<readonly SignIn[]>;
  /** Customers with this address, in whatever case of A to Z, oldest first, or only one of them; without deleted ones. */
  customersWithEmail(email: string, onlyId: string | null): Promise<readonly ManagedCustomer[]>;
}
