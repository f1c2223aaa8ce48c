// The options of a simulation, from flags and the environment.

import { readEnvFile } from "../config.ts";
import { UserError } from "../domain/errors.ts";
import { quoted, suggestion } from "../domain/text.ts";
import { READING_LOG_LIMIT } from "../simulate/results.ts";
import { MAKERS, type Maker } from "../simulate/sensors.ts";
import { type Call, parseDurationFlag, text } from "./command.ts";

export type SimulationOptions = {
  /** Without a slash at its end. */
  readonly url: string | undefined;
  readonly mqtt: string | undefined;
  readonly tanks: number;
  readonly rate: number;
  readonly seed: string;
  readonly makers: readonly Maker[];
  readonly durationMs: number | undefined;
  readonly key: string | undefined;
  readonly manageKey: string | undefined;
  readonly readKey: string | undefined;
  readonly verify: boolean;
};

const MAX_TANKS = 1_000_000;
const MAX_RATE = 1_000_000;
/** A tank has one reading per millisecond at most. */
const MAX_RATE_PER_TANK = 500;
const DAY_MS = 86_400_000;
/** Timers take at most 24.8 days. */
const MAX_DURATION_MS = 24 * DAY_MS;

export function simulationOptions(call: Call): SimulationOptions {
  const duration = text(call, "duration");
  const options: SimulationOptions = {
    url: urlFlag(call, "url", /^https?:$/, "http://127.0.0.1:8080")?.replace(/\/+$/, ""),
    mqtt: urlFlag(call, "mqtt", /^(mqtts?|wss?):$/, "mqtt://127.0.0.1:1883"),
    tanks: numberFlag(call, "tanks", 10, 1, MAX_TANKS),
    rate: numberFlag(call, "rate", 2, 0.001, MAX_RATE),
    seed: text(call, "seed") ?? "1",
    makers: makersFlag(call),
    durationMs: duration === undefined ? undefined : parseDurationFlag(duration, "duration"),
    key: keyFlag(call, "key"),
    manageKey: keyFlag(call, "manage-key"),
    readKey: keyFlag(call, "read-key"),
    verify: call.flags["verify"] === true,
  };
  const error = errorIn(options);
  if (error !== undefined) throw new UserError(`simulate: ${error}`, 2);
  return options;
}

function errorIn({ url, mqtt, tanks, rate, durationMs = 0, key, manageKey, readKey, verify }: SimulationOptions) {
  if (url === undefined && mqtt === undefined) return "--url or --mqtt is missing: where to send readings";
  if (!Number.isInteger(tanks)) return "--tanks must be a whole number";
  if (rate > tanks * MAX_RATE_PER_TANK) {
    return `--rate must be at most ${MAX_RATE_PER_TANK} for each tank: with --tanks ${tanks}, ${tanks * MAX_RATE_PER_TANK}`;
  }
  if (mqtt === undefined && key === undefined && manageKey === undefined) {
    return "a key is missing: --key, or TANK_MONITOR_KEY";
  }
  if (url === undefined && verify) return "--verify needs --url, also if readings go to a broker";
  if (durationMs > MAX_DURATION_MS) return `--duration must be at most ${MAX_DURATION_MS / DAY_MS}d; omit it to run until Ctrl-C`;
  if (verify && readKey === undefined && manageKey === undefined && key === undefined)
    return "--verify needs a key that can read";
  if (verify && rate * (durationMs / 1000) > READING_LOG_LIMIT) {
    return `--verify keeps at most ${READING_LOG_LIMIT} readings: lower --rate or --duration`;
  }
  return undefined;
}

/** URLs may contain a password, so a wrong one is not repeated. */
function urlFlag(call: Call, flag: string, protocol: RegExp, example: string): string | undefined {
  const given = text(call, flag);
  if (given === undefined || (URL.canParse(given) && protocol.test(new URL(given).protocol))) return given;
  throw new UserError(`--${flag} must be a URL such as ${example}`, 2);
}

function numberFlag(call: Call, flag: string, fallback: number, min: number, max: number): number {
  const given = text(call, flag);
  if (given === undefined) return fallback;
  const value = /^\d{1,7}(\.\d{1,3})?$/.test(given) ? Number(given) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new UserError(`--${flag} must be a number from ${min} to ${max}, not ${quoted(given)}`, 2);
}

function makersFlag(call: Call): readonly Maker[] {
  const given = text(call, "makers");
  if (given === undefined) return MAKERS;
  return given.split(",").map((word) => {
    const maker = MAKERS.find((known) => known === word.trim());
    if (maker !== undefined) return maker;
    throw new UserError(
      `--makers: no such maker: ${quoted(word)}.${suggestion(word, MAKERS)} Choose from ${MAKERS.join(", ")}`,
      2,
    );
  });
}

/** `--manage-key`, or TANK_MONITOR_MANAGE_KEY, which other users of the machine cannot see. */
function keyFlag(call: Call, flag: string): string | undefined {
  const name = `TANK_MONITOR_${flag.toUpperCase().replace("-", "_")}`;
  const given = text(call, flag) ?? (process.env[name] || readEnvFile()[name]);
  return given === "" ? undefined : given;
}
