// Commands that call the HTTP API: on the local database, or with --url on a running service.

import { UserError } from "../domain/errors.ts";
import { hashSecret, isSecretLike, isWellFormedSecret } from "../domain/key.ts";
import type { Store } from "../domain/store.ts";
import { isObject } from "../domain/validate.ts";
import { type CliCall, type CliCommand, configOf, dryRunConfig, type KeyRole, openDatabase, text } from "./command.ts";
import { bodyFrom, type Field, flagHelp, flagsOf, flagUsage, type Option, queryFrom, userErrorFor } from "./fields.ts";
import { LIST_OPTIONS, type List, printList } from "./list.ts";
import { type Column, clean, print, printMessage } from "./output.ts";
import { sendToService } from "./remote.ts";
import {
  type Item,
  itemIn,
  localService,
  pathTo,
  type QueryParameters,
  type Service,
  ServiceError,
  type ServiceRequest,
} from "./service.ts";

type Input = {
  readonly call: CliCall;
  /** The first argument. */
  readonly id: string;
  readonly body: Record<string, unknown>;
  readonly query: QueryParameters;
  /** The database is opened with the first request. */
  readonly service: Service;
  /** The id of the key that is given by its id or, on the database, by its secret. */
  readonly keyId: (given: string) => Promise<string>;
};

type ApiCommand = Pick<CliCommand, "name" | "summary"> & {
  /** The summary by default. */
  readonly help?: string;
  /** An example call, without the program's name. */
  readonly example: string;
  /** The arguments: nouns, each given by id; one that ends in `…` may be repeated. */
  readonly argumentNames?: readonly string[];
  readonly body?: readonly Field[];
  readonly query?: readonly Field[];
  /** Flags that are not sent. */
  readonly options?: readonly Option[];
  /** Flags that must be given. */
  readonly required?: readonly string[];
  /** It may be the first command on a new database. */
  readonly mayCreate?: true;
  /** The minimum role of the key for --url; manage by default. */
  readonly keyRole?: KeyRole;
  readonly execute: (input: Input) => Promise<number>;
};

export const JSON_OPTION: Option = { flag: "json", help: "print JSON" };

function serviceOptions(keyRole: KeyRole): readonly Option[] {
  const roles = keyRole === "read" ? "read or manage" : "manage";
  return [
    { flag: "url", value: "URL", help: "a running service instead of the database" },
    { flag: "key", value: "KEY", help: `key for --url, role ${roles}; better: TANK_MONITOR_KEY` },
  ];
}

