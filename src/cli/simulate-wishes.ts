// What a simulation is to be like, from the flags and the environment.

import { readEnvFile } from "../config.ts";
import { UserError } from "../domain/errors.ts";
import { quoted, suggestion } from "../domain/text.ts";
import { READING_LOG_LIMIT } from "../simulate/results.ts";
import { MAKERS, type Maker } from "../simulate/sensors.ts";
import { type Call, duration, text } from "./command.ts";

export type Wishes = {
  /** Without a slash at its end. */
  readonly url: string | undefined;
  readonly mqtt: string | undefined;
  readonly tanks: number;
  readonly rate: number;
  readonly seed: string;
  readonly makers: readonly Maker[];
  readonly milliseconds: number | undefined;
  readonly key: string | undefined;
  readonly manageKey: string | undefined;
  readonly readKey: string | undefined;
  readonly verify: boolean;
};

const MOST_TANKS = 1_000_000;
const MOST_RATE = 1_000_000;
/** A tank has one reading for an instant, and instants are milliseconds. */
const MOST_RATE_OF_A_TANK = 500;
const DAY_MS = 86_400_000;
/** No timer takes more than 24.8 days. */
const LONGEST_MS = 24 * DAY_MS;

export function wishesOf(call: Call): Wishes {
  const wishes: Wishes = {
    url: urlOf(text(call, "url"), "url", /^https?:$/, "http://127.0.0.1:8080")?.replace(/\/+$/, ""),
    mqtt: urlOf(text(call, "mqtt"), "mqtt", /^(mqtts?|wss?):$/, "mqtt://127.0.0.1:1883"),
    tanks: number(call, "tanks", 10, 1, MOST_TANKS),
    rate: number(call, "rate", 2, 0.001, MOST_RATE),
    seed: text(call, "seed") ?? "1",
    makers: makersOf(text(call, "makers")),
    milliseconds: duration(call, "duration"),
    key: keyOf(call, "key"),
    manageKey: keyOf(call, "manage-key"),
    readKey: keyOf(call, "read-key"),
    verify: call.flags["verify"] === true,
  };
  const fault = faultIn(wishes);
  if (fault !== undefined) throw new UserError(`simulate: ${fault}`, 2);
  return wishes;
}

function faultIn({ url, mqtt, tanks, rate, milliseconds, key, manageKey, readKey, verify }: Wishes): string | undefined {
  if (url === undefined && mqtt === undefined) return "say where to: --url for HTTP, --mqtt for a broker";
  if (!Number.isInteger(tanks)) return "--tanks must be a whole number";
  if (rate > tanks * MOST_RATE_OF_A_TANK) {
    return `--rate must be at most ${MOST_RATE_OF_A_TANK} for each tank: with --tanks ${tanks}, ${tanks * MOST_RATE_OF_A_TANK}`;
  }
  if (mqtt === undefined && key === undefined && manageKey === undefined) {
    return "a key to send with is missing: --key, or TANK_MONITOR_KEY";
  }
  if (url === undefined && verify) return "--verify needs --url, also where readings go to a broker";
  if ((milliseconds ?? 0) > LONGEST_MS)
    return `--duration must be at most ${LONGEST_MS / DAY_MS}d; leave it out to go on until Ctrl-C`;
  if (verify && readKey === undefined && manageKey === undefined && key === undefined)
    return "--verify needs a key that may read";
  if (verify && rate * ((milliseconds ?? 0) / 1000) > READING_LOG_LIMIT) {
    return `--verify keeps at most ${READING_LOG_LIMIT} readings: lower --rate or --duration`;
  }
  return undefined;
}

/** Addresses may hold a password, so one that is wrong is not repeated. */
function urlOf(given: string | undefined, flag: string, protocol: RegExp, example: string): string | undefined {
  if (given === undefined) return undefined;
  if (URL.canParse(given) && protocol.test(new URL(given).protocol)) return given;
  throw new UserError(`--${flag} must be an address such as ${example}`, 2);
}

function number(call: Call, flag: string, fallback: number, least: number, most: number): number {
  const given = text(call, flag);
  if (given === undefined) return fallback;
  const value = /^\d{1,7}(\.\d{1,3})?$/.test(given) ? Number(given) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new UserError(`--${flag} must be a number from ${least} to ${most}, not ${quoted(given)}`, 2);
}

function makersOf(given: string | undefined): readonly Maker[] {
  if (given === undefined) return MAKERS;
  return given.split(",").map((word) => {
    const maker = MAKERS.find((known) => known === word.trim());
    if (maker !== undefined) return maker;
    throw new UserError(`--makers: there is no ${quoted(word)}.${suggestion(word, MAKERS)} There are ${MAKERS.join(", ")}`, 2);
  });
}

/** `--manage-key`, or TANK_MONITOR_MANAGE_KEY, where other users of the machine do not see it. */
function keyOf(call: Call, flag: string): string | undefined {
  const name = `TANK_MONITOR_${flag.toUpperCase().replace("-", "_")}`;
  const given = text(call, flag) ?? (process.env[name] || readEnvFile()[name]);
  return given === "" ? undefined : given;
}
