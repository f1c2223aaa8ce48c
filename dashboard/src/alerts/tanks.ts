// The tanks of the alerts that are shown. Each is requested once, and again with every page.

import { useEffect, useState } from "preact/hooks";
import { ApiError, type FleetTank } from "../../../client/src/index.ts";
import { api } from "../api.ts";

/** Returns the tanks that are loaded so far. A deleted tank has no entry. */
export function useTanks(ids: readonly string[]): ReadonlyMap<string, FleetTank> {
  const [tanks, setTanks] = useState<ReadonlyMap<string, FleetTank>>(new Map());
  const wanted = [...new Set(ids)];
  useEffect(() => {
    const controller = new AbortController();
    load(wanted, controller.signal).then(setTanks, () => {});
    return () => controller.abort();
  }, [wanted.join("\n")]);
  return tanks;
}

async function load(ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, FleetTank>> {
  const entries = await Promise.all(ids.map((id) => api.insight.tanks.retrieve(id, { signal }).catch(ifMissing)));
  return new Map(entries.flatMap((entry) => (entry === undefined ? [] : [[entry.tank.id, entry] as const])));
}

function ifMissing(error: unknown): undefined {
  if (error instanceof ApiError && error.status === 404) return undefined;
  throw error;
}
