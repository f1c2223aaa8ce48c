// Who acknowledged an alert, in words. Only admins may read the names of others.

import { api } from "../api.ts";
import { useObjects } from "../components/objects.ts";
import { may, me } from "../session.ts";

/** Returns a function that knows everybody who is loaded so far; undefined for keys and removed users. */
export function usePeople(ids: readonly (string | null)[]): (id: string | null) => string | undefined {
  const others = ids.filter((id) => id !== null && id !== me.value?.id && may("admin")) as string[];
  const users = useObjects("users", others, api.manage.users.retrieve);
  return (id) => (id === null ? undefined : id === me.value?.id ? "you" : users.get(id)?.name);
}

/** "Dana Fischer", or "Somebody else". */
export async function nameOf(id: string | null): Promise<string> {
  const user = id !== null && may("admin") ? await api.manage.users.retrieve(id).catch(() => undefined) : undefined;
  return user?.name ?? "Somebody else";
}
