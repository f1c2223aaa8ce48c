// Mail about alerts: one mail for all changes that a recipient has to know, grouped by kind and update.

import { ALERT_KINDS, type Alert, type AlertKind } from "../alerts/alert.ts";
import type { Customer } from "../customer.ts";
import type { Location, Tank } from "../tank.ts";
import { type Language, type Wording, wordingOf } from "./language.ts";
import { type Block, type Entry, plain, render } from "./layout.ts";
import type { Mail } from "./mail.ts";
import { ALERT_UPDATES, type AlertUpdate } from "./phrases.ts";

/** Above this number of alerts of a kind, only the most urgent are listed, in short. */
export const DIGEST_ABOVE = 20;

/** `customer` owns the tank; `link` leads to the tank, where there is a page for it. */
export type AlertItem = {
  readonly update: "opened" | "reminder" | "acknowledged" | "closed";
  readonly alert: Alert;
  readonly tank: Tank;
  readonly customer: Customer;
  readonly link: string | null;
};

/** Alerts with the same update. `total` is how many there are, `items` the most urgent of them, at least `DIGEST_ABOVE` or all. */
export type AlertGroup = {
  readonly kind: AlertKind;
  readonly update: AlertUpdate;
  readonly total: number;
  readonly items: readonly AlertItem[];
};

/** Who gets the mail: the owner of the tanks, or an operator by an e-mail channel. */
export type Recipient = {
  readonly to: string;
  readonly language: Language;
  /** IANA name; null: times are in UTC. */
  readonly timezone: string | null;
} & (
  | { readonly type: "customer"; readonly name: string; readonly unsubscribeUrl: string }
  | { readonly type: "operator"; readonly channelId: string; readonly channelDescription: string | null }
);

export function alertMail(recipient: Recipient, groups: readonly AlertGroup[]): Mail {
  const wording = wordingOf(recipient.language, recipient.timezone);
  const { phrases } = wording;
  const ordered = groups.toSorted((a, b) => rankOf(a) - rankOf(b));
  const subject = subjectOf(ordered, wording);
  const greeting: Block[] =
    recipient.type === "customer" ? [{ type: "paragraph", text: phrases.greeting(plain(recipient.name)) }] : [];
  const blocks = ordered.flatMap((group) => blocksOf(group, ordered.length > 1, recipient.type, wording));
  return render(recipient.to, {
    language: recipient.language,
    subject,
    blocks: [...greeting, ...blocks],
    ...(recipient.type === "customer"
      ? { footer: [phrases.whyCustomer], unsubscribe: { text: phrases.unsubscribe, url: recipient.unsubscribeUrl } }
      : { footer: [phrases.whyOperator(channelName(recipient.channelId, recipient.channelDescription))] }),
  });
}

export function channelName(id: string, description: string | null): string {
  return description === null || plain(description) === "" ? id : `${plain(description)} (${id})`;
}

