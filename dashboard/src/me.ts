// The account that this page is for. All tabs share the cookie of the session: after somebody else has signed in in another one, the
// requests of this page would be those of that account.

import { signal } from "@preact/signals";
import type { Me } from "../../client/src/index.ts";
import { href } from "./location.ts";

/** Undefined until it is known. */
export const me = signal<Me | undefined>(undefined);

/** Who is signed in instead, while an open dialog keeps the page. */
export const otherAccount = signal<Me | undefined>(undefined);

export const isMine = ({ id, role }: Me): boolean => me.value?.id === id && me.value.role === role;

/** Loads the page again for the account, unless a dialog is open, which says so. */
export function switchTo(account: Me): void {
  otherAccount.value = account;
  if (document.querySelector("dialog[open]") === null) globalThis.location.reload();
}

const ANOTHER_ACCOUNT = {
  code: "role_insufficient",
  detail: "Nothing was saved, because another account has signed in in this browser.",
};

/** Sends a change only while the account is still signed in. If that cannot be checked, the result is the error of the check. */
export async function fetchAsMe(url: string | URL | Request, request: RequestInit = {}): Promise<Response> {
  if (request.method !== "GET" && me.value !== undefined) {
    const check = await fetch(href("/insight/v1/me"), { signal: request.signal ?? null });
    if (!check.ok) return check;
    const account = (await check.json()) as Me;
    if (!isMine(account)) {
      switchTo(account);
      return Response.json(ANOTHER_ACCOUNT, { status: 403 });
    }
  }
  return fetch(url, request);
}
