// Signing in and out: mail with a link and a code, and the session that either opens. What a stranger sees does not depend on
// whether an address is known: the response is sent before the address is looked up.

import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { ACTORS } from "../domain/actor.ts";
import type { AttemptResult } from "../domain/alerts/notification-queue.ts";
import type { SignInProof } from "../domain/commands/command.ts";
import { type SignInMail, signInsFor } from "../domain/commands/sign-in.ts";
import { RequestError } from "../domain/errors.ts";
import { FairQueue } from "../domain/fair-queue.ts";
import { isCleanText, newId } from "../domain/id.ts";
import { hashSecret, isWellFormedSecret, newSecret } from "../domain/key.ts";
import type { Observe } from "../domain/log-events.ts";
import type { Mail } from "../domain/mail/mail.ts";
import { signInMail } from "../domain/mail/service-mail.ts";
import { SESSION_LIFETIME_MS, USER_AGENT_MAX_LENGTH } from "../domain/session.ts";
import { accountsFor, hashCode, MAX_SPELLINGS, newCode, SIGN_IN_LINK_LIFETIME_MS, signInUrl } from "../domain/sign-in.ts";
import { asciiLowerCase } from "../domain/text.ts";
import { networkOf } from "./connection-limit.ts";
import type { Cookies } from "./cookies.ts";
import { exceeds, type Limits } from "./limits.ts";
import type { ManagementService } from "./management.ts";

/** Who sends a request. */
export type ClientInfo = {
  readonly address: string;
  readonly userAgent: string | undefined;
  readonly cookies: Cookies;
  /** Whether the connection is closed. */
  readonly isDisconnected: () => boolean;
};

type Options = {
  readonly management: ManagementService;
  readonly limits: Limits;
  readonly observe: Observe;
  /** Sends it at once. It is not stored: it contains a secret. */
  readonly sendMail: (id: string, mail: Mail) => Promise<AttemptResult>;
  readonly recordSeen: (customerId: string) => void;
};

/** Requests whose mail is not sent yet, in this process. */
const MAX_PENDING_REQUESTS = 200;
/** Links and codes that are checked at a time, and that wait for it per network of clients. */
const MAX_CHECKS = 4;
const MAX_WAITING_CHECKS = 20;
/**
 * Random delay before an address is looked up. A known one costs more time, because a mail is composed and sent: right after the
 * response, that would show in how long the next requests of the client take.
 */
const LOOKUP_DELAY_MS = { min: 50, max: 300 };
/** Delay before each attempt to send a mail. */
const DELAYS_MS = [0, 2000, 8000, 30_000, 60_000];

/** The secrets of one mail. */
type Secrets = { readonly token: string; readonly code: string };

/** `object` is a session, or the accounts to choose from. */
type SignInResult = { readonly object: Readonly<Record<string, unknown>>; readonly setCookie: string | undefined };

