import type { Phrases } from "../phrases.ts";

const tanks = (count: number, shown: string): string => (count === 1 ? "1 tank" : `${shown} tanks`);
const are = (count: number): string => (count === 1 ? "is" : "are");
const have = (count: number): string => (count === 1 ? "has" : "have");
const runs = (count: number): string => (count === 1 ? "runs" : "run");
const these = (count: number): string => (count === 1 ? "This tank" : "These tanks");

export const en: Phrases = {
  dates: "en-GB",
  numbers: "en-US",

  subject: {
    low: {
      opened: (name, percent) => `Tank low, ${percent}: ${name}`,
      reminder: (name, percent) => `Reminder: tank still low, ${percent}: ${name}`,
      recovered: (name, percent) => `Tank no longer low, ${percent}: ${name}`,
    },
    runs_low_soon: {
      opened: (name, percent) => `Tank expected to run low soon, ${percent}: ${name}`,
      reminder: (name, percent) => `Reminder: tank expected to run low soon, ${percent}: ${name}`,
      recovered: (name, percent) => `Tank no longer expected to run low soon, ${percent}: ${name}`,
    },
    leak: {
      opened: (name) => `Possible leak: ${name}`,
      reminder: (name) => `Reminder: possible leak: ${name}`,
      recovered: (name) => `Use is normal again: ${name}`,
    },
    silent: {
      opened: (name) => `No readings from tank: ${name}`,
      reminder: (name) => `Reminder: still no readings from tank: ${name}`,
      recovered: (name) => `Readings again from tank: ${name}`,
    },
  },
  count: {
    low: {
      opened: (count, shown) => `${tanks(count, shown)} ${are(count)} low`,
      reminder: (count, shown) => `${tanks(count, shown)} ${are(count)} still low`,
      recovered: (count, shown) => `${tanks(count, shown)} ${are(count)} no longer low`,
    },
    runs_low_soon: {
      opened: (count, shown) => `${tanks(count, shown)} ${runs(count)} low soon`,
      reminder: (count, shown) => `${tanks(count, shown)} still ${runs(count)} low soon`,
      recovered: (count, shown) => `${tanks(count, shown)} no longer ${runs(count)} low soon`,
    },
    leak: {
      opened: (count, shown) => (count === 1 ? "1 possible leak" : `${shown} possible leaks`),
      reminder: (count, shown) => (count === 1 ? "1 leak still suspected" : `${shown} leaks still suspected`),
      recovered: (count, shown) => `${tanks(count, shown)} back to normal use`,
    },
    silent: {
      opened: (count, shown) => `${tanks(count, shown)} ${are(count)} silent`,
      reminder: (count, shown) => `${tanks(count, shown)} ${are(count)} still silent`,
      recovered: (count, shown) => `${tanks(count, shown)} ${count === 1 ? "sends" : "send"} readings again`,
    },
  },
  explanation: {
    low: {
      opened: (count) => `${these(count)} ${have(count)} reached or fallen below the threshold. A delivery may be needed soon.`,
      reminder: (count) =>
        `${these(count)} ${have(count)} reached or fallen below the threshold, and ${have(count)} not recovered yet. If a delivery is on its way, nothing needs to be done.`,
      recovered: (count) => `${these(count)} ${are(count)} above the threshold again. Nothing needs to be done.`,
    },
    runs_low_soon: {
      opened: (count) => `${these(count)} ${are(count)} expected to reach the threshold within days. Please plan a delivery.`,
      reminder: (count) =>
        `${these(count)} ${are(count)} still expected to reach the threshold within days. If a delivery is on its way, nothing needs to be done.`,
      recovered: (count) =>
        `${these(count)} ${are(count)} no longer expected to reach the threshold soon. Nothing needs to be done.`,
    },
    leak: {
      opened: (count) =>
        `${these(count)} ${have(count)} lost far more than is normal for the season. Please check for a leak, theft or unusual use.`,
      reminder: (count) =>
        `${these(count)} ${have(count)} lost far more than is normal for the season, and nobody has acknowledged the ${count === 1 ? "alert" : "alerts"}.`,
      recovered: (count) => `Use of ${count === 1 ? "this tank" : "these tanks"} has been normal for some days.`,
    },
    silent: {
      opened: (count) =>
        `${these(count)} ${have(count)} sent no reading for longer than usual. The device, its battery or its network may need attention.`,
      reminder: (count) => `${these(count)} still ${have(count)} not sent a reading.`,
      recovered: (count) => `${these(count)} ${count === 1 ? "sends" : "send"} readings again.`,
    },
  },
  mostUrgent: (count, shown) => (count === 1 ? "The most urgent:" : `The ${shown} most urgent:`),
  more: (count, shown) => (count === 1 ? "1 more is not listed here." : `${shown} more are not listed here.`),
  notListed: "Not listed here.",

  greeting: (name) => `Hello ${name},`,
  where: "Where",
  reference: "Reference",
  fill: "Fill",
  lastFill: "Last fill",
  volumeOf: (percent, volume, capacity) => `${percent} (${volume} of ${capacity})`,
  threshold: "Threshold",
  lowSince: "Low since",
  lowFromTo: "Was low",
  fromTo: (from, to) => `${from} to ${to}`,
  measured: "Measured",
  lastReading: "Last reading",
  detected: "Detected",
  runsLow: "Expected to be low",
  runsLowAbout: (date) => `about ${date}`,
  excess: "Above normal use",
  excessSince: (percent, volume, since) => `${percent} (${volume}) a day since ${since}`,
  loss: "Sudden loss",
  lossAt: (percent, volume, at) => `${percent} (${volume}), ${at}`,
  openTank: "Open tank",

  whyCustomer: "You receive this e-mail because alerts about your tanks are sent to this address.",
  unsubscribe: "Unsubscribe from these e-mails",

  verification: {
    subject: "Confirm your e-mail address",
    purpose: (address) => `Please confirm that ${address} is your address. Then e-mails about your tanks can be sent to it.`,
    button: "Confirm address",
    copyLink: "Or open this link:",
    validity: "The link is valid for 7 days and can be used once.",
    unexpected: "If you did not expect this e-mail, ignore it: nothing will be sent to you.",
  },
  signIn: {
    subject: "Your link to sign in",
    purpose: "Open this link to see your tanks:",
    button: "Sign in",
    copyLink: "Or open this link:",
    code: (code) => `Or enter this code where you requested the e-mail: ${code}`,
    validity: "The link and the code are valid for 10 minutes and work once. We will never ask you for them.",
    unexpected: "If you did not request this e-mail, ignore it: without it nobody can sign in.",
  },
};
