// Alerts, tanks and recipients for tests of mail.

import type { Alert } from "../../../src/domain/alerts/alert.ts";
import type { Channel } from "../../../src/domain/alerts/channel.ts";
import type { Customer } from "../../../src/domain/customer.ts";
import type { Refill } from "../../../src/domain/forecast/refills.ts";
import type { AlertItem, Recipient } from "../../../src/domain/mail/alert-mail.ts";
import type { RefillItem } from "../../../src/domain/mail/refill-section.ts";
import { NO_LOCATION, type Tank } from "../../../src/domain/tank.ts";

export const OPENED = Date.UTC(2026, 10, 12, 22, 15);
export const MEASURED = Date.UTC(2026, 10, 14, 9, 30);

export const TANK: Tank = {
  id: "tank_1",
  assigned_device_id: "device_1",
  capacity: 2700,
  capacity_unit: "liters",
  created_at: 0,
  custom_id: null,
  location: {
    ...NO_LOCATION,
    street: "Lindenweg",
    street_number: "12a",
    postal_code: "79100",
    city: "Freiburg",
    country: "Germany",
  },
  min_fill_alert_percentage: 20,
  name: "North depot",
  owner_id: "cus_1",
  updated_at: 0,
  use_case: null,
};

export const ALERT: Alert = {
  id: "alr_1",
  kind: "low",
  state: "open",
  tank_id: TANK.id,
  owner_id: TANK.owner_id,
  opened_at: OPENED,
  acknowledged_at: null,
  acknowledged_by: null,
  closed_at: null,
  close_reason: null,
  threshold: 20,
  fill_percentage: 19.5,
  latest_fill_percentage: 18,
  latest_reading_at: MEASURED,
  runs_low_at: null,
  leak: null,
  note: null,
  updated_at: MEASURED,
};

const CUSTOMER: Customer = {
  id: "cus_1",
  created_at: 0,
  email: "office@brenner-gas.example",
  last_seen_at: null,
  name: "Brenner Gas GmbH",
  phone: "+49 30 5550 0142",
  updated_at: 0,
  verified_at: 1,
};

type Changes = {
  readonly update?: AlertItem["update"];
  readonly alert?: Partial<Alert>;
  readonly tank?: Partial<Tank>;
  readonly customer?: Partial<Customer>;
  readonly link?: string;
};

export const itemOf = ({ update = "opened", alert, tank, customer, link }: Changes = {}): AlertItem => ({
  update,
  alert: { ...ALERT, ...alert },
  tank: { ...TANK, ...tank },
  customer: { ...CUSTOMER, ...customer },
  link: link ?? null,
});

export const refillOf = (
  changes: Omit<Changes, "update" | "alert"> & { readonly refill?: Partial<Refill> } = {},
): RefillItem => ({
  refill: { startedAt: OPENED, endedAt: OPENED + 2 * 3_600_000, from: 17.9, to: 92.4, ...changes.refill },
  tank: { ...TANK, ...changes.tank },
  customer: { ...CUSTOMER, ...changes.customer },
  link: changes.link ?? null,
});

export const UNSUBSCRIBE = "https://tanks.example.com/unsubscribe?token=abc&x=1";

export const toCustomer = (changes: Partial<Extract<Recipient, { type: "customer" }>> = {}): Recipient => ({
  type: "customer",
  to: "office@brenner-gas.example",
  language: "en",
  timezone: "Europe/Berlin",
  name: "Brenner Gas GmbH",
  unsubscribeUrl: UNSUBSCRIBE,
  ...changes,
});

export const toOperator = (changes: Partial<Extract<Recipient, { type: "operator" }>> = {}): Recipient => ({
  type: "operator",
  to: "dispatch@example.com",
  timezone: null,
  channelId: "chn_1",
  channelDescription: "Dispatch",
  ...changes,
});

export const channelOf = (changes: Partial<Channel> = {}): Channel => ({
  id: "chn_1",
  type: "email",
  url: null,
  to: "dispatch@example.com",
  events: null,
  kinds: null,
  customer_id: null,
  delay: 0,
  quiet_hours: null,
  state: "active",
  disabled_reason: null,
  description: null,
  created_at: 0,
  updated_at: 0,
  ...changes,
});
