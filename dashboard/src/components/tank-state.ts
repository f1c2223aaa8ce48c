// What the data of a tank means where no field says it.

import type { FleetTank } from "../../../client/src/index.ts";

type JumpFields = {
  readonly days_left?: object | null;
  readonly forecast?: { readonly state?: string; readonly runs_low_at?: { readonly p10?: string | null } };
};

/**
 * The level has risen, perhaps by a refill, and the forecast is still the one from before; or it has fallen suddenly, and the forecast
 * has no dates. Only then a tank that is not low has no days left while its forecast is "ok".
 */
const isJumpUnconfirmed = ({ days_left, forecast }: JumpFields): boolean => days_left === null && forecast?.state === "ok";

export const isRefillUnconfirmed = (entry: JumpFields): boolean =>
  isJumpUnconfirmed(entry) && entry.forecast?.runs_low_at?.p10 != null;

/** Why a tank that is not low has no days left although its forecast is "ok". Undefined: it has days left, or no forecast. */
export function unconfirmedJump(entry: FleetTank): string | undefined {
  if (!isJumpUnconfirmed(entry)) return undefined;
  return isRefillUnconfirmed(entry) ? "a refill" : "a sudden change";
}

/** Its alert was closed, or the tank is paused. */
export const isLowWithoutAlert = ({ state, alerts }: FleetTank): boolean =>
  state === "low" && !alerts.some(({ kind }) => kind === "low");
