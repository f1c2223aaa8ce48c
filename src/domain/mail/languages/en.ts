import type { Phrases } from "../phrases.ts";

const tanks = (count: number, shown: string): string => (count === 1 ? "1 tank" : `${shown} tanks`);
const are = (count: number): string => (count === 1 ? "is" : "are");
const have = (count: number): string => (count === 1 ? "has" : "have");
const runs = (count: number): string => (count === 1 ? "runs" : "run");
const these = (count: number): string => (count === 1 ? "This tank" : "These tanks");
const REASONS = {
  recovered: "recovered",
  became_low: "the tank is low now",
  threshold_changed: "the threshold was changed",
  turned_off: "alerts of this kind were turned off",
  tank_deleted: "the tank was deleted",
  manual: "closed manually",
  replaced: "replaced by another alert",
};

export const en: Phrases = {
  dates: "en-GB",
  numbers: "en-US",

  subject: {
    low: {
      opened: (name, percent) => `Tank low, ${percent}: ${name}`,
      reminder: (name, percent) => `Reminder: tank still low, ${percent}: ${name}`,
      acknowledged: (name, percent) => `Acknowledged: tank low, ${percent}: ${name}`,
      recovered: (name, percent) => `Tank no longer low, ${percent}: ${name}`,
      closed: (name) => `Closed: low-fill alert of ${name}`,
    },
    runs_low_soon: {
      opened: (name, percent) => `Tank expected to run low soon, ${percent}: ${name}`,
      reminder: (name, percent) => `Reminder: tank expected to run low soon, ${percent}: ${name}`,
      acknowledged: (name, percent) => `Acknowledged: tank expected to run low soon, ${percent}: ${name}`,
      recovered: (name, percent) => `Tank no longer expected to run low soon, ${percent}: ${name}`,
      closed: (name) => `Closed: runs-low alert of ${name}`,
    },
    leak: {
      opened: (name) => `Possible leak: ${name}`,
      reminder: (name) => `Reminder: possible leak: ${name}`,
      acknowledged: (name) => `Acknowledged: possible leak: ${name}`,
      recovered: (name) => `Use is normal again: ${name}`,
      closed: (name) => `Closed: leak alert of ${name}`,
    },
    silent: {
      opened: (name) => `No readings from tank: ${name}`,
      reminder: (name) => `Reminder: still no readings from tank: ${name}`,
      acknowledged: (name) => `Acknowledged: no readings from tank: ${name}`,
      recovered: (name) => `Readings again from tank: ${name}`,
      closed: (name) => `Closed: silence alert of ${name}`,
    },
  },
  count: {
    low: {
      opened: (count, shown) => `${tanks(count, shown)} ${are(count)} low`,
      reminder: (count, shown) => `${tanks(count, shown)} ${are(count)} still low`,
      acknowledged: (count, shown) => (count === 1 ? "1 low-fill alert acknowledged" : `${shown} low-fill alerts acknowledged`),
      recovered: (count, shown) => `${tanks(count, shown)} ${are(count)} no longer low`,
      closed: (count, shown) => (count === 1 ? "1 low-fill alert closed" : `${shown} low-fill alerts closed`),
    },
    runs_low_soon: {
      opened: (count, shown) => `${tanks(count, shown)} ${runs(count)} low soon`,
      reminder: (count, shown) => `${tanks(count, shown)} still ${runs(count)} low soon`,
      acknowledged: (count, shown) => (count === 1 ? "1 runs-low alert acknowledged" : `${shown} runs-low alerts acknowledged`),
      recovered: (count, shown) => `${tanks(count, shown)} no longer ${runs(count)} low soon`,
      closed: (count, shown) => (count === 1 ? "1 runs-low alert closed" : `${shown} runs-low alerts closed`),
    },
    leak: {
      opened: (count, shown) => (count === 1 ? "1 possible leak" : `${shown} possible leaks`),
      reminder: (count, shown) => (count === 1 ? "1 leak still suspected" : `${shown} leaks still suspected`),
      acknowledged: (count, shown) => (count === 1 ? "1 leak alert acknowledged" : `${shown} leak alerts acknowledged`),
      recovered: (count, shown) => `${tanks(count, shown)} back to normal use`,
      closed: (count, shown) => (count === 1 ? "1 leak alert closed" : `${shown} leak alerts closed`),
    },
    silent: {
      opened: (count, shown) => `${tanks(count, shown)} ${are(count)} silent`,
      reminder: (count, shown) => `${tanks(count, shown)} ${are(count)} still silent`,
      acknowledged: (count, shown) => (count === 1 ? "1 silence alert acknowledged" : `${shown} silence alerts acknowledged`),
      recovered: (count, shown) => `${tanks(count, shown)} ${count === 1 ? "sends" : "send"} readings again`,
      closed: (count, shown) => (count === 1 ? "1 silence alert closed" : `${shown} silence alerts closed`),
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
        `${these(count)} ${are(count)} losing far more than is normal for the season. Please check for a leak, theft or unusual use.`,
      reminder: (count) =>
        `${these(count)} ${are(count)} still losing far more than is normal for the season, and nobody has acknowledged the ${count === 1 ? "alert" : "alerts"}.`,
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
  refill: {
    subject: (name, percent) => `Tank refilled, ${percent}: ${name}`,
    count: (count, shown) => (count === 1 ? "1 refill" : `${shown} refills`),
    explanation: (count) =>
      `${count === 1 ? "A delivery was" : "Deliveries were"} found in the readings: the fill has risen and stayed up. Nothing needs to be done.`,
    latest: (shown) => `The ${shown} latest:`,
    risen: (from, to) => `from ${from} to ${to}`,
    volume: "Volume",
    when: "Refilled",
    between: (from, to) => `between ${from} and ${to}`,
  },
  customer: "Customer",
  phone: "Phone",
  tankId: "Tank ID",
  acknowledged: "Acknowledged",
  acknowledgedBy: (at, by) => `${at}, by ${by}`,
  closed: "Closed",
  closedBecause: (at, reason) => `${at}: ${REASONS[reason]}`,
  note: "Note",
  openTank: "Open tank",

  whyCustomer: "You receive this e-mail because alerts about your tanks are sent to this address.",
  unsubscribe: "Unsubscribe from these e-mails",
  whyOperator: (channel) => `You receive this e-mail because of the notification channel ${channel}.`,

  verification: {
    subject: "Confirm your e-mail address",
    purpose: (address) =>
      `Please confirm that ${address} is your address. Then you will receive an e-mail when one of your tanks is low, and when it no longer is.`,
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
  test: {
    subject: "Test of a notification channel",
    meaning: "This is a test. Mail about alerts will reach you at this address. Nothing needs to be done.",
  },
  disabled: {
    subject: (channel) => `Notification channel disabled: ${channel}`,
    meaning: "A notification channel was disabled. Nothing is sent to it until you enable it again.",
    channel: "Channel",
    destination: "Destination",
    reason: "Reason",
    since: "Disabled",
    enable: (id) => `When the cause is fixed, enable it: PATCH /manage/v1/channels/${id} with {"state":"active"}.`,
    recover: (id) =>
      `What failed before it was disabled can be sent again: POST /manage/v1/channels/${id}/recover with {"since":"…"}. Events while it is disabled are only in the feed: GET /insight/v1/events.`,
  },
};
