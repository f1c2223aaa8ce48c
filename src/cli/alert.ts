// tank-monitor alert list|show|acknowledge|update|close

import { UserError } from "../domain/errors.ts";
import { apiCommand, JSON_OPTION, listCommand, report, showCommand, textColumn } from "./api-command.ts";
import type { CliCommand, CommandGroup } from "./command.ts";
import { type Field, OPENED_BETWEEN } from "./fields.ts";
import { percent } from "./output.ts";
import { pathTo } from "./service.ts";

const ALERTS = "/insight/v1/alerts";

const list = listCommand({
  name: "list",
  summary: "list alerts, newest first",
  help: `List alerts, newest first, closed ones too. FILL is the current fill of the tank, or that at the time the alert was closed.`,
  example: "alert list --state open",
  query: [
    { flag: "state", path: "state", value: "STATE", help: "open, acknowledged or closed" },
    { flag: "kind", path: "kind", value: "KIND", help: "low, runs_low_soon, leak or silent" },
    { flag: "tank", path: "tank_id", value: "ID", help: "of this tank" },
    { flag: "owner", path: "owner_id", value: "ID", help: "of the tanks of this customer" },
    ...OPENED_BETWEEN,
  ],
  path: ALERTS,
  newestFirstBy: "opened_at",
  empty: "No alerts found.",
  columns: [
    textColumn("OPENED", "opened_at"),
    textColumn("KIND", "kind"),
    textColumn("STATE", "state"),
    { title: "FILL", cell: (alert) => percent(alert["latest_fill_percentage"]), alignRight: true },
    textColumn("TANK", "tank_id"),
    textColumn("OWNER", "owner_id"),
    textColumn("ALERT", "id"),
    textColumn("NOTE", "note", 60),
  ],
});

const show = showCommand({
  noun: "alert",
  group: "insight",
  summary: "show all fields of an alert",
  example: "alert show alr_…",
});

const NOTE: Field = {
  flag: "note",
  path: "note",
  value: "TEXT",
  help: "note for others, which the customer sees, too; replaces an existing note",
};

function actionCommand(
  name: "acknowledge" | "close",
  result: "acknowledged" | "closed",
  summary: string,
  help: string,
): CliCommand {
  return apiCommand({
    name,
    summary,
    help,
    example: `alert ${name} alr_… --note "Delivery on Thursday"`,
    argumentNames: ["alert"],
    body: [NOTE],
    options: [JSON_OPTION],
    async execute({ call, id, body, service }) {
      const before = await service({ method: "GET", path: `${ALERTS}/${encodeURIComponent(id)}` });
      const alert = await service({ method: "POST", path: pathTo("alerts", id, name), body });
      const what = `alert ${id} (${alert["kind"]}, tank ${alert["tank_id"]})`;
      if (before["state"] !== result) return report(call, alert, `${what} ${result}`);
      return report(call, alert, `${what} is already ${result}${"note" in body ? "; its note is unchanged" : ""}`);
    },
  });
}

const acknowledge = actionCommand(
  "acknowledge",
  "acknowledged",
  "acknowledge an alert",
  "Acknowledge an alert: a person is handling it, and the owner of the tank gets no reminder.",
);

const update = apiCommand({
  name: "update",
  summary: "change the note of an acknowledged alert",
  help: "Change the note of an acknowledged alert. Nobody is notified.",
  example: 'alert update alr_… --note "Delivery on Friday"',
  argumentNames: ["alert"],
  body: [{ ...NOTE, help: "another note, which the customer sees, too; an empty value removes it", clearable: true }],
  options: [JSON_OPTION],
  async execute({ call, id, body, service }) {
    if (!("note" in body)) throw new UserError(`${call.name}: nothing to change: give --note TEXT`, 2);
    const alert = await service({ method: "PATCH", path: pathTo("alerts", id), body });
    return report(call, alert, `alert ${id} (${alert["kind"]}, tank ${alert["tank_id"]}) updated`);
  },
});

const close = actionCommand(
  "close",
  "closed",
  "close an alert manually",
  "Close an alert manually. No new alert is opened while the condition lasts, only if it clears and then holds again.",
);

export const alert: CommandGroup = {
  name: "alert",
  summary: "list, acknowledge, update and close alerts",
  actions: [list, show, acknowledge, update, close],
};
