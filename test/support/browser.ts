// A browser as a service sees it: it keeps cookies, and says which page a request comes from.

import assert from "node:assert/strict";
import { newId } from "../../src/domain/id.ts";
import type { Clock } from "../../src/domain/instant.ts";
import { hashSecret, newSecret } from "../../src/domain/key.ts";
import type { AccountKey } from "../../src/domain/session.ts";
import type { Store } from "../../src/domain/store.ts";
import type { UserRole } from "../../src/domain/user.ts";
import { ManagementService } from "../../src/http/management.ts";
import { expectStatus, type Item, type JsonResponse, send } from "../http/client.ts";

type Address = { readonly url: string };

export class Browser {
  readonly #service: Address;
  readonly #headers: Readonly<Record<string, string | undefined>>;
  readonly cookies = new Map<string, string>();

  /** `headers` replace those that a page of the service sends. */
  constructor(service: Address, headers: Readonly<Record<string, string | undefined>> = {}) {
    this.#service = service;
    this.#headers = { "sec-fetch-site": "same-origin", origin: service.url, ...headers };
  }

  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string | undefined> = {},
  ): Promise<JsonResponse> {
    const encoded = body === undefined ? undefined : JSON.stringify(body);
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await send(this.#service, path, {
      method,
      headers: {
        ...this.#headers,
        ...(encoded === undefined ? {} : { "content-type": "application/json" }),
        ...(cookie === "" ? {} : { cookie }),
        ...headers,
      },
      ...(encoded === undefined ? {} : { body: encoded }),
    });
    for (const line of response.headers["set-cookie"] ?? []) this.#keep(line);
    const { status, text } = response;
    const isJson = text !== "" && /json/.test(response.headers["content-type"] ?? "");
    return { status, headers: response.headers, body: isJson ? JSON.parse(text) : {} };
  }

  #keep(line: string): void {
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (/; Max-Age=0(;|$)/.test(line)) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }

  async signInWith(token: string, account?: string): Promise<Item> {
    return expectStatus(
      await this.send("POST", "/auth/v1/session", { token, ...(account === undefined ? {} : { account }) }),
      200,
    );
  }
}

type Service = Address & { readonly store: Store };

/** Creates a user. */
export async function createUser(
  { store }: { readonly store: Store },
  role: UserRole,
  email = `${role}@operator.example`,
  clock: Clock = Date.now,
): Promise<string> {
  const management = new ManagementService(store, clock);
  const fields = { email, name: `The ${role}`, role };
  const { resource } = await management.execute({ type: "create_user", newId: management.newId("usr"), fields }, "test");
  return String(resource.object["id"]);
}

/** The token of a link for a user or customer. */
export async function linkFor(
  { store }: { readonly store: Store },
  id: string,
  clock: Clock = Date.now,
  type: AccountKey["type"] = "user",
): Promise<string> {
  const { url } = await new ManagementService(store, clock).createSignInLink({ type, id }, "test");
  return tokenIn(url);
}

export function tokenIn(text: string): string {
  const [, token] = /#token=(tm_[0-9A-Za-z]+)/.exec(text) ?? [];
  assert.ok(token !== undefined, text);
  return token;
}

/** A browser that is signed in as a new user. */
export async function signedInAs(
  service: Service,
  role: UserRole,
  { email, clock = Date.now }: { readonly email?: string; readonly clock?: Clock } = {},
): Promise<Browser & { readonly userId: string }> {
  const userId = await createUser(service, role, email, clock);
  const browser = new Browser(service);
  await browser.signInWith(await linkFor(service, userId, clock));
  return Object.assign(browser, { userId });
}

/** Signs in somebody with this address, without HTTP. `secret` is that of the cookie. */
export async function startSession(
  store: Store,
  clock: Clock,
  email: string,
): Promise<{ readonly id: string; readonly secret: string }> {
  const management = new ManagementService(store, clock);
  const [token, secret] = [newSecret(), newSecret()];
  const secrets = [{ hash: hashSecret(token), code: null }];
  await management.execute({ type: "request_sign_in", email, browser: hashSecret(newSecret()), secrets }, "test");
  const proof = { token: hashSecret(token) };
  const session = { newId: newId("ses", clock()), hash: hashSecret(secret), userAgent: null, replaces: undefined };
  const { resource } = await management.execute({ type: "sign_in", proof, account: undefined, ...session }, "test");
  assert.equal(resource.object["object"], "session", JSON.stringify(resource.object));
  return { id: session.newId, secret };
}
