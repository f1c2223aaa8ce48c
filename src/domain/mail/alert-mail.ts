// Mail about alerts and refills: one mail for all that a recipient has to know. Alerts are grouped by kind and update.

import { ALERT_KINDS, type Alert, type AlertKind } from "../alerts/alert.ts";
import type { Instant } from "../instant.ts";
import type { Tank } from "../tank.ts";
import { type Language, type Wording, wordingOf } from "./language.ts";
import { type Entry, type MailBlock, plain, render } from "./layout.ts";
import type { Mail } from "./mail.ts";
import { CLOSE_REASONS, operatorCounts, operatorSubjects } from "./operator-phrases.ts";
import { ALERT_UPDATES, type AlertUpdate } from "./phrases.ts";
import { NO_REFILLS, refillSection } from "./refill-section.ts";
import { DIGEST_ABOVE, type Form, nameOf, type Section, sectionBlocks, type TankItem, tankEntry } from "./section.ts";

export type AlertItem = TankItem & {
  readonly update: "opened" | "reminder" | "acknowledged" | "closed";
  readonly alert: Alert;
};

/** Alerts of a kind with the same update. `total` is how many there are, `items` those that are listed. */
export type AlertGroup = {
  readonly kind: AlertKind;
  readonly update: AlertUpdate;
  readonly total: number;
  readonly items: readonly AlertItem[];
};

/** Who gets the mail: the owner of the tanks, or an operator by an e-mail channel, in English. */
export type Recipient = {
  readonly to: string;
  /** IANA name; null: times are in UTC. */
  readonly timezone: string | null;
} & (
  | { readonly type: "customer"; readonly language: Language; readonly name: string; readonly unsubscribeUrl: string }
  | { readonly type: "operator"; readonly channelId: string; readonly channelDescription: string | null }
);

/** Refills are for operators. */
export function alertMail(recipient: Recipient, groups: readonly AlertGroup[], now: Instant, refills = NO_REFILLS): Mail {
  const language = recipient.type === "customer" ? recipient.language : "en";
  const wording = wordingOf(language, recipient.timezone);
  const { phrases } = wording;
  const ordered = groups.toSorted((a, b) => rankOf(a) - rankOf(b));
  const sections = ordered.map((group) => {
    const form = { audience: recipient.type, isDigest: needsDigest(group.kind, groups), now };
    return alertSection(group, form, wording);
  });
  if (refills.items.length > 0) sections.push(refillSection(refills, wording));
  const greeting: MailBlock[] =
    recipient.type === "customer" ? [{ type: "paragraph", text: phrases.greeting(plain(recipient.name)) }] : [];
  const blocks = sections.flatMap((section) => sectionBlocks(section, sections.length > 1, wording));
  return render(recipient.to, {
    language,
    subject: subjectOf(sections),
    blocks: [...greeting, ...blocks],
    ...(recipient.type === "customer"
      ? { footer: [phrases.whyCustomer], unsubscribe: { text: phrases.unsubscribe, url: recipient.unsubscribeUrl } }
      : { footer: [whyChannel(recipient.channelId, recipient.channelDescription)] }),
  });
}

export function channelName(id: string, description: string | null): string {
  return description === null || plain(description) === "" ? id : `${plain(description)} (${id})`;
}

export const whyChannel = (id: string, description: string | null): string =>
  `You receive this e-mail because of the notification channel ${channelName(id, description)}.`;

/** Of each kind at most `DIGEST_ABOVE` alerts are listed: new ones first, then the most urgent. */
export function groupAlerts(items: readonly AlertItem[]): AlertGroup[] {
  return [...Map.groupBy(items, ({ alert }) => alert.kind)].flatMap(([kind, ofKind]) => {
    const byUpdate = Map.groupBy(ofKind, ({ update, alert }) => updateOf(update, alert));
    let remaining = DIGEST_ABOVE;
    return ALERT_UPDATES.flatMap((update): AlertGroup[] => {
      const group = byUpdate.get(update);
      if (group === undefined) return [];
      const listed = group.toSorted(byUrgency).slice(0, remaining);
      remaining -= listed.length;
      return [{ kind, update, total: group.length, items: listed }];
    });
  });
}

/** Whether there are too many alerts of a kind to list all of them. */
export const needsDigest = (kind: AlertKind, groups: readonly AlertGroup[]): boolean =>
  groups.reduce((sum, group) => sum + (group.kind === kind ? group.total : 0), 0) > DIGEST_ABOVE;

export function updateOf(update: AlertItem["update"], alert: Alert): AlertUpdate {
  if (update !== "closed") return update;
  return alert.close_reason === "recovered" ? "recovered" : "closed";
}

/** New alerts first; of one update, low tanks first. */
function rankOf({ update, kind }: AlertGroup): number {
  return ALERT_UPDATES.indexOf(update) * ALERT_KINDS.length + ALERT_KINDS.indexOf(kind);
}

