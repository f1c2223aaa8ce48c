// Users, sessions and links to sign in, in SQL for both engines.

import type { UserChange } from "../../domain/commands/command.ts";
import type { Instant } from "../../domain/instant.ts";
import {
  type AccountKey,
  customerAccount,
  type Session,
  type SessionReads,
  type SessionWithAccount,
  userAccount,
} from "../../domain/session.ts";
import {
  type AccountReads,
  MAX_ACCOUNTS,
  SIGN_IN_LINK_LIFETIME_MS,
  SIGN_IN_RETENTION_MS,
  type SignIn,
} from "../../domain/sign-in.ts";
import { asciiLowerCase } from "../../domain/text.ts";
import type { User } from "../../domain/user.ts";
import { CUSTOMER_COLUMNS, customerOf, customerState, fieldsOf, type Row, valuesOf } from "../columns.ts";
import { type Dialect, prefixed } from "./dialect.ts";
import { type Prepare, type SqlRunner, updateExisting } from "./sql-runner.ts";

const USER_FIELDS = ["id", "email", "name", "role", "created_at", "updated_at"] as const;
const USER_COLUMNS = USER_FIELDS.join(", ");
export const USERS = `SELECT ${USER_COLUMNS} FROM app_user ORDER BY created_at DESC, id DESC`; // app_user_by_creation

export const userOf = (row: Row): User => fieldsOf(USER_FIELDS, row) as User;

const SESSION_FIELDS = ["id", "user_id", "customer_id", "created_at", "expires_at", "user_agent"] as const;
const SESSION_COLUMNS = `${prefixed("s", SESSION_FIELDS.join(", "))}, ${prefixed("u", USER_COLUMNS)}, ${prefixed("c", CUSTOMER_COLUMNS)}`;
const SESSIONS = `SELECT ${SESSION_COLUMNS} FROM session s
  LEFT JOIN app_user u ON u.id = s.user_id LEFT JOIN customer c ON c.id = s.customer_id`;
const SESSION_BY_HASH = `${SESSIONS} WHERE s.hash = $1`; // unique index on hash

/** Empty if the customer is deleted. */
function sessionWithAccount(row: Row): SessionWithAccount[] {
  const session = fieldsOf(SESSION_FIELDS, row) as Session;
  const user = row.slice(SESSION_FIELDS.length, SESSION_FIELDS.length + USER_FIELDS.length);
  const customer = row.slice(SESSION_FIELDS.length + USER_FIELDS.length);
  if (user[0] !== null) return [{ ...session, account: userAccount(userOf(user)) }];
  if (customer[0] === null || customerState(customer).deleted) return [];
  return [{ ...session, account: customerAccount(customerOf(customer)) }];
}

/** Run on a restored database: sessions that have ended since the backup must not be valid again. */
export const DELETE_SESSIONS_AND_SIGN_INS = "DELETE FROM session; DELETE FROM sign_in;";

const SIGN_IN_FIELDS = [
  "hash",
  "email",
  "user_id",
  "customer_id",
  "code",
  "browser",
  "tries",
  "created_at",
  "expires_at",
] as const;
const SIGN_IN_COLUMNS = SIGN_IN_FIELDS.join(", ");
const signInOf = (row: Row): SignIn => fieldsOf(SIGN_IN_FIELDS, row) as SignIn;

const SESSIONS_OF: Readonly<Record<AccountKey["type"], string>> = {
  user: `${SESSIONS} WHERE s.user_id = $1 AND s.expires_at > $2 ORDER BY s.created_at DESC, s.id DESC`, // session_by_user
  customer: `${SESSIONS} WHERE s.customer_id = $1 AND s.expires_at > $2 ORDER BY s.created_at DESC, s.id DESC`, // session_by_customer
};
const SIGN_IN_BY_HASH = `SELECT ${SIGN_IN_COLUMNS} FROM sign_in WHERE hash = $1`;
const SIGN_INS_OF = `SELECT ${SIGN_IN_COLUMNS} FROM sign_in WHERE browser = $1 AND lower(email) = $2 ORDER BY created_at DESC`; // sign_in_by_browser
const countryOf = ({ isLive }: Dialect): string =>
  `SELECT country FROM tank WHERE owner_id = $1 AND ${isLive("tank")} ORDER BY created_at, id LIMIT 1`; // tank_by_owner
