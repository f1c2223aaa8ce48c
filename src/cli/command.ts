// A command, the call it is run with, and the database it works on. Exit codes: 0 done, 1 failed, 2 wrong usage.

import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ParseArgsOptionsConfig } from "node:util";
import { type Config, type ConfigName, readConfig, readEnvFile, storeSettings, type Variables } from "../config.ts";
import { UserError } from "../domain/errors.ts";
import { parseDuration, parseInstant } from "../domain/instant.ts";
import type { Store } from "../domain/store.ts";
import { quoted } from "../domain/text.ts";
import type { DecimalMark } from "../ingest/csv.ts";
import { databaseFiles, openStore } from "../store/open.ts";
import { printMessage } from "./output.ts";

export type CliCall = {
  /** The name as typed: `customer create`. */
  readonly name: string;
  readonly arguments: readonly string[];
  readonly flags: Readonly<Record<string, string | boolean | undefined>>;
};

export type KeyRole = "read" | "manage";

export type CliCommand = {
  readonly name: string;
  readonly summary: string;
  /** What follows the name. */
  readonly usage: string;
  readonly help: string;
  readonly maxArguments: number;
  readonly flags: ParseArgsOptionsConfig;
  /** The minimum role of the key for --url, where the command has one. */
  readonly keyRole?: KeyRole;
  readonly run: (call: CliCall) => Promise<number>;
};

/** Commands with one name and an action, all on the HTTP API: `customer create`, `customer list` … */
export type CommandGroup = {
  readonly name: string;
  readonly summary: string;
  readonly actions: readonly CliCommand[];
};

/** Flags that take a value. */
export function valueFlags(...names: readonly string[]): ParseArgsOptionsConfig {
  return Object.fromEntries(names.map((name) => [name, { type: "string" } as const]));
}

/** The value of a flag that takes one. */
export function text(call: CliCall, flag: string): string | undefined {
  const value = call.flags[flag];
  return typeof value === "string" ? value : undefined;
}

export function numberFlag(call: CliCall, flag: string, fallback: number, min: number, max: number): number {
  const given = text(call, flag);
  if (given === undefined) return fallback;
  const value = /^-?\d+(\.\d+)?$/.test(given) ? Number(given) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new UserError(`--${flag} must be a number from ${min} to ${max}, not ${quoted(given)}`, 2);
}

export function wholeNumberFlag(call: CliCall, flag: string, fallback: number, min: number, max: number): number {
  const value = numberFlag(call, flag, fallback, min, max);
  if (Number.isInteger(value)) return value;
  throw new UserError(`--${flag} must be a whole number, not ${quoted(String(value))}`, 2);
}

export function parseDurationFlag(given: string, flag: string): number {
  const milliseconds = parseDuration(given);
  if (milliseconds !== undefined) return milliseconds;
  throw new UserError(`--${flag} must be a duration such as 7d, 24h, 30m or 45s, not ${quoted(given)}`, 2);
}

/** The duration itself, checked. */
export function durationText(given: string, flag: string): string {
  parseDurationFlag(given, flag);
  return given;
}

/** A datetime, from one or from how long ago. */
export function parseWhen(given: string, flag: string): string {
  const ago = parseDuration(given);
  if (ago !== undefined) return new Date(Date.now() - ago).toISOString();
  if (parseInstant(given) !== undefined) return given;
  throw new UserError(
    `--${flag} must be a datetime such as 2026-11-14T09:30:00Z, a date such as 2026-11-14 (its start, midnight UTC), or a time ago such as 24h or 7d, not ${quoted(given)}`,
    2,
  );
}

/** How numbers in CSV files are written, if the flags say so. */
export function decimalMark({ flags, name }: CliCall): DecimalMark | undefined {
  const marks = (["comma", "point"] as const).filter((mark) => flags[`decimal-${mark}`] === true);
  if (marks.length > 1) throw new UserError(`${name}: --decimal-comma and --decimal-point contradict each other`, 2);
  return marks[0];
}

/** Flags named like a setting override it. `fallbacks` apply where a setting has no value. */
export function configOf(call: CliCall, names: readonly ConfigName[] = [], fallbacks: Variables = {}): Config {
  const flags = Object.fromEntries(names.map((name) => [name, text(call, name.toLowerCase())]));
  const set = Object.entries(readEnvFile()).filter(([, value]) => value !== "");
  return readConfig(flags, process.env, { ...fallbacks, ...Object.fromEntries(set) });
}

/** A dry run on a SQLite database that does not exist yet uses one in a temporary folder, which is removed at the exit. */
export function dryRunConfig(config: Config): Config {
  const [file] = databaseFiles(config.databaseUrl);
  if (file === undefined || existsSync(file)) return config;
  printMessage(`There is no database at ${file} yet: the dry run uses an empty one.`);
  const folder = mkdtempSync(join(tmpdir(), "tank-monitor-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return { ...config, databaseUrl: `sqlite:${join(folder, "dry-run.db")}` };
}

/**
 * Only commands that write the first data create a database: for others a missing one means the wrong folder. A new SQLite database
 * is reported, since it may also be due to the wrong folder; `silently`: the command itself says so.
 */
type MayCreate = boolean | "silently";

export async function openDatabase(config: Config, mayCreate: MayCreate): Promise<Store> {
  const [file] = databaseFiles(config.databaseUrl);
  const isNew = file !== undefined && (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0;
  // Commands need current data, so they do not read from replicas.
  const settings = { ...storeSettings(config), replicaUrls: [] };
  const store = await openStore(config.databaseUrl, () => {}, settings, mayCreate !== false);
  if (isNew && mayCreate === true) printMessage(`A new database was created: ${file}`);
  return store;
}

export async function withStore<T>(config: Config, work: (store: Store) => Promise<T>, mayCreate: MayCreate = false): Promise<T> {
  const store = await openDatabase(config, mayCreate);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