export class SignInService {
  readonly #options: Options;
  readonly #pending = new Set<Promise<void>>();
  readonly #checks = new FairQueue(MAX_CHECKS);
  readonly #stopping = new AbortController();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Ends all delays and waits for one attempt to send each mail. No more can be requested. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#pending);
  }

  /** Ends early when the service stops. */
  async #delay(milliseconds: number): Promise<void> {
    await sleep(milliseconds, undefined, { signal: this.#stopping.signal }).catch(() => {});
  }

  /** Sends a mail later, if the address is known and does not get too many. Returns the cookie that names the browser. */
  async request(email: string, { address, cookies }: ClientInfo): Promise<string> {
    const { management, limits } = this.#options;
    const { publicUrl, missingForMail } = management.settings;
    const network = networkOf(address);
    if (await exceeds(limits, "sign-in", network)) {
      const detail = "Too many requests for sign-in mail from your network address. Retry after the time in Retry-After.";
      throw new RequestError("rate_limited", detail, { retryAfter: 180 });
    }
    if (publicUrl === null || missingForMail.length > 0) {
      throw new RequestError("state_conflict", "This service cannot send mail. Ask its operator for a link to sign in.");
    }
    const known = cookies.get("browser") ?? "";
    const browser = isWellFormedSecret(known) ? known : newSecret();
    const isSent = !(await exceeds(limits, "mail", `${network} ${asciiLowerCase(email)}`));
    const isStopping = this.#stopping.signal.aborted;
    if (isStopping || this.#pending.size >= MAX_PENDING_REQUESTS) {
      const reason = isStopping ? "The service is stopping." : "Too many people are signing in.";
      throw new RequestError("overloaded", `${reason} Retry shortly.`, { retryAfter: 5 });
    }
    if (isSent) {
      const sending = this.#send(email, browser, publicUrl).finally(() => this.#pending.delete(sending));
      this.#pending.add(sending);
    }
    return cookies.setting("browser", browser, SIGN_IN_LINK_LIFETIME_MS / 1000);
  }

  async #send(email: string, browser: string, publicUrl: string): Promise<void> {
    const { management, observe } = this.#options;
    const secrets = Array.from({ length: MAX_SPELLINGS }, () => ({ token: newSecret(), code: newCode() }));
    const hashes = secrets.map(({ token, code }) => ({ hash: hashSecret(token), code: hashCode(browser, code) }));
    await this.#delay(randomInt(LOOKUP_DELAY_MS.min, LOOKUP_DELAY_MS.max));
    try {
      const command = { type: "request_sign_in", email, browser: hashSecret(browser), secrets: hashes } as const;
      const { resource } = await management.execute(command, ACTORS.signInLink);
      const mails = resource.object["mails"] as readonly SignInMail[];
      await Promise.all(mails.map((mail) => this.#sendMail(mail, secrets[mail.secret], publicUrl)));
    } catch (error) {
      observe({ kind: "sign_in_failed", error });
    }
  }

  /** Retries within the time that the link is valid. */
  async #sendMail({ to, name, language }: SignInMail, secrets: Secrets | undefined, publicUrl: string): Promise<void> {
    if (secrets === undefined) return;
    const { management, observe, sendMail } = this.#options;
    const mail = signInMail({ to, language }, name, signInUrl(publicUrl, secrets.token), secrets.code);
    const id = newId("msg", management.clock());
    for (const delay of DELAYS_MS) {
      await this.#delay(delay);
      const { error, status, isPermanent = false } = await sendMail(id, mail);
      if (error === null) return;
      const isLast = isPermanent || delay === DELAYS_MS.at(-1) || this.#stopping.signal.aborted;
      observe({ kind: "sign_in_mail_failed", status, outcome: isLast ? "failed" : "retried" });
      if (isLast) return;
    }
  }

  /** What the link opens, and whether it is in the browser that requested it. It stays valid. */
  async inspect(token: string, client: ClientInfo) {
    const { reads, clock } = this.#options.management;
    return this.#check(client, async () => {
      const [found] = isWellFormedSecret(token) ? await signInsFor({ token: hashSecret(token) }, reads, clock()) : [];
      const accounts = found === undefined ? [] : await accountsFor(found, reads);
      if (found === undefined || accounts.length === 0) return this.#rejectProof(client);
      const browser = client.cookies.get("browser") ?? "";
      return { signIn: found, accounts, isSameBrowser: isWellFormedSecret(browser) && hashSecret(browser) === found.browser };
    });
  }

  async signInWithToken(token: string, account: string | undefined, client: ClientInfo): Promise<SignInResult> {
    if (!isWellFormedSecret(token)) return this.#rejectProof(client);
    return this.#signIn({ token: hashSecret(token) }, account, client, ACTORS.signInLink);
  }

  /** Works only in the browser that requested the code. */
  async signInWithCode(email: string, code: string, account: string | undefined, client: ClientInfo): Promise<SignInResult> {
    const browser = client.cookies.get("browser") ?? "";
    if (!isWellFormedSecret(browser)) return this.#rejectProof(client);
    const proof = { email, browser: hashSecret(browser), code: hashCode(browser, code) };
    return this.#signIn(proof, account, client, ACTORS.signInCode);
  }

  #signIn(proof: SignInProof, account: string | undefined, client: ClientInfo, by: string): Promise<SignInResult> {
    const { reads, clock } = this.#options.management;
    return this.#check(client, async () => {
      // Anybody can send wrong ones: they must not cost a command, which locks what others write.
      const candidates = await signInsFor(proof, reads, clock());
      return candidates.length === 0 ? this.#rejectProof(client) : this.#startSession(proof, account, client, by);
    });
  }

  async #startSession(proof: SignInProof, account: string | undefined, client: ClientInfo, by: string): Promise<SignInResult> {
    const { management, recordSeen } = this.#options;
    const { cookies } = client;
    const replaced = cookies.get("session") ?? "";
    const replaces = isWellFormedSecret(replaced) ? (await management.reads.sessionByHash(hashSecret(replaced)))?.id : undefined;
    // A new secret each time: nobody can make others use one that is known before.
    const secret = newSecret();
    const session = { newId: newId("ses", management.clock()), hash: hashSecret(secret), userAgent: agentOf(client), replaces };
    const { resource } = await management.execute({ type: "sign_in", proof, account, ...session }, by);
    const { object } = resource;
    if (object["object"] === "sign_in_invalid") return this.#rejectProof(client);
    if (object["object"] !== "session") return { object, setCookie: undefined };
    if (typeof object["customer_id"] === "string") recordSeen(object["customer_id"]);
    return { object, setCookie: cookies.setting("session", secret, SESSION_LIFETIME_MS / 1000) };
  }

  /** Runs the work that checks a link or code: networks take turns, and work of clients that have gone is skipped. */
  async #check<T>(client: ClientInfo, work: () => Promise<T>): Promise<T> {
    const network = networkOf(client.address);
    if (this.#checks.waiting(network) >= MAX_WAITING_CHECKS) {
      throw throttleError("Too many links and codes from your network address are being checked.");
    }
    return this.#checks.run(network, async () => {
      if (client.isDisconnected()) throw new RequestError("request_malformed", "The client has closed the connection.");
      await this.#limitWrongLinksAndCodes(client, 0);
      return work();
    });
  }

  async #rejectProof(client: ClientInfo): Promise<never> {
    await this.#limitWrongLinksAndCodes(client, 1);
    throw new RequestError("sign_in_invalid", "This link or code is invalid or has expired. Request a new one.");
  }

  async #limitWrongLinksAndCodes({ address }: ClientInfo, count: 0 | 1): Promise<void> {
    if (await exceeds(this.#options.limits, "wrong sign-in link or code", networkOf(address), count)) {
      throw throttleError("Too many wrong links or codes from your network address.");
    }
  }
}

const throttleError = (problem: string): RequestError =>
  new RequestError("keys_throttled", `${problem} Retry after the time in Retry-After.`, { retryAfter: 1 });

function agentOf({ userAgent = "" }: ClientInfo): string | null {
  const text = userAgent.slice(0, USER_AGENT_MAX_LENGTH);
  return text !== "" && isCleanText(text) ? text : null;
}
