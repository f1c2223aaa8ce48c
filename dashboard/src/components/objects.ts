// Objects that a list refers to, such as the tanks of alerts. Each is requested once, and again with every page; tanks also every minute,
// for their current level and forecast.

import { useRef } from "preact/hooks";
import { ApiError, type FleetTank } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { type Live, useLive } from "../live.ts";

type Loaded<T> = ReadonlyMap<string, T | undefined>;
type Objects<T> = {
  readonly get: (id: string) => T | undefined;
  /** All of them, or as many as could be loaded. */
  readonly areLoaded: boolean;
};
type Load<T> = (id: string, options: { readonly signal: AbortSignal }) => Promise<T>;

const TANK_FRESH_MS = 60_000;

/** Returns the tanks that are loaded so far. A deleted tank has no entry. */
export const useTanks = (ids: readonly string[]): Objects<FleetTank> =>
  useObjects("tanks", ids, api.insight.tanks.retrieve, TANK_FRESH_MS);

/** `name`: of their type; `freshMs`: after this they are requested again. One that does not exist is undefined. */
export function useObjects<T>(name: string, ids: readonly string[], load: Load<T>, freshMs = Infinity): Objects<T> {
  const wanted = [...new Set(ids)];
  const { data, isCurrent } = useLive(`${name} ${wanted.join(" ")}`, loadWhenDue(wanted, load, freshMs));
  const areLoaded = data !== undefined && (isCurrent || wanted.every((id) => data.has(id)));
  return { get: (id) => data?.get(id), areLoaded };
}

/** The list, but while objects that its rows name are loaded the list before: the names would move the rows. */
export function useComplete<T>(list: Live<T>, ...named: readonly Pick<Objects<unknown>, "areLoaded">[]): Live<T> {
  const complete = useRef(list);
  const isComplete = named.every(({ areLoaded }) => areLoaded);
  if (isComplete) complete.current = list;
  return isComplete ? list : { ...list, data: complete.current.data, isCurrent: false };
}

/** Every call requests those that are due: at first all, then those that failed, or that are no longer fresh. */
function loadWhenDue<T>(ids: readonly string[], load: Load<T>, freshMs: number): (signal: AbortSignal) => Promise<Loaded<T>> {
  let objects: Loaded<T> = new Map();
  const loadedAt = new Map<string, number>();
  return async (signal) => {
    const changed: [string, T | undefined][] = [];
    const loadOne = async (id: string) => {
      const object = await load(id, { signal }).catch(ifMissing);
      loadedAt.set(id, Date.now());
      if (!objects.has(id) || objects.get(id) !== object) changed.push([id, object]);
    };
    const isDue = (id: string) => Date.now() >= (loadedAt.get(id) ?? 0) + freshMs || !loadedAt.has(id);
    await Promise.allSettled(ids.filter(isDue).map(loadOne));
    if (changed.length > 0) objects = new Map([...objects, ...changed]);
    return objects;
  };
}

function ifMissing(error: unknown): undefined {
  if (error instanceof ApiError && error.status === 404) return undefined;
  throw error;
}
