// tank-monitor channel create|list|show|update|delete|test|rotate|recover

import { setTimeout as sleep } from "node:timers/promises";
import { UserError } from "../domain/errors.ts";
import { quoted } from "../domain/text.ts";
import {
  apiCommand,
  JSON_OPTION,
  listCommand,
  printSecret,
  report,
  showCommand,
  textColumn,
  textOrNull,
  updateCommand,
} from "./api-command.ts";
import { type CommandGroup, parseDurationFlag } from "./command.ts";
import { DEFAULT_OVERLAP, type Field, overlapField, RECOVERED_SINCE } from "./fields.ts";
import { clean, counted, print, printMessage } from "./output.ts";
import { type Item, pathTo, type Service } from "./service.ts";

/** Comma-separated; an empty value means all. */
const parseList = (given: string): string[] | null => (given === "" ? null : given.split(",").map((name) => name.trim()));

const QUIET_HOURS = /^((?:[01]\d|2[0-3]):[0-5]\d)-((?:[01]\d|2[0-3]):[0-5]\d)$/;

function parseQuietHours(given: string, flag: string): object | null {
  if (given === "") return null;
  const [, from, to] = QUIET_HOURS.exec(given) ?? [];
  if (from !== undefined && to !== undefined) return { from, to };
  throw new UserError(`--${flag} must be two times of day such as 21:00-07:00, not ${quoted(given)}`, 2);
}

const SETTINGS: readonly Field[] = [
  { flag: "webhook", path: "url", value: "URL", help: "where webhooks are sent, with https" },
  { flag: "email", path: "to", value: "ADDRESS", help: "where mail is sent" },
  {
    flag: "event",
    path: "events",
    value: "EVENTS",
    help: "only these events, separated by commas: alert.opened, alert.acknowledged, alert.closed, tank.refilled",
    parse: parseList,
  },
  {
    flag: "kind",
    path: "kinds",
    value: "KINDS",
    help: "only alerts of these kinds, and no refills, separated by commas: low, runs_low_soon, leak, silent",
    parse: parseList,
  },
  { flag: "customer", path: "customer_id", value: "ID", help: "only about this customer's tanks", clearable: true },
  {
    flag: "delay",
    path: "delay",
    value: "DURATION",
    help: "wait this long, such as 4h, up to 15d; send alerts only if they are still open and unacknowledged then",
    clearable: true,
  },
  {
    flag: "quiet-hours",
    path: "quiet_hours",
    value: "FROM-TO",
    help: "hold mail during these hours, such as 21:00-07:00",
    parse: parseQuietHours,
  },
  { flag: "timezone", path: "quiet_hours.timezone", value: "NAME", help: "time zone of the quiet hours, such as Europe/Berlin" },
  { flag: "description", path: "description", value: "TEXT", help: "what it is for", clearable: true },
];

const create = apiCommand({
  name: "create",
  summary: "create a webhook or an e-mail channel",
  help: `Create a channel, which is notified of every alert and refill. For a webhook, only its secret is printed on stdout; it is shown
only once. For an e-mail channel, its id is printed.`,
  example: "channel create --webhook https://hooks.example.com/tanks",
  body: SETTINGS,
  options: [{ ...JSON_OPTION, help: "print the object as JSON, with the secret" }],
  mayCreate: true,
  async execute({ call, body, service }) {
    const { url, to } = body;
    if ((url === undefined) === (to === undefined)) {
      throw new UserError("channel create: give either --webhook URL or --email ADDRESS", 2);
    }
    const type = url === undefined ? "email" : "webhook";
    const channel = await service({
      method: "POST",
      path: pathTo("channels"),
      body: { type, ...body },
      sendsIdempotencyKey: true,
    });
    if (call.flags["json"] === true) return report(call, channel, "");
    if (type === "webhook") return reportSecret(channel, "created");
    print(clean(String(channel["id"])));
    printMessage(
      clean(`channel ${channel["id"]} (${nameOf(channel)}) created. Test it: npx tank-monitor channel test ${channel["id"]}`),
    );
    printProblem(channel);
    return 0;
  },
});

const nameOf = ({ type, url, to }: Item): string => `${type} ${url ?? to}`;

function printProblem({ problem }: Item): void {
  if (typeof problem === "string") printMessage(clean(problem));
}

function reportSecret(channel: Item, done: string): number {
  const { id } = channel;
  printSecret("channel", channel, `Get another: npx tank-monitor channel rotate ${id}`);
  printMessage(
    clean(`channel ${id} (${nameOf(channel)}) ${done}. This secret is shown only once: the receiver verifies webhooks with it,`),
  );
  printMessage("with any library for Standard Webhooks, see docs/webhooks.md.");
  printMessage(clean(`Test it: npx tank-monitor channel test ${id}`));
  printProblem(channel);
  return 0;
}

const update = updateCommand({
  noun: "channel",
  summary: "change a channel, or enable it again",
  help: "Change a channel. Settings without a flag do not change; an empty value clears a setting. The type cannot be changed.",
  example: "channel update chn_… --delay 4h",
  body: [
    ...SETTINGS,
    { flag: "state", path: "state", value: "STATE", help: "active or disabled; nothing is sent to a disabled channel" },
  ],
  nameOf,
  outcome: ({ state }) => `; it is ${state}`,
});

