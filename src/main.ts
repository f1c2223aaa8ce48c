// argv → command. Everything a person can type starts here.

import { parseArgs } from "node:util";
import { backup } from "./cli/backup.ts";
import { check } from "./cli/check.ts";
import { type Command, print, say } from "./cli/command.ts";
import { demo } from "./cli/demo.ts";
import { exportCommand } from "./cli/export.ts";
import { importCommand } from "./cli/import.ts";
import { key } from "./cli/key.ts";
import { openapi } from "./cli/openapi.ts";
import { serve } from "./cli/serve.ts";
import { Complaint, lastWords } from "./domain/errors.ts";
import { guess, quoted } from "./domain/text.ts";
import { VERSION } from "./version.ts";

const COMMANDS: readonly Command[] = [serve, demo, importCommand, exportCommand, key, backup, check, openapi];

const GENERAL_HELP = `tank-monitor ${VERSION}: how full is every tank, and which one needs a truck next?

Usage: npx tank-monitor COMMAND [options]

${COMMANDS.map(({ name, summary }) => `  ${name.padEnd(10)}${summary}`).join("\n")}

"npx tank-monitor COMMAND --help" tells more. Settings come from flags, the environment and .env:
docs/configuration.md lists them.`;

async function main(words: readonly string[]): Promise<number> {
  const [name, ...rest] = words;
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    print(GENERAL_HELP);
    return name === undefined ? 2 : 0;
  }
  if (name === "--version") {
    print(VERSION);
    return 0;
  }
  const command = COMMANDS.find((known) => known.name === name);
  if (command === undefined) {
    const names = COMMANDS.map((known) => known.name);
    throw new Complaint(`there is no command ${quoted(name)}.${guess(name, names)} See npx tank-monitor --help`, 2);
  }
  const { values, positionals } = parse(command, rest);
  if (values["help"] === true) {
    print(`Usage: npx tank-monitor ${command.name} ${command.usage}\n\n${command.help}`);
    return 0;
  }
  const tooMuch = positionals[command.most];
  if (tooMuch !== undefined) {
    throw new Complaint(
      `${command.name}: ${quoted(tooMuch)} is one word too many. See npx tank-monitor ${command.name} --help`,
      2,
    );
  }
  return command.run({ arguments: positionals, flags: values as Record<string, string | boolean | undefined> });
}

function parse(command: Command, words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      options: { ...command.flags, help: { type: "boolean", short: "h" } },
      allowPositionals: true,
      strict: true,
    });
  } catch (error) {
    throw new Complaint(
      `${command.name}: ${(error as Error).message.split(". ")[0]}. See npx tank-monitor ${command.name} --help`,
      2,
    );
  }
}

/** A reader that went away (`… | head`) is no failure of ours. */
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  say(`tank-monitor: stdout cannot be written: ${error.message}`);
  process.exit(1);
});

/** Words that nobody can read are no reason to stop. */
process.stderr.on("error", () => {});

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const { words, exitCode } = lastWords(error);
  say(`tank-monitor: ${words}`);
  process.exitCode = exitCode;
}
