// The account that this page is for. All tabs share the cookie of the session: after somebody else has signed in in another one, the
// requests of this page would be those of that account.

import { signal } from "@preact/signals";
import type { Me } from "../../client/src/index.ts";
import { href } from "./location.ts";

/** Undefined until it is known. */
export const me = signal<Me | undefined>(undefined);

/** Who is signed in instead, while an open dialog keeps the page. */
export const otherAccount = signal<Me | undefined>(undefined);

/** Loads the page again for the account, unless a dialog is open, which says so. */
function switchTo(account: Me): void {
  otherAccount.value = account;
  if (document.querySelector("dialog[open]") === null) globalThis.location.reload();
}

/** Every request says which account the page is for, so that nothing is read or changed as another one. */
export async function fetchAsMe(url: string | URL | Request, request: RequestInit = {}): Promise<Response> {
  if (me.value === undefined) return fetch(url, request);
  const headers = new Headers(request.headers);
  headers.set("x-account", me.value.id);
  const response = await fetch(url, { ...request, headers });
  if (response.status === 403 && (await codeOf(response)) === "account_changed") await findOtherAccount();
  return response;
}

/** Errors of a proxy are not JSON. */
async function codeOf(response: Response): Promise<unknown> {
  const problem = await response
    .clone()
    .json()
    .catch(() => undefined);
  return problem?.code;
}

async function findOtherAccount(): Promise<void> {
  const response = await fetch(href("/insight/v1/me"));
  if (response.ok) switchTo((await response.json()) as Me);
}