export function apiCommand(definition: ApiCommand): CliCommand {
  const {
    name,
    summary,
    example,
    argumentNames = [],
    body = [],
    query = [],
    options = [],
    required = [],
    mayCreate,
  } = definition;
  const { keyRole = "manage" } = definition;
  const help = definition.help ?? `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
  const fields = [...body, ...query];
  const flags = [...fields, ...options];
  const allFlags = [...flags, ...serviceOptions(keyRole)];
  const usage = [...argumentNames.map((noun) => noun.toUpperCase()), flagUsage(flags, required), "[--url URL]"];
  return {
    name,
    summary,
    usage: usage.filter((word) => word !== "").join(" "),
    help: `${help}\n\n${flagHelp(allFlags)}\n\nExample: npx tank-monitor ${example}`,
    maxArguments: argumentNames.some((noun) => noun.endsWith("…")) ? Number.POSITIVE_INFINITY : argumentNames.length,
    flags: flagsOf(allFlags),
    keyRole,
    async run(call) {
      requireArguments(call, argumentNames);
      requireFlags(call, required);
      const [id = ""] = call.arguments;
      const input = { call, id, body: bodyFrom(call, body), query: queryFrom(call, query) };
      await using connection = serviceFor(call, mayCreate === true);
      try {
        return await definition.execute({ ...input, ...connection });
      } catch (error) {
        throw error instanceof ServiceError ? userErrorFor(error, call, fields, keyRole) : error;
      }
    },
  };
}

function serviceFor(call: CliCall, mayCreate: boolean) {
  const config = configOf(call);
  const url = text(call, "url");
  const key = text(call, "key");
  if (url !== undefined) {
    const send = sendToService(url, key ?? config.key);
    return {
      service: async (request: ServiceRequest) => itemIn(await send(request)),
      keyId: async (given: string) => given,
      [Symbol.asyncDispose]: async () => {},
    };
  }
  if (key !== undefined) throw new UserError("--key needs --url, the running service it is for", 2);
  let opened: ReturnType<typeof open> | undefined;
  async function open() {
    const isDryRun = call.flags["dry-run"] === true;
    const store = await (isDryRun ? openDatabase(dryRunConfig(config), "silently") : openDatabase(config, mayCreate));
    return { store, service: await localService(store, config) };
  }
  return {
    async service(request: ServiceRequest): Promise<Item> {
      opened ??= open();
      return (await opened).service(request);
    },
    async keyId(given: string): Promise<string> {
      opened ??= open();
      return keyIdIn((await opened).store, given);
    },
    [Symbol.asyncDispose]: async () => (await opened?.catch(() => undefined))?.store.close(),
  };
}

/** Whoever finds a secret that has leaked does not know the id of its key. */
async function keyIdIn(store: Store, given: string): Promise<string> {
  if (!isSecretLike(given)) return given;
  if (!isWellFormedSecret(given)) {
    throw new UserError('the secret is mistyped or truncated; "npx tank-monitor key list" shows the ids of keys', 2);
  }
  const key = await store.keyByHash(hashSecret(given));
  if (key !== undefined) return key.id;
  throw new UserError('no key of this database has this secret; "npx tank-monitor key list" shows the ids of keys');
}

const LISTED_NOUNS = ["customer", "tank", "device", "key", "alert", "channel", "notification", "user"];

function requireArguments({ name, arguments: given }: CliCall, argumentNames: readonly string[]): void {
  const noun = argumentNames.find((word, i) => given[i] === undefined || (given[i] === "" && LISTED_NOUNS.includes(word)));
  if (noun === undefined) return;
  const hint = LISTED_NOUNS.includes(noun)
    ? `${noun === "user" ? "an address or id" : "an id"} from "npx tank-monitor ${noun} list"`
    : `see npx tank-monitor ${name} --help`;
  throw new UserError(`${name}: ${noun.toUpperCase()} is missing: ${hint}`, 2);
}

function requireFlags(call: CliCall, required: readonly string[]): void {
  const missing = required.filter((flag) => text(call, flag) === undefined).map((flag) => `--${flag}`);
  if (missing.length === 0) return;
  const list = new Intl.ListFormat("en-GB").format(missing);
  const is = missing.length === 1 ? "is" : "are";
  throw new UserError(`${call.name}: ${list} ${is} missing. See npx tank-monitor ${call.name} --help`, 2);
}

/** Prints the object with --json, otherwise the message. */
export function report(call: CliCall, object: Item, message: string): number {
  if (call.flags["json"] === true) print(JSON.stringify(object));
  else printMessage(clean(message));
  return 0;
}

/** Alone on stdout. The response to a retried creation has no secret: it was in the response that got lost. */
export function printSecret(noun: string, { id, secret }: Item, remedy: string): void {
  if (typeof secret === "string") print(clean(secret));
  else throw new UserError(clean(`${noun} ${id} was created, but its secret was lost in transit. ${remedy}`));
}

type ResourceCommand = Omit<ApiCommand, "name" | "summary" | "execute" | "argumentNames"> & {
  readonly noun: string;
  readonly summary?: string;
  /** More to say about the result; `before` is the object before the change. */
  readonly outcome?: (object: Item, service: Service, before: Item) => string | Promise<string>;
};

const none = (): string => "";

/** Prints the id of the new object, alone, for use in scripts. */
export function createCommand({ noun, outcome = none, ...rest }: ResourceCommand): CliCommand {
  return apiCommand({
    name: "create",
    summary: `create a ${noun} and print its id`,
    options: [{ ...JSON_OPTION, help: "print the object as JSON" }],
    mayCreate: true,
    ...rest,
    async execute({ call, body, service }) {
      const created = await service({ method: "POST", path: pathTo(`${noun}s`), body, sendsIdempotencyKey: true });
      if (call.flags["json"] !== true) print(clean(String(created["id"])));
      const more = await outcome(created, service, {});
      return report(call, created, `${noun} ${created["id"]} (${created["name"]}) created${more}`);
    },
  });
}

type UpdateCommand = ResourceCommand & {
  /** What the message calls the object, beside its id; its name by default. */
  readonly nameOf?: (object: Item) => string;
  /** The id of the object that the argument names; the argument itself by default. */
  readonly resolveId?: (service: Service, given: string) => Promise<string>;
};

export function updateCommand({ noun, outcome = none, nameOf, resolveId, ...rest }: UpdateCommand): CliCommand {
  return apiCommand({
    name: "update",
    summary: `change a ${noun}`,
    options: [JSON_OPTION],
    ...rest,
    argumentNames: [noun],
    async execute({ call, id: given, body, query, service }) {
      if (Object.keys(body).length === 0)
        throw new UserError(`${call.name}: nothing to change. Give a flag, as in npx tank-monitor ${rest.example}`, 2);
      const id = resolveId === undefined ? given : await resolveId(service, given);
      const path = pathTo(`${noun}s`, id);
      const before = await service({ method: "GET", path });
      const after = await service({ method: "PATCH", path, query, body });
      const what = `${noun} ${id} (${nameOf?.(after) ?? after["name"]})`;
      const changes = changedFields(before, after);
      const result = changes.length === 0 ? "unchanged" : `updated: ${changes.join(", ")}`;
      return report(call, after, `${what} ${result}${await outcome(after, service, before)}`);
    },
  });
}

/** `capacity 2700 → 2.7`, as `provision` shows changes. */
function changedFields(before: Item, after: Item, prefix = ""): string[] {
  return Object.keys(before).flatMap((field) => {
    const [from, to] = [before[field], after[field]];
    if (field === "updated_at" || !(field in after) || JSON.stringify(from) === JSON.stringify(to)) return [];
    if (SHOWN_BY_FIELD.includes(field) && isObject(from) && isObject(to)) return changedFields(from, to, `${prefix}${field}.`);
    return [`${prefix}${field} ${JSON.stringify(from)} → ${JSON.stringify(to)}`];
  });
}

type StateChange = ResourceCommand & { readonly name: "delete" | "restore"; readonly summary: string };

export function stateCommand({ noun, outcome = none, ...rest }: StateChange): CliCommand {
  return apiCommand({
    options: [JSON_OPTION],
    ...rest,
    argumentNames: [noun],
    async execute({ call, id, query, body, service }) {
      const path = pathTo(`${noun}s`, id);
      const before = await service({ method: "GET", path });
      const restoration = { method: "POST", path: `${path}/restore`, query, body: rest.body && body } as const;
      const after = await service(rest.name === "delete" ? { method: "DELETE", path, query } : restoration);
      const isSame = before["deleted"] === after["deleted"];
      if (isSame) return report(call, after, `${noun} ${id} is ${rest.name === "delete" ? "already" : "not"} deleted`);
      return report(call, after, `${noun} ${id} (${after["name"]}) ${rest.name}d${await outcome(after, service, before)}`);
    },
  });
}

/** `group`: of the API. */
type ShowCommand = ResourceCommand & { readonly group?: "manage" | "insight" };

export function showCommand({ noun, group = "manage", ...rest }: ShowCommand): CliCommand {
  return apiCommand({
    name: "show",
    summary: `show all fields of a ${noun}`,
    options: [JSON_OPTION],
    keyRole: group === "insight" ? "read" : "manage",
    ...rest,
    argumentNames: [noun],
    async execute({ call, id, service }) {
      const object = await service({ method: "GET", path: `/${group}/v1/${noun}s/${encodeURIComponent(id)}` });
      if (call.flags["json"] === true) return report(call, object, "");
      printFields(object);
      return 0;
    },
  });
}

/** One line for each field. */
export function printFields(object: Item): void {
  const lines = linesOf(object, "");
  const width = Math.max(...lines.map(([name]) => name.length));
  print(lines.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join("\n"));
}

/** Objects that are shown field by field. */
const SHOWN_BY_FIELD = ["location", "alerts", "notifications"];

function linesOf(object: Item, prefix: string): [name: string, value: string][] {
  return Object.entries(object).flatMap(([name, value]) => {
    if (SHOWN_BY_FIELD.includes(name) && isObject(value)) return linesOf(value, `${name}.`);
    const isEmpty = value === null || value === "";
    return [[`${prefix}${name}`, isEmpty ? "-" : clean(typeof value === "string" ? value : JSON.stringify(value))]];
  });
}

const CSV_OPTION: Option = { flag: "csv", help: "print CSV, for a spreadsheet or a route planner" };

export function listCommand(definition: Omit<ApiCommand, "execute" | "argumentNames" | "options"> & List): CliCommand {
  return apiCommand({
    ...definition,
    keyRole: definition.path.startsWith("/insight/") ? "read" : "manage",
    options: definition.csv === undefined ? LIST_OPTIONS : [...LIST_OPTIONS, CSV_OPTION],
    execute: ({ call, query, service }) => printList(service, call, { ...definition.filter, ...query }, definition),
  });
}

export const objectOrEmpty = (value: unknown): Item => (isObject(value) ? value : {});

export const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null);

/** A text field of an object. */
export const textColumn = (title: string, field: string, maxWidth = Number.POSITIVE_INFINITY): Column<Item> => ({
  title,
  cell: (item) => textOrNull(item[field]),
  maxWidth,
});
