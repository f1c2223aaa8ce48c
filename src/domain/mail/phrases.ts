// What a language has to say to owners of tanks. A language is one file in `languages/`, and one line in `language.ts`.

import type { AlertKind } from "../alerts/alert.ts";

/** `recovered`: closed because the condition has cleared; `closed`: for another reason. */
export const ALERT_UPDATES = ["opened", "reminder", "acknowledged", "recovered", "closed"] as const;
export type AlertUpdate = (typeof ALERT_UPDATES)[number];
/** What owners get mail about. */
export type OwnerUpdate = "opened" | "reminder" | "recovered";

/** The subject for one tank, with its fill and name. */
export type Subject = (name: string, percent: string) => string;
/** A text for a number of tanks, which is formatted as `shown`. */
export type Counted = (count: number, shown: string) => string;

export type Phrases = {
  /** The locale for Intl: dates with the name of the month and 24 hours. */
  readonly dates: string;
  readonly numbers: string;

  readonly subject: Readonly<Record<AlertKind, Readonly<Record<OwnerUpdate, Subject>>>>;
  readonly count: Readonly<Record<AlertKind, Readonly<Record<OwnerUpdate, Counted>>>>;
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
  readonly openTank: string;

  readonly whyCustomer: string;
  readonly unsubscribe: string;

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
};
