// The command line: finds the command, parses its arguments and runs it.

import { parseArgs } from "node:util";
import type { CliCommand, CommandGroup } from "./cli/command.ts";
import { print, printHelp, printMessage } from "./cli/output.ts";
import { describeFatalError, UserError } from "./domain/errors.ts";
import { closest, quoted, suggestion } from "./domain/text.ts";
import { VERSION } from "./version.ts";

/** Loaded on demand, so that the service does not hold the others in memory. */
const COMMANDS: Readonly<Record<string, () => Promise<CliCommand | CommandGroup>>> = {
  serve: async () => (await import("./cli/serve.ts")).serve,
  demo: async () => (await import("./cli/demo.ts")).demo,
  fleet: async () => (await import("./cli/fleet.ts")).fleet,
  customer: async () => (await import("./cli/customer.ts")).customer,
  tank: async () => (await import("./cli/tank.ts")).tank,
  device: async () => (await import("./cli/device.ts")).device,
  alert: async () => (await import("./cli/alert.ts")).alert,
  key: async () => (await import("./cli/key.ts")).key,
  user: async () => (await import("./cli/user.ts")).user,
  channel: async () => (await import("./cli/channel.ts")).channel,
  notification: async () => (await import("./cli/notification.ts")).notification,
  audit: async () => (await import("./cli/audit.ts")).audit,
  provision: async () => (await import("./cli/provision.ts")).provision,
  import: async () => (await import("./cli/import.ts")).importCommand,
  export: async () => (await import("./cli/export.ts")).exportCommand,
  backup: async () => (await import("./cli/backup.ts")).backup,
  restore: async () => (await import("./cli/restore.ts")).restore,
  check: async () => (await import("./cli/check.ts")).check,
  backtest: async () => (await import("./cli/backtest.ts")).backtest,
  simulate: async () => (await import("./cli/simulate.ts")).simulate,
  openapi: async () => (await import("./cli/openapi.ts")).openapi,
};

const PROGRAM = "npx tank-monitor";

async function generalHelp(): Promise<string> {
  const commands = await Promise.all(Object.values(COMMANDS).map((load) => load()));
  return `tank-monitor ${VERSION}: how full is every tank, and which one needs a truck next?

Usage: ${PROGRAM} COMMAND [options]

${listed(commands)}

"${PROGRAM} COMMAND --help" shows its options. Settings come from flags, the environment and .env:
docs/configuration.md lists them.`;
}

async function main(words: readonly string[]): Promise<number> {
  const [name, ...rest] = words;
  if (name !== undefined && ["--version", "-v", "version"].includes(name)) {
    print(VERSION);
    return 0;
  }
  if (name === "help" && rest.length > 0) return main([...rest, "--help"]);
  if (name === undefined || isHelpWord(name)) return help(await generalHelp(), name === undefined ? 2 : 0);
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (load === undefined)
    throw new UserError(`no such command: ${quoted(name)}.${suggestion(name, Object.keys(COMMANDS))} ${helpHint()}`, 2);
  const found = await load();
  if (!("actions" in found)) return run(found, name, rest);
  const [word = "", ...more] = rest;
  if (isHelpWord(word)) return help(groupHelp(found));
  const action = found.actions.find((known) => known.name === word);
  if (action === undefined) throw new UserError(`${name}: ${unknownAction(found, word)} ${helpHint(name)}`, 2);
  return run(action, `${name} ${word}`, more);
}

async function run(command: CliCommand, name: string, words: readonly string[]): Promise<number> {
  const { values, positionals } = parse(command, name, words);
  if (values["help"] === true) return help(`Usage: ${PROGRAM} ${name} ${command.usage}\n\n${command.help}`);
  const extra = positionals[command.maxArguments];
  if (extra !== undefined) throw new UserError(`${name}: unexpected argument ${quoted(extra)}. ${helpHint(name)}`, 2);
  return command.run({ name, arguments: positionals, flags: values as Record<string, string | boolean | undefined> });
}

function parse(command: CliCommand, name: string, words: readonly string[]) {
  try {
    return parseArgs({
      args: withValues(command, words),
      options: { ...command.flags, help: { type: "boolean", short: "h" } },
      allowPositionals: true,
      strict: true,
    });
  } catch (error) {
    throw new UserError(`${name}: ${parseError(command, (error as Error).message)} ${helpHint(name)}`, 2);
  }
}

/** A message of `parseArgs` in our words. */
function parseError({ flags }: CliCommand, message: string): string {
  const [, withoutValue] = /^Option '(--[\w-]+)(?: <value>)?' argument (?:missing|is ambiguous)/.exec(message) ?? [];
  if (withoutValue !== undefined) return `${withoutValue} needs a value.`;
  const [first = ""] = message.split(". ");
  const [, unknown] = /^Unknown option '(--[^']+)'/.exec(first) ?? [];
  if (unknown === undefined) return `${first}.`;
  const name = closest(unknown.slice(2), [...Object.keys(flags), "help"]);
  return `${first}.${name === undefined ? "" : ` Did you mean "--${name}"?`}`;
}

/** `--latitude -33.9`: a negative number after a flag that takes a value is its value. */
function withValues({ flags }: CliCommand, words: readonly string[]): string[] {
  const joined: string[] = [];
  for (const word of words) {
    const before = joined.at(-1) ?? "";
    const isItsValue = before.startsWith("--") && flags[before.slice(2)]?.type === "string" && /^-[\d.]/.test(word);
    if (isItsValue) joined[joined.length - 1] = `${before}=${word}`;
    else joined.push(word);
  }
  return joined;
}

const isHelpWord = (word: string): boolean => word === "--help" || word === "-h" || word === "help";
const helpHint = (name = ""): string => `See ${[PROGRAM, name, "--help"].filter((word) => word !== "").join(" ")}`;

function unknownAction({ actions }: CommandGroup, word: string): string {
  const names = actions.map((action) => action.name);
  const choice = `${new Intl.ListFormat("en-GB", { type: "disjunction" }).format(names)}.`;
  if (word === "" || word.startsWith("-")) return `an action is missing. Use ${choice}`;
  return `no such action: ${quoted(word)}.${suggestion(word, names)} Use ${choice}`;
}

function groupHelp({ name, actions }: CommandGroup): string {
  return `Usage: ${PROGRAM} ${name} ACTION [options]

${listed(actions)}

These commands work on the database in DATABASE_URL or, with --url URL, on a running service. --url needs a key with the role manage${readRoleNote(actions)}, given in TANK_MONITOR_KEY or as --key KEY.

"${PROGRAM} ${name} ACTION --help" shows its options.`;
}

/** `, or read for list and show` */
function readRoleNote(actions: readonly CliCommand[]): string {
  const names = actions.filter(({ keyRole }) => keyRole === "read").map(({ name }) => name);
  return names.length === 0 ? "" : `, or read for ${new Intl.ListFormat("en-GB").format(names)}`;
}

function listed(commands: readonly { readonly name: string; readonly summary: string }[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`).join("\n");
}

function help(text: string, exitCode = 0): number {
  printHelp(text);
  return exitCode;
}

/** A closed pipe (`… | head`) is not an error. */
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  printMessage(`tank-monitor: cannot write to stdout: ${error.message}`);
  process.exit(1);
});

/** Messages that cannot be shown do not stop the program. */
process.stderr.on("error", () => {});

/** Runs a command line and returns its exit code. */
export async function runCommandLine(words: readonly string[]): Promise<number> {
  try {
    return await main(words);
  } catch (error) {
    const { message, exitCode } = describeFatalError(error);
    printMessage(`tank-monitor: ${message}`);
    return exitCode;
  }
}