const remove = apiCommand({
  name: "delete",
  summary: "delete a channel permanently; pending notifications are not sent",
  example: "channel delete chn_…",
  argumentNames: ["channel"],
  async execute({ id, service }) {
    await service({ method: "DELETE", path: pathTo("channels", id) });
    printMessage(clean(`channel ${id} deleted`));
    return 0;
  },
});

const TEST_WAIT_MS = 20_000;
/** Where nothing is likely to be sent at all: by the channel's settings, or because notifications are late. */
const PROBLEM_WAIT_MS = 5000;
const POLL_MS = 250;

const test = apiCommand({
  name: "test",
  summary: "send a test notification and print the result",
  help: "Have the running service send a test notification, and wait up to 20 seconds for the result; 5 if nothing can be sent to the channel.",
  example: "channel test chn_…",
  argumentNames: ["channel"],
  async execute({ id, service }) {
    const { problem, failing_since } = await service({ method: "GET", path: pathTo("channels", id) });
    const created = await service({ method: "POST", path: pathTo("channels", id, "test"), sendsIdempotencyKey: true });
    const notification = String(created["id"]);
    const waitMs = typeof problem === "string" && failing_since === null ? PROBLEM_WAIT_MS : TEST_WAIT_MS;
    const { state, attempts, next_attempt_at: next } = await firstAttempt(service, notification, waitMs);
    const [attempt] = (Array.isArray(attempts) ? attempts : []) as Item[];
    if (state === "delivered") {
      printMessage(clean(`notification ${notification} delivered in ${attempt?.["duration_ms"]} ms`));
      return 0;
    }
    const again = typeof next === "string" ? ` Next attempt: ${next}.` : "";
    const failed = `: ${attempt?.["error"]}.${again}`;
    const notSent = `. ${problem ?? "It has not been sent yet. Is the service running?"}`;
    printMessage(clean(`notification ${notification} was not delivered${attempt === undefined ? notSent : failed}`));
    printMessage(`To see its state: npx tank-monitor notification show ${clean(notification)}`);
    return 1;
  },
});

async function firstAttempt(service: Service, id: string, waitMs: number): Promise<Item> {
  const until = Date.now() + waitMs;
  for (;;) {
    const notification = await service({ method: "GET", path: pathTo("notifications", id) });
    const { state, attempts } = notification;
    if (state !== "pending" || (Array.isArray(attempts) && attempts.length > 0) || Date.now() > until) return notification;
    await sleep(POLL_MS);
  }
}

const rotate = apiCommand({
  name: "rotate",
  summary: "replace the secret of a webhook and print the new one",
  help: `Replace the secret of a webhook and print the new one. Webhooks are also signed with the old one for --overlap (${DEFAULT_OVERLAP}).`,
  example: "channel rotate chn_… --overlap 7d",
  argumentNames: ["channel"],
  query: [overlapField("how long webhooks are also signed with the old secret")],
  async execute({ id, query, service }) {
    const overlap = query["overlap"] ?? DEFAULT_OVERLAP;
    const path = pathTo("channels", id, "rotate");
    const channel = await service({ method: "POST", path, query: { overlap }, notIdempotent: true });
    reportSecret(channel, "has a new secret");
    const isUsed = parseDurationFlag(overlap, "overlap") > 0;
    printMessage(
      isUsed
        ? `Webhooks are also signed with the old secret for another ${clean(overlap)}.`
        : "The old secret is no longer used.",
    );
    return 0;
  },
});

const recover = apiCommand({
  name: "recover",
  summary: "send failed and expired notifications again",
  example: "channel recover chn_… --since 24h",
  argumentNames: ["channel"],
  body: [RECOVERED_SINCE],
  required: ["since"],
  async execute({ id, body, service }) {
    const { recovered } = await service({ method: "POST", path: pathTo("channels", id, "recover"), body });
    printMessage(clean(`${counted(Number(recovered), "notification")} of channel ${id} will be sent again`));
    return 0;
  },
});

const list = listCommand({
  name: "list",
  summary: "list channels, newest first, without their secrets",
  example: "channel list",
  path: pathTo("channels"),
  empty: "No channels yet. Create one: npx tank-monitor channel create --webhook URL, or --email ADDRESS",
  columns: [
    textColumn("ID", "id"),
    textColumn("TYPE", "type"),
    textColumn("STATE", "state"),
    { title: "TO", cell: ({ url, to }) => textOrNull(url ?? to), maxWidth: 60 },
    { title: "EVENTS", cell: ({ events }) => listText(events), maxWidth: 40 },
    { title: "KINDS", cell: ({ kinds }) => listText(kinds) },
    { title: "CUSTOMER", cell: ({ customer_id }) => textOrNull(customer_id) ?? "all" },
    { title: "DELAY", cell: ({ delay }) => textOrNull(delay), alignRight: true },
    textColumn("DESCRIPTION", "description", 40),
    { title: "PROBLEM", cell: ({ disabled_reason, problem }) => textOrNull(disabled_reason ?? problem), maxWidth: 100 },
  ],
});

const listText = (names: unknown): string => (Array.isArray(names) ? names.join(",") : "all");

const show = showCommand({ noun: "channel", example: "channel show chn_…" });

export const channel: CommandGroup = {
  name: "channel",
  summary: "webhooks and e-mail addresses that are notified of alerts",
  actions: [create, list, show, update, remove, test, rotate, recover],
};