const customersWithEmail = ({ isLive }: Dialect): string =>
  `SELECT ${CUSTOMER_COLUMNS} FROM customer WHERE lower(email) = $1 AND id = coalesce($2, id) AND ${isLive("customer")}
   ORDER BY created_at, id LIMIT ${MAX_ACCOUNTS}`; // customer_by_any_case_email

/** Reads that must see the latest commit: never from a replica. */
export function accountReads(prepare: Prepare, dialect: Dialect): AccountReads & SessionReads {
  return {
    sessionByHash: async (hash) => (await prepare(SESSION_BY_HASH)(hash)).flatMap(sessionWithAccount)[0],
    userList: async () => (await prepare(USERS)()).map(userOf),
    sessionsOf: async ({ type, id }, now) => (await prepare(SESSIONS_OF[type])(id, now)).flatMap(sessionWithAccount),
    signInByHash: async (hash) => (await prepare(SIGN_IN_BY_HASH)(hash)).map(signInOf)[0],
    signInsOf: async (browser, email) => (await prepare(SIGN_INS_OF)(browser, asciiLowerCase(email))).map(signInOf),
    customersWithEmail: async (email, onlyId) =>
      (await prepare(customersWithEmail(dialect))(asciiLowerCase(email), onlyId)).map(customerState),
  };
}

export function accountTables({ prepare, insert, runForIds }: SqlRunner, dialect: Dialect) {
  return {
    ...accountReads(prepare, dialect),

    async countryOf(ownerId: string): Promise<string | null> {
      const country = (await prepare(countryOf(dialect))(ownerId))[0]?.[0] ?? null;
      return country === null ? null : String(country);
    },

    async signInsBetween(email: string, since: Instant, until: Instant): Promise<number> {
      const [row] = await prepare(
        `SELECT count(*) FROM sign_in WHERE lower(email) = $1 AND created_at > $2 AND created_at <= $3
           AND browser IS NOT NULL`, // sign_in_by_email
      )(asciiLowerCase(email), since, until);
      return Number(row?.[0]);
    },

    async sessions(ids: readonly string[]): Promise<ReadonlyMap<string, SessionWithAccount>> {
      const rows = await runForIds(ids, (is) => `${SESSIONS} WHERE ${is("s.id")}`);
      return new Map(rows.flatMap(sessionWithAccount).map((session) => [session.id, session]));
    },

    async putUsers(changes: readonly UserChange[]): Promise<void> {
      for (const { before, after } of changes) {
        if (after === undefined) await prepare("DELETE FROM app_user WHERE id = $1")(before?.id ?? "");
        else await insert("app_user", USER_FIELDS, [valuesOf(USER_FIELDS, after)], updateExisting(USER_FIELDS));
      }
    },

    /** Also removes old sign-ins, and those created while the clock was ahead, which cannot be used. */
    async putSignIns(signIns: readonly SignIn[], at: Instant): Promise<void> {
      await prepare("DELETE FROM sign_in WHERE created_at < $1")(at - SIGN_IN_RETENTION_MS); // sign_in_by_creation
      await prepare("DELETE FROM sign_in WHERE created_at > $1")(at + SIGN_IN_LINK_LIFETIME_MS); // sign_in_by_creation
      const rows = signIns.map((signIn) => valuesOf(SIGN_IN_FIELDS, signIn));
      await insert("sign_in", SIGN_IN_FIELDS, rows, updateExisting(SIGN_IN_FIELDS));
    },

    /** Also removes expired sessions. */
    async startSessions(sessions: readonly (Session & { readonly hash: string })[], at: Instant): Promise<void> {
      await prepare("DELETE FROM session WHERE expires_at <= $1")(at); // session_by_expiry
      const fields = [...SESSION_FIELDS, "hash"] as const;
      const rows = sessions.map((session) => valuesOf(fields, session));
      await insert("session", fields, rows);
    },

    async endSessions(ids: readonly string[]): Promise<void> {
      await runForIds(ids, (is) => `DELETE FROM session WHERE ${is("id")}`);
    },

    async endSessionsOfCustomers(ids: readonly string[]): Promise<void> {
      await runForIds(ids, (is) => `DELETE FROM session WHERE ${is("customer_id")}`); // session_by_customer
    },
  };
}
