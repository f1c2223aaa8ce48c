// How urgent a tank is, as the tone of its level.

import type { FleetTank } from "../../../client/src/index.ts";
import type { Tone } from "./alert-kinds.tsx";

/**
 * The level has risen, perhaps by a refill, and the forecast is still the one from before. Only then a tank that is not low has no
 * days left while its forecast is "ok".
 */
export const isRefillUnconfirmed = ({ days_left, forecast }: FleetTank): boolean => days_left === null && forecast.state === "ok";

/** Its alert was closed, or is paused. */
export const isLowWithoutAlert = ({ state, alerts }: FleetTank): boolean =>
  state === "low" && !alerts.some(({ kind }) => kind === "low");

/** The time within which the person who plans deliveries has to act. */
const SOON_DAYS = 7;

export function toneOf({ state, days_left }: FleetTank): Tone | undefined {
  if (state === "low") return "low";
  return (days_left?.p50 ?? Number.POSITIVE_INFINITY) <= SOON_DAYS ? "soon" : undefined;
}
