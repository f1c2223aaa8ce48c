// What the data of a tank means where no field says it.

import type { FleetTank } from "../../../client/src/index.ts";

/**
 * The level has risen, perhaps by a refill, and the forecast is still the one from before. Only then a tank that is not low has no
 * days left while its forecast is "ok".
 */
export const isRefillUnconfirmed = ({ days_left, forecast }: FleetTank): boolean => days_left === null && forecast.state === "ok";

/** Its alert was closed, or the tank is paused. */
export const isLowWithoutAlert = ({ state, alerts }: FleetTank): boolean =>
  state === "low" && !alerts.some(({ kind }) => kind === "low");
