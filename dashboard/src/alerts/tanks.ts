// The tanks of the alerts that are shown. Each is requested once, and again with every page.

import { ApiError, type FleetTank } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { useLive } from "../live.ts";

type Tanks = ReadonlyMap<string, FleetTank | undefined>;

/** Returns the tanks that are loaded so far. A deleted tank has no entry. */
export function useTanks(ids: readonly string[]): Tanks {
  const wanted = [...new Set(ids)];
  return useLive(`tanks ${wanted.join(" ")}`, loadOnce(wanted)).data ?? NONE;
}

const NONE: Tanks = new Map();

/** Every call requests those that are not loaded yet: at first all, then those that failed. */
function loadOnce(ids: readonly string[]): (signal: AbortSignal) => Promise<Tanks> {
  let tanks = NONE;
  return async (signal) => {
    const loaded: [string, FleetTank | undefined][] = [];
    const load = async (id: string) => loaded.push([id, await api.insight.tanks.retrieve(id, { signal }).catch(ifMissing)]);
    await Promise.allSettled(ids.filter((id) => !tanks.has(id)).map(load));
    if (loaded.length > 0) tanks = new Map([...tanks, ...loaded]);
    return tanks;
  };
}

function ifMissing(error: unknown): undefined {
  if (error instanceof ApiError && error.status === 404) return undefined;
  throw error;
}
