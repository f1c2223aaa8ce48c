// What the person who is signed in may do, and how their session begins and ends.

import { signal } from "@preact/signals";
import { ApiError } from "../../client/src/index.ts";
import { api } from "./api.ts";
import { here, href, location, navigate } from "./location.ts";
import { me, otherAccount } from "./me.ts";

/** From the least to the most. */
const ROLES = ["customer", "viewer", "dispatcher", "admin"];
export type Role = "customer" | "viewer" | "dispatcher" | "admin";

export const ROLE_NAMES: Readonly<Record<string, string>> = {
  customer: "Customer",
  viewer: "Viewer",
  dispatcher: "Dispatcher",
  admin: "Administrator",
};

/** The session has ended while a dialog is open, which says so: what was typed, or is shown once, is not discarded. */
export const sessionEndedInDialog = signal(false);

/** Whether the person has this role, or a higher one. */
export function may(required: Role): boolean {
  const role = me.value?.role;
  return role !== undefined && ROLES.indexOf(role) >= ROLES.indexOf(required);
}

/** They see their own tanks only. Not before it is known. */
export const isCustomer = (): boolean => me.value?.role === "customer";

/** Loads who is signed in. If nobody is, the person signs in, and comes back. */
export async function loadSession(): Promise<void> {
  const before = me.value;
  try {
    const account = await api.insight.me.retrieve();
    // Meanwhile the session has ended, or the person has changed their settings.
    if (me.value !== before) return;
    me.value = account;
    otherAccount.value = undefined;
    sessionEndedInDialog.value = false;
  } catch (error) {
    if (!isSignedOut(error)) throw error;
    redirectToSignIn();
  }
}

/** The session has ended, or there was none. */
export function redirectToSignIn(): void {
  // Several requests find out at once.
  if (location.value.path === "/sign-in") return;
  otherAccount.value = undefined;
  sessionEndedInDialog.value = document.querySelector("dialog[open]") !== null;
  if (sessionEndedInDialog.value) return;
  const hadSession = me.value !== undefined;
  me.value = undefined;
  const query = new URLSearchParams({ return: here(), ...(hadSession ? { ended: "1" } : {}) });
  navigate(`/sign-in?${query}`, { replace: true });
}

export const isSignedOut = (error: unknown): boolean => error instanceof ApiError && error.status === 401;

/** Loads the page again, so that nothing of the session stays in memory. */
export async function signOut(): Promise<void> {
  await api.auth.session.delete().catch((error) => {
    if (!isSignedOut(error)) throw error;
  });
  globalThis.location.assign(href("/sign-in"));
}
