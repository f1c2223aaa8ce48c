// The sweep evaluates tanks that need it without a new reading: those that have become silent, and those whose pause has ended.
// One process of all on a database sweeps at a time: it claims the sweep in a state that they share.

import { HOUR, type Instant, isInstant } from "../instant.ts";
import { isObject, parseJson } from "../validate.ts";
import type { AlertSettings } from "./evaluate.ts";

export const SWEEP_EVERY_MS = 30_000;
/** A claim ends a little before the next sweep, so that inexact timers skip none. If the process dies, others wait no longer than that. */
const CLAIM_MS = 25_000;
/** A longer time between two sweeps means that we were down, or that the clock jumped: readings may be missing although the devices work. */
const MAX_SWEEP_INTERVAL_MS = HOUR;

/** What an evaluation depends on, besides the tank. */
const SWEEP_SETTING_NAMES = [
  "closeMargin",
  "silentAfter",
  "runsLowDays",
  "leakAlerts",
] as const satisfies readonly (keyof AlertSettings)[];
export type SweepSettings = Pick<AlertSettings, (typeof SWEEP_SETTING_NAMES)[number]>;

/**
 * A re-evaluation of many tanks: those after the id `after` remain. `all`: every tank, because settings have changed. `scheduled`:
 * all tanks with a scheduled evaluation, because a wrong clock may have set it too late.
 */
export type Reevaluation = { readonly after: string; readonly scope: "all" | "scheduled" };

export type SweepState = {
  /** The time of the last sweep, of whichever process. */
  readonly at: Instant;
  /** The end of the last downtime, after which tanks have some time to send; null if there was none. */
  readonly downtimeEndedAt: Instant | null;
  /** The re-evaluation in progress; null if only due tanks are evaluated. */
  readonly reevaluation: Reevaluation | null;
  readonly settings: SweepSettings | null;
};

/**
 * `claimedAt`: of the last result, to go on with what that sweep has left. `at`: the time; by default that of the database.
 * `settings`: given until the first claim of the process; if they differ from those before, all tanks are evaluated.
 */
export type SweepRequest = {
  readonly claimedAt?: Instant | undefined;
  readonly at?: Instant | undefined;
  readonly settings?: SweepSettings | undefined;
};

/** `claimedAt` is undefined while another process has the claim. */
export type SweepResult = { readonly claimedAt: Instant | undefined; readonly hasMore: boolean };

export interface SweepWrites {
  /** Evaluates the alerts of some tanks that are due, unless another process has the claim. */
  sweepAlerts(request: SweepRequest): Promise<SweepResult>;
  /** Some tanks that are due. For a damaged database, which is swept tank by tank. `at`: the database's time by default. */
  tanksDue(at: Instant | undefined): Promise<readonly string[]>;
  /** Evaluates the alerts of one tank. */
  evaluateTank(tankId: string, at: Instant | undefined): Promise<void>;
}

/** Undefined if what is stored is not a state. */
export function sweepStateOf(stored: string): SweepState | undefined {
  const state = parseJson(stored)?.value;
  return isObject(state) && isSweepState(state as SweepState) ? (state as SweepState) : undefined;
}

function isSweepState({ at, downtimeEndedAt, reevaluation, settings }: SweepState): boolean {
  return (
    isInstant(at) &&
    (downtimeEndedAt === null || isInstant(downtimeEndedAt)) &&
    (reevaluation === null || (isObject(reevaluation) && typeof reevaluation.after === "string")) &&
    (settings === null || (isObject(settings) && SWEEP_SETTING_NAMES.every((name) => name in settings)))
  );
}

/** The state that the sweep begins with; undefined while another process has the claim. */
export function beginSweep(
  before: SweepState | undefined,
  now: Instant,
  { claimedAt, settings }: SweepRequest,
): SweepState | undefined {
  if (before === undefined) return { at: now, downtimeEndedAt: null, reevaluation: null, settings: sweepSettings(settings) };
  const passed = now - before.at;
  if (before.at !== claimedAt && Math.abs(passed) < CLAIM_MS) return undefined;
  const isChanged = settings !== undefined && before.settings !== null && !hasSameSettings(before.settings, settings);
  const isSetBack = passed < -MAX_SWEEP_INTERVAL_MS;
  const scope = isChanged || before.reevaluation?.scope === "all" ? "all" : "scheduled";
  return {
    at: now,
    downtimeEndedAt: Math.abs(passed) > MAX_SWEEP_INTERVAL_MS ? now : before.downtimeEndedAt,
    reevaluation: isChanged || isSetBack ? { after: "", scope } : before.reevaluation,
    settings: sweepSettings(settings) ?? before.settings,
  };
}

/**
 * Whether newer readings than this one may be about to arrive: since then we were down, or the clock jumped, and the tank has not had
 * the time to send that it has before it is silent.
 */
export function mayBeOutdated(
  latestAt: Instant,
  state: SweepState | undefined,
  now: Instant,
  { silentAfter }: Pick<AlertSettings, "silentAfter">,
): boolean {
  if (state === undefined) return false;
  if (Math.abs(now - state.at) > MAX_SWEEP_INTERVAL_MS) return latestAt <= state.at;
  return state.downtimeEndedAt !== null && latestAt < state.downtimeEndedAt && now < state.downtimeEndedAt + silentAfter;
}

function sweepSettings(settings: SweepSettings | undefined): SweepSettings | null {
  if (settings === undefined) return null;
  const { closeMargin, silentAfter, runsLowDays, leakAlerts } = settings;
  return { closeMargin, silentAfter, runsLowDays, leakAlerts };
}

const hasSameSettings = (a: SweepSettings, b: SweepSettings): boolean => SWEEP_SETTING_NAMES.every((name) => a[name] === b[name]);
