// Commands of people who sign in and out. No result has a secret: they are created elsewhere, and only their hashes are known here.

import type { AuditedChange } from "../audit.ts";
import { formatInstant, type Instant, nextUpdatedAt } from "../instant.ts";
import { findOne, type Lookups } from "../lookups.ts";
import type { Language } from "../mail/language.ts";
import { customerResource } from "../resource.ts";
import {
  type Account,
  type AccountKey,
  accountObject,
  customerAccount,
  MAX_SESSIONS,
  SESSION_LIFETIME_MS,
  type Session,
  type SessionWithAccount,
  sessionObject,
  userAccount,
} from "../session.ts";
import {
  type AccountReads,
  accountsFor,
  MAX_SIGN_IN_MAILS,
  MAX_SPELLINGS,
  MAX_TRIES,
  SIGN_IN_LINK_LIFETIME_MS,
  SIGN_IN_RETENTION_MS,
  type SignIn,
} from "../sign-in.ts";
import { asciiLowerCase } from "../text.ts";
import {
  type ChangeSet,
  type CommandError,
  type Commands,
  CUSTOMER_DELETED,
  changeSet,
  commandError,
  existing,
  isCommandError,
  type PlanResult,
  type SignInProof,
} from "./command.ts";
import { existingUser } from "./users.ts";
import { languageFor } from "./verification.ts";

/** To one spelling of the address: the number of its secrets, and whom to greet in which language. */
export type SignInMail = { readonly secret: number; readonly to: string; readonly name: string; readonly language: Language };

const mailsResource = (mails: readonly SignInMail[]): ChangeSet["resource"] => ({ object: { mails }, etag: "" });

/**
 * An unknown address is stored as a known one is, so that wrong codes are counted for both, and nobody can tell them apart.
 * Beyond the limit of mails nothing is done.
 */
export async function requestSignIn(lookups: Lookups, command: Commands["request_sign_in"], at: Instant): PlanResult {
  const { email, browser, secrets } = command;
  // Not what was requested while the clock was ahead.
  const earlier = await lookups.signInsBetween(email, at - SIGN_IN_RETENTION_MS, at);
  if (earlier >= MAX_SIGN_IN_MAILS) return changeSet(mailsResource([]), {});
  const byAddress = Map.groupBy(await accountsAt(lookups, email), ({ account }) => account.email);
  const addresses = byAddress.size === 0 ? [email] : [...byAddress.keys()].slice(0, MAX_SPELLINGS);
  const mails: SignInMail[] = [];
  for (const [secret, to] of addresses.entries()) {
    const [first] = byAddress.get(to) ?? [];
    if (first !== undefined) mails.push({ secret, to, name: first.account.name, language: await first.language() });
  }
  const signIns = addresses.flatMap((address, i): SignIn[] => {
    const hashes = secrets[i];
    const times = { created_at: at, expires_at: at + SIGN_IN_LINK_LIFETIME_MS };
    return hashes === undefined
      ? []
      : [{ ...hashes, email: address, user_id: null, customer_id: null, browser, tries: 0, ...times }];
  });
  return changeSet(mailsResource(mails), { signIns });
}

type SignInAccount = { readonly account: Account; readonly language: () => Promise<Language> };

/** Users come first. Their mail is always in English. */
async function accountsAt(lookups: Lookups, email: string): Promise<SignInAccount[]> {
  const users = (await lookups.userList()).filter((user) => asciiLowerCase(user.email) === asciiLowerCase(email));
  const customers = await lookups.customersWithEmail(email, null);
  return [
    ...users.map((user) => ({ account: userAccount(user), language: async () => "en" as const })),
    ...customers.map((found) => ({ account: customerAccount(found.customer), language: () => languageFor(lookups, found) })),
  ];
}

/** Creates a link that opens one account, for use without mail. */
export async function createSignInLink(lookups: Lookups, command: Commands["create_sign_in_link"], at: Instant): PlanResult {
  const { account, hash } = command;
  const email = await addressOf(lookups, account);
  if (typeof email !== "string") return email;
  const expires_at = at + SIGN_IN_LINK_LIFETIME_MS;
  const link = { hash, email, ...idsOf(account), code: null, browser: null, tries: 0, created_at: at, expires_at };
  const audit: AuditedChange = { object: account.type, id: account.id, action: "link_created", changes: {} };
  const object = { object: "sign_in_link", ...idsOf(account), expires_at: formatInstant(expires_at) };
  return changeSet({ object, etag: "" }, { signIns: [link], audit: [audit] });
}

const idsOf = ({ type, id }: AccountKey) => ({
  user_id: type === "user" ? id : null,
  customer_id: type === "customer" ? id : null,
});

async function addressOf(lookups: Lookups, { type, id }: AccountKey): Promise<string | CommandError> {
  if (type === "user") {
    const user = existingUser(await lookups.userList(), id, undefined);
    return isCommandError(user) ? user : user.email;
  }
  const found = existing("customer", await findOne(lookups.customers, id), undefined, customerResource);
  if (isCommandError(found)) return found;
  return found.deleted ? CUSTOMER_DELETED : found.customer.email;
}

