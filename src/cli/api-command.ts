// Commands that call the HTTP API: on the local database, or with --url on a running service.

import { once } from "node:events";
import { UserError } from "../domain/errors.ts";
import { quoted } from "../domain/text.ts";
import { isObject } from "../domain/validate.ts";
import { type CliCall, type CliCommand, configOf, dryRunConfig, type KeyRole, openDatabase, text } from "./command.ts";
import { bodyFrom, type Field, flagHelp, flagsOf, flagUsage, type Option, queryFrom, userErrorFor } from "./fields.ts";
import { type Column, CsvTable, clean, print, printMessage, Table } from "./output.ts";
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
};

type ApiCommand = Pick<CliCommand, "name" | "summary"> & {
  /** The summary by default. */
  readonly help?: string;
  /** An example call, without the program's name. */
  readonly example: string;
  /** The arguments: nouns, each given by id; one that ends in `…` may be repeated. */
  readonly takes?: readonly string[];
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
  const { name, summary, example, takes = [], body = [], query = [], options = [], required = [], mayCreate } = definition;
  const { keyRole = "manage" } = definition;
  const help = definition.help ?? `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
  const fields = [...body, ...query];
  const flags = [...fields, ...options];
  const allFlags = [...flags, ...serviceOptions(keyRole)];
  const usage = [...takes.map((noun) => noun.toUpperCase()), flagUsage(flags, required), "[--url URL]"];
  return {
    name,
    summary,
    usage: usage.filter((word) => word !== "").join(" "),
    help: `${help}\n\n${flagHelp(allFlags)}\n\nExample: npx tank-monitor ${example}`,
    maxArguments: takes.some((noun) => noun.endsWith("…")) ? Number.POSITIVE_INFINITY : takes.length,
    flags: flagsOf(allFlags),
    keyRole,
    async run(call) {
      requireArguments(call, takes);
      requireFlags(call, required);
      const [id = ""] = call.arguments;
      const input = { call, id, body: bodyFrom(call, body), query: queryFrom(call, query) };
      await using connection = serviceFor(call, mayCreate === true);
      try {
        return await definition.execute({ ...input, service: connection.service });
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
    return { service: async (request: ServiceRequest) => itemIn(await send(request)), [Symbol.asyncDispose]: async () => {} };
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
    [Symbol.asyncDispose]: async () => (await opened?.catch(() => undefined))?.store.close(),
  };
}

const LISTED_NOUNS = ["customer", "tank", "device", "key", "alert", "channel", "notification", "user"];

function requireArguments({ name, arguments: given }: CliCall, takes: readonly string[]): void {
  const noun = takes.find((word, i) => given[i] === undefined || (given[i] === "" && LISTED_NOUNS.includes(word)));
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

type ResourceCommand = Omit<ApiCommand, "name" | "summary" | "execute" | "takes"> & {
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
    takes: [noun],
    async execute({ call, id: given, body, query, service }) {
      if (Object.keys(body).length === 0)
        throw new UserError(`${call.name}: nothing to change. Give a flag, as in npx tank-monitor ${rest.example}`, 2);
      const id = resolveId === undefined ? given : await resolveId(service, given);
      const path = pathTo(`${noun}s`, id);
      const before = await service({ method: "GET", path });
      const after = await service({ method: "PATCH", path, query, body });
      const shared = Object.keys(before).filter((field) => field in after);
      const isSame = shared.every((field) => JSON.stringify(before[field]) === JSON.stringify(after[field]));
      const what = `${noun} ${id} (${nameOf?.(after) ?? after["name"]})`;
      return report(call, after, `${what} ${isSame ? "unchanged" : "updated"}${await outcome(after, service, before)}`);
    },
  });
}

type StateChange = ResourceCommand & { readonly name: "delete" | "restore"; readonly summary: string };

export function stateCommand({ noun, outcome = none, ...rest }: StateChange): CliCommand {
  return apiCommand({
    options: [JSON_OPTION],
    ...rest,
    takes: [noun],
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
    takes: [noun],
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

export type List = {
  readonly path: string;
  readonly columns: readonly Column<Item>[];
  readonly filter?: QueryParameters;
  /** Said where nothing is found. A function may find the reason, and throw it. */
  readonly empty: string | ((query: QueryParameters, service: Service) => Promise<string>);
  /** An upper bound of this field keeps the pages stable while objects are created. */
  readonly newestFirstBy?: "created_at" | "opened_at";
  /** What --json prints of an item; all of it by default. */
  readonly json?: (item: Item) => Item;
  /** What --csv prints of an item, by the name of the column. */
  readonly csv?: (item: Item) => Readonly<Record<string, unknown>>;
};

const PAGE_SIZE = 100;
export const LIST_OPTIONS: readonly Option[] = [
  { flag: "limit", value: "N", help: "print at most N" },
  { flag: "json", help: "print one JSON object per line" },
];

const CSV_OPTION: Option = { flag: "csv", help: "print CSV, for a spreadsheet or a route planner" };

export function listCommand(definition: Omit<ApiCommand, "execute" | "takes" | "options"> & List): CliCommand {
  return apiCommand({
    ...definition,
    keyRole: definition.path.startsWith("/insight/") ? "read" : "manage",
    options: definition.csv === undefined ? LIST_OPTIONS : [...LIST_OPTIONS, CSV_OPTION],
    execute: ({ call, query, service }) => printList(service, call, { ...definition.filter, ...query }, definition),
  });
}

/** Prints a list page by page, as it comes. */
export async function printList(service: Service, call: CliCall, query: QueryParameters, list: List): Promise<number> {
  const limit = limitOf(call);
  const isJson = call.flags["json"] === true;
  const isCsv = call.flags["csv"] === true;
  if (isJson && isCsv) throw new UserError(`${call.name}: --json and --csv contradict each other`, 2);
  const table = new Table(list.columns);
  const csv = new CsvTable(list.csv ?? ((item) => item));
  const { json = (item) => item } = list;
  let count = 0;
  for await (const page of pages(service, query, list)) {
    const items = page.slice(0, limit - count);
    count += items.length;
    const lines = isJson ? items.map((item) => JSON.stringify(json(item))) : isCsv ? csv.lines(items) : table.lines(items);
    if (lines.length > 0 && !process.stdout.write(`${lines.join("\n")}\n`)) await once(process.stdout, "drain");
    if (count >= limit) return 0;
  }
  if (count > 0) return 0;
  const message = typeof list.empty === "string" ? list.empty : await list.empty(query, service);
  if (!isJson && !isCsv) printMessage(message);
  return 0;
}

function limitOf(call: CliCall): number {
  const given = text(call, "limit");
  if (given === undefined) return Number.POSITIVE_INFINITY;
  if (/^[1-9]\d{0,8}$/.test(given)) return Number(given);
  throw new UserError(`--limit must be a whole number from 1, not ${quoted(given)}`, 2);
}

type ListPath = Pick<List, "path" | "newestFirstBy">;
const MAX_PASSES = 5;

/**
 * Every item once. One that moves in the list while it is read, or is behind one that leaves it, may be missed: the list is read
 * again until nothing is missing.
 */
export async function* pages(service: Service, query: QueryParameters, list: ListPath): AsyncGenerator<readonly Item[]> {
  const seen = new Set<unknown>();
  for (let pass = 1; pass <= MAX_PASSES; pass++) {
    const before = seen.size;
    let total = 0;
    for await (const { data, totalItems } of pagesOnce(service, query, list)) {
      const items = data.filter((item) => !seen.has(identityOf(item)));
      for (const item of items) seen.add(identityOf(item));
      if (items.length > 0) yield items;
      total = totalItems;
    }
    if (seen.size >= total || seen.size === before) return;
  }
  throw new UserError("the list changes faster than it can be read: some of it is missing. Try again.");
}

/** Audit entries have numbers, entries of the fleet their tanks. */
const identityOf = ({ number, id, tank }: Item): unknown => number ?? id ?? (isObject(tank) ? tank["id"] : undefined);

async function* pagesOnce(
  service: Service,
  query: QueryParameters,
  { path, newestFirstBy }: ListPath,
): AsyncGenerator<{ readonly data: readonly Item[]; readonly totalItems: number }> {
  let upperBound: QueryParameters = {};
  for (let page = 1; ; page++) {
    const request = { ...query, ...upperBound, page: String(page), size: String(PAGE_SIZE) };
    const { data, total_pages, total_items } = await service({ method: "GET", path, query: request });
    if (!Array.isArray(data) || !data.every(isObject))
      throw new UserError("the response is not a list of Tank Monitor objects. Is --url right?");
    yield { data, totalItems: Number(total_items) };
    if (data.length < PAGE_SIZE || page >= Number(total_pages)) return;
    const newest = newestFirstBy && data[0]?.[newestFirstBy];
    if (page === 1 && typeof newest === "string") upperBound = { [`${newestFirstBy}_lte`]: newest };
  }
}

export const fieldsOf = (value: unknown): Item => (isObject(value) ? value : {});

export const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null);
