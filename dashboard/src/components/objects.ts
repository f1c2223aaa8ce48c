// Objects that a list refers to, such as the tanks of alerts. Each is requested once, and again with every page.

import { ApiError, type FleetTank } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { useLive } from "../live.ts";

type Loaded<T> = ReadonlyMap<string, T | undefined>;
type Load<T> = (id: string, options: { readonly signal: AbortSignal }) => Promise<T>;

/** Returns the tanks that are loaded so far. A deleted tank has no entry. */
export const useTanks = (ids: readonly string[]): Loaded<FleetTank> => useObjects("tanks", ids, api.insight.tanks.retrieve);

/** `name`: of their type. One that does not exist is undefined. */
export function useObjects<T>(name: string, ids: readonly string[], load: Load<T>): Loaded<T> {
  const wanted = [...new Set(ids)];
  return useLive(`${name} ${wanted.join(" ")}`, loadOnce(wanted, load)).data ?? new Map();
}

/** Every call requests those that are not loaded yet: at first all, then those that failed. */
function loadOnce<T>(ids: readonly string[], load: Load<T>): (signal: AbortSignal) => Promise<Loaded<T>> {
  let objects: Loaded<T> = new Map();
  return async (signal) => {
    const loaded: [string, T | undefined][] = [];
    const loadOne = async (id: string) => loaded.push([id, await load(id, { signal }).catch(ifMissing)]);
    await Promise.allSettled(ids.filter((id) => !objects.has(id)).map(loadOne));
    if (loaded.length > 0) objects = new Map([...objects, ...loaded]);
    return objects;
  };
}

function ifMissing(error: unknown): undefined {
  if (error instanceof ApiError && error.status === 404) return undefined;
  throw error;
}
