// tank-monitor notification list|show|retry|recover

import { apiCommand, JSON_OPTION, listCommand, printFields, report, textColumn, textOrNull } from "./api-command.ts";
import type { CommandGroup } from "./command.ts";
import { CREATED_BETWEEN, RECOVERED_SINCE } from "./fields.ts";
import { clean, counted, print, printMessage, Table } from "./output.ts";
import { type Item, pathTo } from "./service.ts";

const list = listCommand({
  name: "list",
  summary: "list notifications, newest first",
  example: "notification list --state failed --since 7d",
  path: pathTo("notifications"),
  newestFirstBy: "created_at",
  empty: "No notifications found.",
  query: [
    { flag: "channel", path: "channel_id", value: "ID", help: "to this channel" },
    { flag: "customer", path: "customer_id", value: "ID", help: "mail to this customer" },
    { flag: "alert", path: "alert_id", value: "ID", help: "about this alert" },
    { flag: "state", path: "state", value: "STATE", help: "pending, delivered, failed or expired" },
    ...CREATED_BETWEEN,
  ],
  columns: [
    textColumn("CREATED", "created_at"),
    textColumn("ID", "id"),
    textColumn("EVENT", "event"),
    { title: "TO", cell: ({ channel_id, customer_id }) => textOrNull(channel_id ?? customer_id) },
    textColumn("STATE", "state"),
    { title: "ATTEMPTS", cell: (item) => attemptsOf(item).length, alignRight: true },
    textColumn("NEXT", "next_attempt_at"),
    { title: "LAST ERROR", cell: (item) => textOrNull(attemptsOf(item).at(-1)?.["error"]), maxWidth: 80 },
  ],
});

const attemptsOf = ({ attempts }: Item): readonly Item[] => (Array.isArray(attempts) ? attempts : []);

const ATTEMPTS = [
  textColumn("SENT", "at"),
  { title: "STATUS", cell: ({ status }: Item) => (typeof status === "number" ? status : null), alignRight: true as const },
  { title: "MS", cell: ({ duration_ms }: Item) => Number(duration_ms), alignRight: true as const },
  { title: "ERROR", cell: ({ error }: Item) => textOrNull(error) ?? "none" },
];

const show = apiCommand({
  name: "show",
  summary: "show a notification and the attempts to send it",
  example: "notification show msg_…",
  argumentNames: ["notification"],
  options: [JSON_OPTION],
  async execute({ call, id, service }) {
    const notification = await service({ method: "GET", path: pathTo("notifications", id) });
    if (call.flags["json"] === true) return report(call, notification, "");
    const { attempts: _, ...fields } = notification;
    printFields(fields);
    const attempts = attemptsOf(notification);
    if (attempts.length > 0) print(["", ...new Table(ATTEMPTS).lines(attempts)].join("\n"));
    return 0;
  },
});

const retry = apiCommand({
  name: "retry",
  summary: "send a notification again",
  help: "Send a notification again, with the same id. A pending one is sent at once.",
  example: "notification retry msg_…",
  argumentNames: ["notification"],
  options: [JSON_OPTION],
  async execute({ call, id, service }) {
    const notification = await service({ method: "POST", path: pathTo("notifications", id, "retry") });
    return report(call, notification, clean(`notification ${id} will be sent again`));
  },
});

const recover = apiCommand({
  name: "recover",
  summary: "send failed and expired mail to customers again",
  help: "Send mail about alerts to customers again that failed or expired. For a channel: channel recover.",
  example: "notification recover --since 24h",
  body: [RECOVERED_SINCE, { flag: "customer", path: "customer_id", value: "ID", help: "only mail to this customer" }],
  required: ["since"],
  async execute({ body, service }) {
    const { recovered } = await service({ method: "POST", path: pathTo("notifications", "recover"), body });
    printMessage(`${counted(Number(recovered), "notification")} to customers will be sent again`);
    return 0;
  },
});

export const notification: CommandGroup = {
  name: "notification",
  summary: "list, show, retry and recover messages to channels and customers",
  actions: [list, show, retry, recover],
};
