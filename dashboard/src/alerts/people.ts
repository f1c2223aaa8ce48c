// Who acknowledged an alert, in words. Only admins may read the names of others.

import { api } from "../api.ts";
import { useNames } from "../components/names.ts";
import { me } from "../me.ts";
import { may } from "../session.ts";

type PersonOf = ((id: string | null) => string | undefined) & { readonly areLoaded: boolean };

/** Returns a function that knows everybody who is loaded so far; undefined for keys. */
export function usePeople(ids: readonly (string | null)[]): PersonOf {
  const others = ids.filter((id) => id !== null && id !== me.value?.id && may("admin")) as string[];
  const nameOf = useNames(others.map((id) => ({ type: "user", id })));
  const personOf = (id: string | null) => (id === null ? undefined : id === me.value?.id ? "you" : nameOf(id));
  return Object.assign(personOf, { areLoaded: me.value !== undefined && nameOf.areLoaded });
}

/** "Dana Fischer", or "Somebody else". */
export async function nameOf(id: string | null): Promise<string> {
  const user = id !== null && may("admin") ? await api.manage.users.retrieve(id).catch(() => undefined) : undefined;
  return user?.name ?? "Somebody else";
}
