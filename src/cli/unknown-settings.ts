// Warnings about names in `.env` and the environment that are not settings, and so have no effect. They never show a value.

import { parseEnv } from "node:util";
import { SETTINGS, type Variables } from "../config.ts";
import { closest, editDistance } from "../domain/text.ts";

const NAMES: readonly string[] = Object.values(SETTINGS).map(({ name }) => name);
/** Read by `simulate`. */
const KEYS_OF_SIMULATE = ["TANK_MONITOR_READ_KEY", "TANK_MONITOR_MANAGE_KEY"];

export function unknownSettings(envText: string, environment: Variables): readonly string[] {
  return [...warningsInFile(envText), ...warningsInEnvironment(environment, parseEnv(envText))];
}

/** A value in quotes may span several lines. */
const QUOTED_VALUE = /^([ \t]*[^#\n=]+=[ \t]*)(["'`])[\s\S]*?\2.*$/gm;
const ENTRY = /^\s*(?:export\s+)?([^=]*?)\s*=/;
const NAME_IN_LOWER_CASE = /^[a-z][a-z0-9_]{0,39}$/;
/**
 * All upper or all lower case: text before "=" in any other line may be part of a secret, such as the end of a private key, and
 * is not printed.
 */
const PLAIN_NAME = /^(?:[A-Z][A-Z0-9_]{0,39}|[a-z][a-z0-9_]{0,39})$/;

function warningsInFile(text: string): readonly string[] {
  const withoutQuoted = text.replaceAll("\r\n", "\n").replace(QUOTED_VALUE, (whole, start: string) => {
    return start + "\n".repeat(whole.split("\n").length - 1);
  });
  return withoutQuoted.split("\n").flatMap((line, i) => {
    if (/^\s*(?:#|$)/.test(line)) return [];
    const [, name = ""] = ENTRY.exec(line) ?? [];
    if (!PLAIN_NAME.test(name)) return [`line ${i + 1} of .env is not NAME=VALUE, so it is ignored`];
    const upper = name.toUpperCase();
    if (NAME_IN_LOWER_CASE.test(name) && NAMES.includes(upper)) {
      return [`${name} in .env is ignored: write ${upper}, since names of settings are in capitals`];
    }
    if (NAMES.includes(name) || KEYS_OF_SIMULATE.includes(name)) return [];
    if (name.startsWith("NODE_")) return [`${name} in .env has no effect: Node reads it from the environment only`];
    return [notASetting(`${name} in .env`, closest(name, NAMES))];
  });
}

/** Most variables of a shell belong to other programs, so only those that differ by one typing error count. */
function warningsInEnvironment(environment: Variables, envFile: Variables): readonly string[] {
  // Short names such as PORT are too similar to those of other programs.
  const notGiven = NAMES.filter((name) => name.includes("_") && !environment[name] && !envFile[name]);
  return Object.keys(environment).flatMap((name) => {
    const meant = NAMES.includes(name) ? undefined : notGiven.find((known) => isOneErrorFrom(name.toUpperCase(), known));
    return meant === undefined ? [] : [notASetting(`${name} in the environment`, meant)];
  });
}

const isOneErrorFrom = (name: string, known: string): boolean =>
  Math.abs(name.length - known.length) <= 1 && editDistance(name, known) <= 1;

function notASetting(what: string, meant: string | undefined): string {
  return `${what} is not a setting${meant === undefined ? "" : `; did you mean ${meant}?`}`;
}
