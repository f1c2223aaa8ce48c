// What a command is, and what it is called with. Data goes to stdout, words to stderr; 0 done, 1 failed, 2 wrongly called.

import type { ParseArgsOptionsConfig } from "node:util";
import { type Config, type ConfigName, type Given, readConfig, readEnvFile } from "../config.ts";
import { UserError } from "../domain/errors.ts";
import type { Event } from "../domain/events.ts";
import { parseDuration } from "../domain/instant.ts";
import type { Store } from "../domain/store.ts";
import { quoted } from "../domain/text.ts";
import { missingFile, openStore } from "../store/open.ts";
import { Progress } from "./progress.ts";

export type Call = {
  /** What was called, as it is typed: `customer create`. */
  readonly name: string;
  readonly arguments: readonly string[];
  readonly flags: Readonly<Record<string, string | boolean | undefined>>;
};

export type Command = {
  readonly name: string;
  readonly summary: string;
  /** What follows the name, then what it all means. */
  readonly usage: string;
  readonly help: string;
  /** How many words may follow, flags aside. */
  readonly most: number;
  readonly flags: ParseArgsOptionsConfig;
  readonly run: (call: Call) => Promise<number>;
};

/** Commands that go by one name and a word for what to do: `customer create`, `customer list` … */
export type Group = {
  readonly name: string;
  readonly summary: string;
  readonly help: string;
  readonly actions: readonly Command[];
};

export function say(words: string): void {
  process.stderr.write(`${words}\n`);
}

export function print(data: string): void {
  process.stdout.write(`${data}\n`);
}

/** The value of a flag that takes one. */
export function text(call: Call, flag: string): string | undefined {
  const value = call.flags[flag];
  return typeof value === "string" ? value : undefined;
}

export function duration(call: Call, flag: string): number | undefined {
  const given = text(call, flag);
  if (given === undefined) return undefined;
  const milliseconds = parseDuration(given);
  if (milliseconds === undefined)
    throw new UserError(`--${flag} must be a span such as 90d, 24h, 30m or 45s, not ${quoted(given)}`, 2);
  return milliseconds;
}

/** Flags named like an entry of the configuration are that entry. `fallbacks` stand in for what nobody sets. */
export function configOf(call: Call, names: readonly ConfigName[] = [], fallbacks: Given = {}): Config {
  const flags = Object.fromEntries(names.map((name) => [name, text(call, name.toLowerCase())]));
  const set = Object.entries(readEnvFile()).filter(([, value]) => value !== "");
  return readConfig(flags, process.env, { ...fallbacks, ...Object.fromEntries(set) });
}

/**
 * Opens the database for one command, and closes it whatever happens. What goes wrong with it is thrown. An embedded one is
 * made only by commands that put something into it: whoever looks into an empty one is in the wrong folder.
 */
export async function withStore<T>(config: Config, work: (store: Store) => Promise<T>, makes = false): Promise<T> {
  const missing = makes ? undefined : missingFile(config.databaseUrl);
  if (missing !== undefined) {
    throw new UserError(
      `there is no database at ${missing}. Run this in the folder that the service runs in, or set DATABASE_URL`,
    );
  }
  const migrating = new Progress("migrating the database");
  const observe = (event: Event): void => {
    if (event.kind === "migrating") migrating.show(event.done, event.total, `${event.done.toLocaleString("en")} readings`);
  };
  // A command asks where everything is known: not the replicas.
  const store = await openStore(config.databaseUrl, observe, { ...config, replicaUrls: [] });
  migrating.end();
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
