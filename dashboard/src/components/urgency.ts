// How urgent a tank is, as the tone of its level.

import type { FleetTank } from "../../../client/src/index.ts";
import type { Tone } from "./alert-kinds.tsx";

/** The time within which the person who plans deliveries has to act. */
const SOON_DAYS = 7;

export function toneOf({ state, days_left }: FleetTank): Tone | undefined {
  if (state === "low") return "low";
  return (days_left?.p50 ?? Number.POSITIVE_INFINITY) <= SOON_DAYS ? "soon" : undefined;
}