function subjectOf(sections: readonly Section[]): string {
  const [first] = sections;
  if (first !== undefined && sections.length === 1 && first.total === 1) return first.subject;
  return sections.map(({ headline }) => headline).join(", ");
}

type AlertForm = Form & { readonly now: Instant };

function alertSection({ kind, update, total, items }: AlertGroup, form: AlertForm, wording: Wording): Section {
  const { phrases, count, percent } = wording;
  const [first] = items;
  const subjects = { ...phrases.subject[kind], ...operatorSubjects(kind) };
  const counts = { ...phrases.count[kind], ...operatorCounts(kind) };
  const listed = items.length;
  const isSelection = form.isDigest && listed > 0 && listed < total;
  return {
    total,
    subject: first ? subjects[update](nameOf(first.tank), percent(first.alert.latest_fill_percentage)) : "",
    headline: counts[update](total, count(total)),
    explanation: phrases.explanation[kind][update]?.(total),
    selection: isSelection ? phrases.mostUrgent(listed, count(listed)) : undefined,
    entries: items.map((item) => entryOf(item, update, form, wording)),
  };
}

/** Lower is more urgent; comparable within one kind only. */
export function urgencyRank({ kind, latest_fill_percentage, threshold, latest_reading_at, runs_low_at, leak }: Alert): number {
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
  return urgencyRank(a) - urgencyRank(b) || (a.id < b.id ? -1 : 1);
}

function entryOf(item: AlertItem, update: AlertUpdate, form: AlertForm, wording: Wording): Entry {
  const { alert, tank } = item;
  const values: [string, string | null][] = [...VALUES[alert.kind](alert, tank, form, wording)];
  if (update === "closed" && alert.closed_at !== null && alert.close_reason !== null) {
    values.push(["Closed", `${wording.time(alert.closed_at)}: ${CLOSE_REASONS[alert.close_reason]}`]);
  }
  if (form.audience === "operator" && !form.isDigest) values.push(...handlingValues(alert, wording));
  return tankEntry(item, alert.kind === "silent" ? undefined : alert.latest_fill_percentage, values, form, wording);
}

/** One that was closed manually may still be low. */
function lowValues(alert: Alert, tank: Tank, { isDigest }: Form, wording: Wording): [string, string][] {
  const { phrases, percent, time } = wording;
  const { opened_at, closed_at, close_reason, latest_reading_at } = alert;
  const values: [string, string][] = [
    [phrases.fill, fillOf(alert, tank, wording)],
    [phrases.threshold, percent(thresholdOf(alert, tank))],
  ];
  // A device may send readings long after it has measured them: the tank was low before its alert was opened.
  const since = Math.min(opened_at, latest_reading_at);
  if (closed_at === null || close_reason === "manual") values.push([phrases.lowSince, time(since)]);
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
  if (!isDigest) values.push([phrases.detected, time(alert.opened_at)]);
  return values;
}

function runsLowValues(alert: Alert, tank: Tank, { isDigest, now }: AlertForm, wording: Wording): [string, string][] {
  const { phrases, percent, time, date } = wording;
  const values: [string, string][] = [
    [phrases.fill, fillOf(alert, tank, wording)],
    [phrases.threshold, percent(thresholdOf(alert, tank))],
  ];
  // What was expected when it was opened does not matter once it has closed, or that time has passed.
  if (alert.runs_low_at !== null && alert.runs_low_at > now && alert.closed_at === null) {
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
  if (!isDigest) values.push([phrases.detected, time(opened_at)], [phrases.measured, time(latest_reading_at)]);
  return values;
}

const VALUES = { low: lowValues, runs_low_soon: runsLowValues, leak: leakValues, silent: silentValues } as const;

/** Of an alert that is not closed, the current one, as the fill is; else the one by which it was opened. */
function thresholdOf({ closed_at, threshold }: Alert, { min_fill_alert_percentage }: Tank): number {
  return closed_at === null ? min_fill_alert_percentage : threshold;
}

function fillOf({ latest_fill_percentage: fill }: Alert, { capacity, capacity_unit }: Tank, wording: Wording): string {
  const volume = wording.volume(capacity * (fill / 100), capacity_unit);
  return wording.phrases.volumeOf(wording.percent(fill), volume, wording.volume(capacity, capacity_unit));
}

/** Who acknowledged the alert, and what was written about it. */
function handlingValues({ acknowledged_at, acknowledged_by, note }: Alert, { time }: Wording): [string, string | null][] {
  const values: [string, string | null][] = [];
  if (acknowledged_at !== null) {
    const at = time(acknowledged_at);
    values.push(["Acknowledged", acknowledged_by === null ? at : `${at}, by ${plain(acknowledged_by)}`]);
  }
  values.push(["Note", note]);
  return values;
}
