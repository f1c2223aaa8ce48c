// What a language has to say. A language is one file in `languages/`, and one line in `language.ts`.

import type { AlertKind, CloseReason } from "../alerts/alert.ts";

/** `recovered`: closed because the condition has cleared; `closed`: for another reason. */
export const ALERT_UPDATES = ["opened", "reminder", "acknowledged", "recovered", "closed"] as const;
export type AlertUpdate = (typeof ALERT_UPDATES)[number];

/** The subject for one tank, with its fill and name. */
type Subject = (name: string, percent: string) => string;
/** A text for a number of tanks, which is formatted as `shown`. */
type Counted = (count: number, shown: string) => string;

export type Phrases = {
  /** The locale for Intl: dates with the name of the month and 24 hours. */
  readonly dates: string;
  readonly numbers: string;

  readonly subject: Readonly<Record<AlertKind, Readonly<Record<AlertUpdate, Subject>>>>;
  readonly count: Readonly<Record<AlertKind, Readonly<Record<AlertUpdate, Counted>>>>;
  /** What it means, and what to do. */
  readonly explanation: Readonly<Record<AlertKind, Readonly<Partial<Record<AlertUpdate, (count: number) => string>>>>>;
  readonly mostUrgent: Counted;
  readonly more: Counted;
  /** None of them are listed. */
  readonly notListed: string;

  readonly greeting: (name: string) => string;
  readonly where: string;
  readonly reference: string;
  readonly fill: string;
  readonly lastFill: string;
  readonly volumeOf: (percent: string, volume: string, capacity: string) => string;
  readonly threshold: string;
  readonly lowSince: string;
  readonly lowFromTo: string;
  readonly fromTo: (from: string, to: string) => string;
  readonly measured: string;
  readonly lastReading: string;
  readonly detected: string;
  readonly runsLow: string;
  readonly runsLowAbout: (date: string) => string;
  /** Labels for a leak. */
  readonly excess: string;
  readonly excessSince: (percent: string, volume: string, since: string) => string;
  readonly loss: string;
  readonly lossAt: (percent: string, volume: string, at: string) => string;
  readonly refill: {
    readonly subject: Subject;
    readonly count: Counted;
    readonly explanation: (count: number) => string;
    readonly latest: (shown: string) => string;
    readonly risen: (from: string, to: string) => string;
    readonly volume: string;
    readonly when: string;
    /** The last reading before it and the first one after it. */
    readonly between: (from: string, to: string) => string;
  };
  readonly customer: string;
  readonly phone: string;
  readonly tankId: string;
  readonly acknowledged: string;
  readonly acknowledgedBy: (at: string, by: string) => string;
  readonly closed: string;
  readonly closedBecause: (at: string, reason: CloseReason) => string;
  readonly note: string;
  readonly openTank: string;

  readonly whyCustomer: string;
  readonly unsubscribe: string;
  readonly whyOperator: (channel: string) => string;

  readonly verification: {
    readonly subject: string;
    readonly purpose: (address: string) => string;
    readonly button: string;
    readonly copyLink: string;
    readonly validity: string;
    readonly unexpected: string;
  };
  readonly signIn: {
    readonly subject: string;
    readonly purpose: string;
    readonly button: string;
    readonly copyLink: string;
    readonly code: (code: string) => string;
    readonly validity: string;
    readonly unexpected: string;
  };
  readonly test: { readonly subject: string; readonly meaning: string };
  readonly disabled: {
    readonly subject: (channel: string) => string;
    readonly meaning: string;
    readonly channel: string;
    readonly destination: string;
    readonly reason: string;
    readonly since: string;
    readonly enable: (id: string) => string;
    readonly recover: (id: string) => string;
  };
};
