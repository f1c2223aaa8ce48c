// Who is signed in, and what they may do.

import { signal } from "@preact/signals";
import { ApiError } from "../../client/src/index.ts";
import { here, href, navigate } from "./location.ts";

/** From the least to the most. */
const ROLES = ["customer", "viewer", "dispatcher", "admin"] as const;
export type Role = (typeof ROLES)[number];

export type Me = {
  readonly type: "user" | "customer" | "key";
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly role: Role;
};

/** Undefined until it is known. */
export const me = signal<Me | undefined>(undefined);

/** Whether the person has this role, or a higher one. */
export function may(required: Role): boolean {
  const role = me.value?.role;
  return role !== undefined && ROLES.indexOf(role) >= ROLES.indexOf(required);
}

/** Loads who is signed in. Otherwise the person signs in, and comes back. */
export async function loadSession(): Promise<void> {
  const response = await fetch(href("/insight/v1/me"), { headers: { accept: "application/json" } });
  if (response.status === 401) signInFirst();
  else if (response.ok) me.value = (await response.json()) as Me;
  else throw new ApiError("unexpected_response", `The service responded with the status ${response.status}.`);
}

/** The session has ended, or there was none. */
export function signInFirst(): void {
  const hadSession = me.value !== undefined;
  me.value = undefined;
  const query = new URLSearchParams({ return: here(), ...(hadSession ? { ended: "1" } : {}) });
  navigate(`/sign-in?${query}`, { replace: true });
}

export const isSignedOut = (error: unknown): boolean => error instanceof ApiError && error.status === 401;

export async function signOut(): Promise<void> {
  await fetch(href("/auth/v1/session"), { method: "DELETE" });
  me.value = undefined;
  navigate("/sign-in");
}
