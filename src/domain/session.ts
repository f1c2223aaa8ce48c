// Accounts that somebody signs in to, and sessions: a browser that is signed in to one account. The secret of a session is in a
// cookie; only its hash is stored.

import type { Customer } from "./customer.ts";
import { DAY, formatInstant, type Instant } from "./instant.ts";
import { boolean, idField, instantField, literal, nullable, object, oneOf, type Static, text, textField } from "./schema.ts";
import { USER_ROLES, type User } from "./user.ts";

/** Roles from the least to the most: everybody who is signed in has one. */
export const SESSION_ROLES = ["customer", ...USER_ROLES] as const;
export type SessionRole = (typeof SESSION_ROLES)[number];

/** With the type: the ids of users and of customers are given independently. */
export type AccountKey = { readonly type: "user" | "customer"; readonly id: string };

export type Account = AccountKey & {
  readonly name: string;
  readonly email: string;
  readonly role: SessionRole;
};

export const userAccount = ({ id, name, email, role }: User): Account => ({ type: "user", id, name, email, role });
export const customerAccount = ({ id, name, email }: Customer): Account => ({
  type: "customer",
  id,
  name,
  email,
  role: "customer",
});

/** Whether somebody with the role may do what needs the other. Users see all customers; a customer sees only their own. */
export const hasSessionRole = (role: SessionRole, required: SessionRole): boolean =>
  SESSION_ROLES.indexOf(role) >= SESSION_ROLES.indexOf(required);

/** Sessions end after this, however much they are used. */
export const SESSION_LIFETIME_MS = 30 * DAY;
/** Sessions of one account. When another one starts, the oldest ends. */
export const MAX_SESSIONS = 100;
export const USER_AGENT_MAX_LENGTH = 256;

export type Session = {
  readonly id: string;
  /** One of the two is set. */
  readonly user_id: string | null;
  readonly customer_id: string | null;
  readonly created_at: Instant;
  readonly expires_at: Instant;
  /** What the browser says it is. */
  readonly user_agent: string | null;
};

/** A session with the account as it is now. */
export type SessionWithAccount = Session & { readonly account: Account };

const role = oneOf(SESSION_ROLES, { description: "What the account may do", examples: ["dispatcher"] });

export const AccountObject = object(
  {
    id: idField("Identifier of the user or customer", "usr_01kxa8w5s0v3m4q9t7r2n6c8d1"),
    object: literal("account", { description: "Always `account`" }),
    type: oneOf(["user", "customer"], { description: "Whose account it is", examples: ["user"] }),
    name: textField("The name of the user or customer", "Dana Fischer"),
    role,
  },
  { description: "An account that can be signed in to" },
);

export const accountObject = ({ id, type, name, role }: Account): Static<typeof AccountObject> => ({
  id,
  object: "account",
  type,
  name,
  role,
});

export const SessionObject = object(
  {
    id: idField("Identifier of the session; not its secret", "ses_01kxa8w5s0d2f4g6h8j0k2m4n6"),
    object: literal("session", { description: "Always `session`" }),
    user_id: nullable(idField("The user who is signed in; null for a customer", "usr_01kxa8w5s0v3m4q9t7r2n6c8d1")),
    customer_id: { ...nullable(idField("The customer who is signed in; null for a user", "")), examples: [null] },
    role,
    name: textField("The name of the user or customer", "Dana Fischer"),
    email: text({ description: "Their address", examples: ["dispatch@example.com"] }),
    created_at: instantField("When they signed in"),
    expires_at: instantField("When the session ends"),
    user_agent: nullable(text({ description: "What the browser says it is", examples: ["Mozilla/5.0"] })),
    current: boolean({ description: "Whether it is the session of this request", examples: [true] }),
  },
  { description: "A browser that is signed in to an account" },
);

export function sessionObject(session: SessionWithAccount, currentId: string | undefined): Static<typeof SessionObject> {
  const { id, user_id, customer_id, account, created_at, expires_at, user_agent } = session;
  return {
    id,
    object: "session",
    user_id,
    customer_id,
    role: account.role,
    name: account.name,
    email: account.email,
    created_at: formatInstant(created_at),
    expires_at: formatInstant(expires_at),
    user_agent,
    current: id === currentId,
  };
}

export interface SessionReads {
  /** Undefined where the account is deleted. An expired session may still be found. */
  sessionByHash(hash: string): Promise<SessionWithAccount | undefined>;
}
