// Who is logged in, by key. A key is looked at again while its clients are connected, so that one that is revoked ends them.

import { type ErrorCode, Refusal, storeUnavailable } from "../../domain/errors.ts";
import type { Clock, Instant } from "../../domain/instant.ts";
import type { Sender } from "../arrival.ts";

/** From a client's password, and the address it calls from, to who sends. Rejects with a `Refusal` that says why not. */
export type Admit = (secret: string, address: string) => Promise<Sender>;

export type Login = {
  readonly secret: string;
  readonly address: string;
  sender: Sender;
  since: Instant;
  asking: Promise<Sender> | undefined;
  /** Each ends one client. */
  readonly clients: Set<() => void>;
};

/** A key once found is believed for this long. */
const BELIEVED_MS = 500;
/** Keys of clients that send nothing, a look: a thousand of them cannot keep the store busy. */
const SWEPT = 100;
const ADMIT_MS = 10_000;

/** These are about the key itself; any other refusal may be over in a moment. */
const FINAL: ReadonlySet<ErrorCode> = new Set(["key_missing", "key_invalid", "key_expired", "key_revoked", "role_insufficient"]);

export function isFinal(error: unknown): boolean {
  return error instanceof Refusal && FINAL.has(error.code);
}

export class Logins {
  readonly #admit: Admit;
  readonly #clock: Clock;
  /** Those looked at longest ago come first. */
  readonly #logins = new Map<string, Login>();

  constructor(admit: Admit, clock: Clock) {
    this.#admit = admit;
    this.#clock = clock;
  }

  async enter(secret: string, address: string, end: () => void): Promise<Login> {
    const sender = await this.#ask(secret, address);
    const login = this.#logins.get(secret) ?? newLogin(secret, address, sender);
    this.#believe(login, sender);
    login.clients.add(end);
    return login;
  }

  leave(login: Login, end: () => void): void {
    login.clients.delete(end);
    if (login.clients.size === 0) this.#logins.delete(login.secret);
  }

  /** At once where the key was looked at a moment ago. */
  sender(login: Login): Sender | Promise<Sender> {
    return this.#isFresh(login) ? login.sender : this.#lookAgain(login);
  }

  /** A look at some of those that were not looked at for longest. */
  async sweep(): Promise<void> {
    const stale: Login[] = [];
    for (const login of this.#logins.values()) {
      if (stale.length >= SWEPT || this.#isFresh(login)) break;
      stale.push(login);
    }
    await Promise.allSettled(stale.map((login) => this.#lookAgain(login)));
  }

  /** A clock that was set back believes nothing of its future. */
  #isFresh({ since }: Login): boolean {
    const now = this.#clock();
    return now >= since && now < since + BELIEVED_MS;
  }

  #believe(login: Login, sender: Sender): void {
    login.sender = sender;
    login.since = this.#clock();
    this.#logins.delete(login.secret);
    this.#logins.set(login.secret, login);
  }

  #lookAgain(login: Login): Promise<Sender> {
    login.asking ??= this.#again(login).finally(() => {
      login.asking = undefined;
    });
    return login.asking;
  }

  async #again(login: Login): Promise<Sender> {
    try {
      const sender = await this.#ask(login.secret, login.address);
      if (login.clients.size > 0) this.#believe(login, sender);
      return sender;
    } catch (error) {
      if (isFinal(error)) for (const end of [...login.clients]) end();
      if (!(error instanceof Refusal) || error.code !== "rate_limited") throw error;
      this.#believe(login, login.sender);
      return login.sender;
    }
  }

  /** Whoever asks is kept waiting; not for ever. */
  async #ask(secret: string, address: string): Promise<Sender> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(storeUnavailable(new Error("a key took too long to look up"))), ADMIT_MS);
    });
    try {
      return await Promise.race([this.#admit(secret, address), late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

const newLogin = (secret: string, address: string, sender: Sender): Login => ({
  secret,
  address,
  sender,
  since: 0,
  asking: undefined,
  clients: new Set(),
});