/** Groups of alerts that are all known. */
export function groupAlerts(items: readonly AlertItem[]): AlertGroup[] {
  const groups = Map.groupBy(items, ({ update, alert }) => `${alert.kind} ${updateOf(update, alert)}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { update, alert } = first;
    return [{ kind: alert.kind, update: updateOf(update, alert), total: group.length, items: group }];
  });
}

export function updateOf(update: AlertItem["update"], alert: Alert): AlertUpdate {
  if (update !== "closed") return update;
  return alert.close_reason === "recovered" ? "recovered" : "closed";
}

/** New alerts first; of one update, low tanks first. */
function rankOf({ update, kind }: AlertGroup): number {
  return ALERT_UPDATES.indexOf(update) * ALERT_KINDS.length + ALERT_KINDS.indexOf(kind);
}

function subjectOf(groups: readonly AlertGroup[], wording: Wording): string {
  const [first] = groups;
  const [item] = first?.items ?? [];
  if (first !== undefined && item !== undefined && groups.length === 1 && first.total === 1) {
    const percent = wording.percent(item.alert.latest_fill_percentage);
    return wording.phrases.subject[first.kind][first.update](nameOf(item.tank), percent);
  }
  return groups.map((group) => headlineOf(group, wording)).join(", ");
}

function headlineOf({ kind, update, total }: AlertGroup, { phrases, count }: Wording): string {
  return phrases.count[kind][update](total, count(total));
}

function blocksOf(group: AlertGroup, isOneOfSeveral: boolean, audience: Recipient["type"], wording: Wording): Block[] {
  const { kind, update, total } = group;
  const { phrases, count } = wording;
  const isDigest = total > DIGEST_ABOVE;
  const listed = group.items.toSorted(byUrgency).slice(0, DIGEST_ABOVE);
  const blocks: Block[] = isOneOfSeveral ? [{ type: "heading", text: headlineOf(group, wording) }] : [];
  const explanation = phrases.explanation[kind][update]?.(total);
  if (explanation !== undefined) blocks.push({ type: "paragraph", text: explanation });
  if (isDigest) blocks.push({ type: "paragraph", text: phrases.mostUrgent(count(listed.length)) });
  for (const item of listed) blocks.push(entryOf(item, update, { audience, isDigest }, wording));
  const left = total - listed.length;
  if (left > 0) blocks.push({ type: "paragraph", text: phrases.more(left, count(left)) });
  return blocks;
}

/** Comparable within a kind. Lowest first: the lowest margin, the first to run low, the largest leak, the longest silent. */
export function urgencyOf({ kind, latest_fill_percentage, threshold, latest_reading_at, runs_low_at, leak }: Alert): number {
  switch (kind) {
    case "low":
      return latest_fill_percentage - threshold;
    case "runs_low_soon":
      return runs_low_at ?? 0;
    case "leak":
      return -(leak?.excess ?? 0);
    case "silent":
      return latest_reading_at;
  }
}

function byUrgency({ alert: a }: AlertItem, { alert: b }: AlertItem): number {
  return urgencyOf(a) - urgencyOf(b) || (a.id < b.id ? -1 : 1);
}

type Form = { readonly audience: Recipient["type"]; readonly isDigest: boolean };

function entryOf({ alert, tank, customer, link }: AlertItem, update: AlertUpdate, form: Form, wording: Wording): Entry {
  const { phrases } = wording;
  const values: [string, string | null][] = [[phrases.where, addressLine(tank.location)]];
  if (!form.isDigest) values.push([phrases.reference, tank.custom_id]);
  values.push(...VALUES[alert.kind](alert, tank, form, wording));
  if (update === "closed" && alert.closed_at !== null && alert.close_reason !== null) {
    values.push([phrases.closed, phrases.closedBecause(wording.time(alert.closed_at), alert.close_reason)]);
  }
  if (form.audience === "operator") {
    if (!form.isDigest) values.push(...handlingValues(alert, wording));
    values.push([phrases.customer, customer.name], [phrases.phone, customer.phone], [phrases.tankId, tank.id]);
  }
  return {
    type: "entry",
    title: nameOf(tank),
    ...(alert.kind === "silent" ? {} : { fill: alert.latest_fill_percentage }),
    values: values.flatMap(([label, value]) => {
      const shown = value === null ? "" : plain(value, VALUE_MAX_LENGTH);
      return shown === "" ? [] : [[label, shown] as const];
    }),
    ...(link === null ? {} : { link: { text: phrases.openTank, url: link } }),
  };
}

const VALUE_MAX_LENGTH = 300;

/** A name may consist of invisible characters. */
const nameOf = ({ id, name }: Tank): string => plain(name) || plain(id);

/** One that was closed by hand may still be low. */
function lowValues(alert: Alert, tank: Tank, { isDigest }: Form, wording: Wording): [string, string][] {
  const { phrases, percent, time } = wording;
  const { opened_at, closed_at, close_reason, threshold, latest_reading_at } = alert;
  const values: [string, string][] = [
    [phrases.fill, fillOf(alert, tank, wording)],
    [phrases.threshold, percent(threshold)],
  ];
  if (closed_at === null || close_reason === "manual") values.push([phrases.lowSince, time(opened_at)]);
  else values.push([phrases.lowFromTo, phrases.fromTo(time(opened_at), time(closed_at))]);
  if (!isDigest) values.push([phrases.measured, time(latest_reading_at)]);
  return values;
}

function silentValues(alert: Alert, tank: Tank, { isDigest }: Form, wording: Wording): [string, string][] {
  const { phrases, time } = wording;
  const values: [string, string][] = [
    [phrases.lastReading, time(alert.latest_reading_at)],
    [phrases.lastFill, fillOf(alert, tank, wording)],
  ];
  if (!isDigest) values.push([phrases.noticed, time(alert.opened_at)]);
  return values;
}

function runsLowValues(alert: Alert, tank: Tank, { isDigest }: Form, wording: Wording): [string, string][] {
  const { phrases, percent, time, date } = wording;
  const values: [string, string][] = [
    [phrases.fill, fillOf(alert, tank, wording)],
    [phrases.threshold, percent(alert.threshold)],
  ];
  // What was expected when it was opened does not matter once it has closed.
  if (alert.runs_low_at !== null && alert.closed_at === null) {
    values.push([phrases.runsLow, phrases.runsLowAbout(date(alert.runs_low_at))]);
  }
  if (!isDigest) values.push([phrases.measured, time(alert.latest_reading_at)]);
  return values;
}

function leakValues(alert: Alert, tank: Tank, { isDigest }: Form, wording: Wording): [string, string][] {
  const { phrases, percent, volume, time, date } = wording;
  const { leak, opened_at, latest_reading_at } = alert;
  const values: [string, string][] = [[phrases.fill, fillOf(alert, tank, wording)]];
  if (leak !== null) {
    const [share, amount] = [percent(leak.excess), volume(tank.capacity * (leak.excess / 100), tank.capacity_unit)];
    if (leak.isSudden) values.push([phrases.loss, phrases.lossAt(share, amount, time(leak.since))]);
    else values.push([phrases.excess, phrases.excessSince(share, amount, date(leak.since))]);
  }
  if (!isDigest) values.push([phrases.noticed, time(opened_at)], [phrases.measured, time(latest_reading_at)]);
  return values;
}

const VALUES = { low: lowValues, runs_low_soon: runsLowValues, leak: leakValues, silent: silentValues } as const;

function fillOf({ latest_fill_percentage: fill }: Alert, { capacity, capacity_unit }: Tank, wording: Wording): string {
  const volume = wording.volume(capacity * (fill / 100), capacity_unit);
  return wording.phrases.volumeOf(wording.percent(fill), volume, wording.volume(capacity, capacity_unit));
}

/** Who acknowledged the alert, and what was written about it. */
function handlingValues(
  { acknowledged_at, acknowledged_by, note }: Alert,
  { phrases, time }: Wording,
): [string, string | null][] {
  const values: [string, string | null][] = [];
  if (acknowledged_at !== null) {
    const at = time(acknowledged_at);
    values.push([phrases.acknowledged, acknowledged_by === null ? at : phrases.acknowledgedBy(at, plain(acknowledged_by))]);
  }
  values.push([phrases.note, note]);
  return values;
}

/** Coordinates where there is nothing else. */
function addressLine(location: Location): string | null {
  const { street, street_number, postal_code, city, district, region, country, latitude, longitude } = location;
  const joined = (parts: readonly (string | null)[], separator: string): string =>
    parts
      .map((part) => plain(part ?? ""))
      .filter((part) => part !== "")
      .join(separator);
  const line = joined([joined([street, street_number], " "), district, joined([postal_code, city], " "), region, country], ", ");
  if (line !== "") return line;
  return latitude === null || longitude === null ? null : `${latitude}, ${longitude}`;
}
