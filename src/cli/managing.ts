// Commands that keep the fleet. Each is planned from what was typed, before anything is opened; then the plan is carried out
// on the database itself, or with --url on a running service.

import type { ParseArgsOptionsConfig } from "node:util";
import { UserError } from "../domain/errors.ts";
import { type Call, type Command, text } from "./command.ts";
import { type Field, flagsOf, helpOf } from "./fields.ts";
import { complaintOf, Problem } from "./problem.ts";
import type { Service } from "./request.ts";
import { SERVICE_FLAGS, withService } from "./service.ts";

type Told = Pick<Field, "flag" | "value" | "words">;
type Plan = (service: Service) => Promise<number>;

export type Managing = Pick<Command, "name" | "summary" | "usage" | "help" | "most"> & {
  /** A line to copy; without the program's name. */
  readonly example: string;
  /** Flags that are fields or parameters of the interface. */
  readonly fields?: readonly Field[];
  /** What the help says of flags that are none. */
  readonly more?: readonly Told[];
  /** Flags that must be given. */
  readonly needs?: readonly string[];
  readonly flags?: ParseArgsOptionsConfig;
  /** It may be the first thing that is done with a database. */
  readonly isFirst?: true;
  readonly plan: (call: Call) => Plan;
};

/** Where the commands of a group work. */
export const WHERE = `They work on the database (DATABASE_URL), or with --url URL on a running service, with a key of the role manage from
the environment (TANK_MONITOR_KEY) or --key KEY.`;

export function managing(definition: Managing): Command {
  const { name, summary, usage, most, fields = [], needs = [], flags = {}, isFirst = false, plan } = definition;
  return {
    name,
    summary,
    usage: `${usage} [--url URL]`.trimStart(),
    help: helpFor(definition),
    most,
    flags: { ...flagsOf(fields), ...flags, ...SERVICE_FLAGS },
    async run(call) {
      refuseMissing(call, needs);
      const planned = plan(call);
      try {
        return await withService(call, planned, isFirst);
      } catch (error) {
        throw error instanceof Problem ? complaintOf(error, call, fields) : error;
      }
    },
  };
}

const REMOTE = [
  { flag: "url", value: "URL", words: "a running service, instead of the database" },
  { flag: "key", value: "KEY", words: "its key, of the role manage; better in TANK_MONITOR_KEY, where nobody sees it" },
];

function helpFor({ help, example, fields = [], more = [] }: Managing): string {
  return `${help}\n\n${helpOf([...fields, ...more, ...REMOTE])}\n\nExample: npx tank-monitor ${example}`;
}

function refuseMissing(call: Call, needs: readonly string[]): void {
  const missing = needs.filter((flag) => text(call, flag) === undefined).map((flag) => `--${flag}`);
  if (missing.length === 0) return;
  const list = [missing.slice(0, -1).join(", "), ...missing.slice(-1)].filter((part) => part !== "").join(" and ");
  const is = missing.length === 1 ? "is" : "are";
  throw new UserError(`${call.name}: ${list} ${is} missing. See npx tank-monitor ${call.name} --help`, 2);
}

/** The word that says which object it is about. */
export function idIn({ name, arguments: words }: Call, noun: string, place = 0): string {
  const id = words[place] ?? "";
  if (id !== "") return id;
  throw new UserError(`${name}: say which ${noun}: its id, as "npx tank-monitor ${noun} list" shows it`, 2);
}
