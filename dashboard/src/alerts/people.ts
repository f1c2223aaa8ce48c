// Who acknowledged an alert, in words. Only admins may read the names of others.

import { api } from "../api.ts";
import { useNames } from "../components/names.ts";
import { me } from "../me.ts";
import { may } from "../session.ts";

/** Returns a function that knows everybody who is loaded so far; undefined for keys. */
export function usePeople(ids: readonly (string | null)[]): (id: string | null) => string | undefined {
  const others = ids.filter((id) => id !== null && id !== me.value?.id && may("admin")) as string[];
  const nameOf = useNames(others.map((id) => ({ type: "user", id })));
  return (id) => (id === null ? undefined : id === me.value?.id ? "you" : nameOf(id));
}

/** "Dana Fischer", or "Somebody else". */
export async function nameOf(id: string | null): Promise<string> {
  const user = id !== null && may("admin") ? await api.manage.users.retrieve(id).catch(() => undefined) : undefined;
  return user?.name ?? "Somebody else";
}