/** The result is a session, the accounts to choose from, or INVALID_PROOF. */
export async function signIn(lookups: Lookups, command: Commands["sign_in"], at: Instant): PlanResult {
  const { proof } = command;
  const candidates = await signInsFor(proof, lookups, at);
  const found = candidates.find(({ code }) => "token" in proof || code === proof.code);
  if (found === undefined) return countWrongCode(candidates);
  const accounts = await accountsFor(found, lookups);
  const [only, ...others] = accounts;
  const chosen = command.account === undefined && others.length === 0 ? only : accounts.find(({ id }) => id === command.account);
  if (chosen !== undefined) return sessionStarted(lookups, command, found, chosen, at);
  if (accounts.length === 0 || command.account !== undefined) return changeSet(INVALID_PROOF, {});
  const choice = { object: "account_choice", accounts: accounts.map(accountObject) };
  return changeSet({ object: choice, etag: "" }, {});
}

/** The sign-in of a link, or those of the browser and the address that a code may be for. Without any, the proof is wrong. */
export async function signInsFor(
  proof: SignInProof,
  lookup: Pick<AccountReads, "signInByHash" | "signInsOf">,
  at: Instant,
): Promise<readonly SignIn[]> {
  if ("token" in proof) {
    const found = await lookup.signInByHash(proof.token);
    return found !== undefined && isUsable(found, at) ? [found] : [];
  }
  const requested = await lookup.signInsOf(proof.browser, proof.email);
  return requested.filter((one) => one.code !== null && isUsable(one, at));
}

/** A link created while the clock was ahead is not usable: it would be valid for too long. */
const isUsable = ({ created_at, expires_at }: SignIn, at: Instant): boolean =>
  expires_at > at && created_at <= at + SIGN_IN_LINK_LIFETIME_MS;

const INVALID_PROOF = { object: { object: "sign_in_invalid" }, etag: "" };

/** Every candidate counts the wrong code, because it may have been meant for any of them. */
function countWrongCode(tried: readonly SignIn[]): ChangeSet {
  const signIns = tried.map((one) => {
    const tries = one.tries + 1;
    return { ...one, tries, code: tries >= MAX_TRIES ? null : one.code };
  });
  return changeSet(INVALID_PROOF, { signIns });
}

async function sessionStarted(
  lookups: Lookups,
  { newId, hash, userAgent, replaces }: Commands["sign_in"],
  used: SignIn,
  account: Account,
  at: Instant,
): PlanResult {
  const { type, id } = account;
  const session: Session = {
    id: newId,
    ...idsOf(account),
    created_at: at,
    expires_at: at + SESSION_LIFETIME_MS,
    user_agent: userAgent,
  };
  const ended = await sessionsReplacedBy(lookups, account, replaces, at);
  return changeSet(
    { object: sessionObject({ ...session, account }, newId), etag: "" },
    {
      // Whatever the clock of another process says.
      signIns: [{ ...used, code: null, expires_at: 0 }],
      sessionsStarted: [{ ...session, hash }],
      sessionsEnded: ended.map((old) => old.id),
      audit: [...ended.map((old) => auditOf(old.account, "signed_out", old.id)), auditOf(account, "signed_in", newId)],
      // A link of the operator does not show who reads the mail of the address.
      ...(type === "customer" && used.customer_id === null && (await verified(lookups, id, at))),
    },
  );
}

/** The session that the browser had, of whatever account, and the oldest of the account beyond the limit. */
async function sessionsReplacedBy(
  lookups: Lookups,
  account: Account,
  replaces: string | undefined,
  at: Instant,
): Promise<readonly SessionWithAccount[]> {
  const surplus = (await lookups.sessionsOf(account, at)).slice(MAX_SESSIONS - 1);
  const replaced = replaces === undefined ? undefined : await findOne(lookups.sessions, replaces);
  if (replaced === undefined || replaced.expires_at <= at || surplus.some(({ id }) => id === replaced.id)) return surplus;
  return [...surplus, replaced];
}

/** Whoever used the link or code reads the mail of the address. */
async function verified(
  lookups: Lookups,
  id: string,
  at: Instant,
): Promise<Pick<ChangeSet, "customers" | "verificationsRevoked">> {
  const verificationsRevoked = [id];
  const before = await findOne(lookups.customers, id);
  if (before === undefined || before.customer.verified_at !== null) return { customers: [], verificationsRevoked };
  const { updated_at } = before.customer;
  const after = { ...before, customer: { ...before.customer, verified_at: at, updated_at: nextUpdatedAt(updated_at, at) } };
  return { customers: [{ id, before, after }], verificationsRevoked };
}

/** With `account`, ends only sessions of that account; an admin ends any. */
export async function endSession(lookups: Lookups, { id, account }: Commands["end_session"]): PlanResult {
  const found = await findOne(lookups.sessions, id);
  if (found === undefined || (account !== undefined && !isOf(found, account))) {
    return commandError("session_unknown", "There is no session with this id.");
  }
  const object = { id, object: "session", deleted: true };
  return changeSet({ object, etag: "" }, { sessionsEnded: [id], audit: [auditOf(found.account, "signed_out", id)] });
}

const isOf = ({ account }: SessionWithAccount, { type, id }: AccountKey): boolean => account.type === type && account.id === id;

function auditOf({ type, id }: AccountKey, action: "signed_in" | "signed_out", sessionId: string): AuditedChange {
  const [from, to] = action === "signed_in" ? [null, sessionId] : [sessionId, null];
  return { object: type, id, action, changes: { session: { from, to } } };
}
