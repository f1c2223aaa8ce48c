// Who is logged in, by key. A key is looked at again while its clients are connected, so that one that is revoked ends them.

import { type ErrorCode, RequestError, storeUnavailable } from "../../domain/errors.ts";
import type { Clock, Instant } from "../../domain/instant.ts";
import type { Sender } from "../ingest.ts";
import type { Budget } from "./budget.ts";
import { Drop } from "./drop.ts";
import type { TakeTurn } from "./turns.ts";

/** Who has logged in, as the key says. */
export type Guest = { readonly keyId: string; readonly sender: Sender; readonly turn: TakeTurn };

/** From a client's password, and the address it calls from, to who that is. Rejects with a `Refusal` that says why not. */
export type Admit = (secret: string, address: string) => Promise<Guest>;

export type Login = {
  readonly secret: string;
  readonly address: string;
  guest: Guest;
  since: Instant;
  asking: Promise<Guest> | undefined;
  /** By the client's id, what ends it. */
  readonly clients: Map<string, () => void>;
  readonly budget: Budget;
};

export type LoginBounds = {
  /** Clients at once of a key that sends for one device, and of any other. */
  readonly clientsOfDevice: number;
  readonly clientsOfKey: number;
};

/** A key once found is believed for this long. */
const BELIEVED_MS = 500;
/** Keys of clients that send nothing, a look: ten thousand of them cannot keep the store busy. */
const SWEPT = 500;
/** Of the room there is for messages, one key may have this part: a quarter. */
const KEY_PART = 4;
const ADMIT_MS = 10_000;

/** These are about the key itself; any other refusal may be over in a moment. */
const FINAL: ReadonlySet<ErrorCode> = new Set(["key_missing", "key_invalid", "key_expired", "key_revoked", "role_insufficient"]);

export function isFinal(error: unknown): boolean {
  return error instanceof RequestError && FINAL.has(error.code);
}

export class Logins {
  readonly #admit: Admit;
  readonly #clock: Clock;
  readonly #bounds: LoginBounds;
  readonly #budget: Budget;
  /** Those looked at longest ago come first. */
  readonly #logins = new Map<string, Login>();

  constructor(admit: Admit, clock: Clock, bounds: LoginBounds, budget: Budget) {
    this.#admit = admit;
    this.#clock = clock;
    this.#bounds = bounds;
    this.#budget = budget;
  }

  /** One that comes with the id of another takes its place. */
  async enter(secret: string, address: string, clientId: string, end: () => void): Promise<Login> {
    const guest = await this.#ask(secret, address);
    const login = this.#logins.get(secret) ?? this.#newLogin(secret, address, guest);
    const most = guest.sender.deviceId === null ? this.#bounds.clientsOfKey : this.#bounds.clientsOfDevice;
    if (login.clients.size >= most && !login.clients.has(clientId)) throw new Drop("too_many");
    this.#believe(login, guest);
    login.clients.set(clientId, end);
    return login;
  }

  leave(login: Login, clientId: string, end: () => void): void {
    if (login.clients.get(clientId) === end) login.clients.delete(clientId);
    if (login.clients.size === 0) this.#logins.delete(login.secret);
  }

  /** At once where the key was looked at a moment ago. */
  sender(login: Login): Sender | Promise<Sender> {
    return this.#isFresh(login) ? login.guest.sender : this.#lookAgain(login).then(({ sender }) => sender);
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

  #believe(login: Login, guest: Guest): void {
    login.guest = guest;
    login.since = this.#clock();
    this.#logins.delete(login.secret);
    this.#logins.set(login.secret, login);
  }

  #lookAgain(login: Login): Promise<Guest> {
    login.asking ??= this.#again(login).finally(() => {
      login.asking = undefined;
    });
    return login.asking;
  }

  async #again(login: Login): Promise<Guest> {
    try {
      const guest = await this.#ask(login.secret, login.address);
      if (login.clients.size > 0) this.#believe(login, guest);
      return guest;
    } catch (error) {
      if (isFinal(error)) for (const end of [...login.clients.values()]) end();
      if (!(error instanceof RequestError) || error.code !== "rate_limited") throw error;
      this.#believe(login, login.guest);
      return login.guest;
    }
  }

  /** Whoever asks is kept waiting; not for ever. */
  async #ask(secret: string, address: string): Promise<Guest> {
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

  #newLogin(secret: string, address: string, guest: Guest): Login {
    const budget = this.#budget.share(KEY_PART);
    return { secret, address, guest, since: 0, asking: undefined, clients: new Map(), budget };
  }
}
