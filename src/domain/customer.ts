// A customer: an account holder who owns tanks.

import { isActorName } from "./actor.ts";
import type { IdPrefix } from "./id.ts";
import { errorInInstants, formatInstant, formatInstantOrNull, type Instant } from "./instant.ts";
import { LANGUAGES, type Language } from "./mail/language.ts";
import {
  boolean,
  emailField,
  idField,
  instantField,
  integer,
  literal,
  nullable,
  nullableTextField,
  object,
  oneOf,
  type Static,
  textField,
} from "./schema.ts";
import { errorInObject } from "./validate.ts";

export type Customer = {
  readonly id: string;
  readonly created_at: Instant;
  readonly email: string;
  readonly last_seen_at: Instant | null;
  readonly name: string;
  readonly phone: string | null;
  readonly updated_at: Instant;
  readonly verified_at: Instant | null;
};

export type CustomerWithCount = Customer & { readonly tank_count: number };

/** What the owner of tanks wants of mail; not part of `/v1`. */
export const NotificationSettings = object(
  {
    language: nullable(
      oneOf(LANGUAGES, { description: "Language of mail; null: derived from the country of the tank", examples: ["de"] }),
    ),
    unsubscribed_at: nullable(instantField("Since when the customer wants no mail about alerts; null: wanted")),
  },
  { description: "Settings of mail to the customer" },
);
export type NotificationSettings = { readonly language: Language | null; readonly unsubscribed_at: Instant | null };

export const DEFAULT_NOTIFICATION_SETTINGS: NotificationSettings = { language: null, unsubscribed_at: null };

export function notificationSettingsObject(settings: NotificationSettings): Static<typeof NotificationSettings> {
  return { language: settings.language, unsubscribed_at: formatInstantOrNull(settings.unsubscribed_at) };
}

export const CustomerObject = object(
  {
    id: idField("Unique identifier of the customer", "cus_01kxa8w5s0v3m4q9t7r2n6c8d1"),
    object: literal("customer", { description: "Always `customer`" }),
    created_at: instantField("When the customer was created"),
    email: emailField("The customer's email address", "office@brenner-gas.example"),
    is_verified: boolean({ description: "Whether the customer's email has been verified", examples: [true] }),
    last_seen_at: nullable(instantField("The customer's last activity")),
    name: textField("Full name or business name", "Brenner Gas GmbH"),
    phone: nullableTextField("Phone number", "+49 30 5550 0142"),
    tank_count: integer({ minimum: 0, description: "Number of tanks assigned to the customer", examples: [3] }),
    updated_at: instantField("When the customer last changed any field"),
    verified_at: nullable(instantField("When the customer verified their email")),
  },
  { description: "An account holder who owns tanks" },
);

export function customerObject(customer: CustomerWithCount): Static<typeof CustomerObject> {
  return {
    id: customer.id,
    object: "customer",
    created_at: formatInstant(customer.created_at),
    email: customer.email,
    is_verified: customer.verified_at !== null,
    last_seen_at: formatInstantOrNull(customer.last_seen_at),
    name: customer.name,
    phone: customer.phone,
    tank_count: customer.tank_count,
    updated_at: formatInstant(customer.updated_at),
    verified_at: formatInstantOrNull(customer.verified_at),
  };
}

const FOREIGN_PREFIXES = { usr: "users", key: "keys", chn: "channels" } as const satisfies Partial<Record<IdPrefix, string>>;

/** Why a new customer cannot have this id: what the customer does would be recorded, limited or notified as of somebody else. */
export function errorInNewCustomerId(id: string): string | undefined {
  const foreign = Object.entries(FOREIGN_PREFIXES).find(([prefix]) => id.startsWith(`${prefix}_`));
  if (foreign !== undefined) return `must not begin with "${foreign[0]}_", which is for ids of ${foreign[1]}`;
  return isActorName(id) ? `must not be "${id}", which is a name in the audit log` : undefined;
}

/** What is wrong with a stored customer, apart from its `tank_count`. */
export function errorInCustomer(customer: CustomerWithCount, settings: NotificationSettings): string | undefined {
  const { created_at, updated_at, last_seen_at, verified_at } = customer;
  const { unsubscribed_at } = settings;
  const error = errorInInstants({ created_at, updated_at, last_seen_at, verified_at, unsubscribed_at });
  return (
    error ??
    errorInObject(CustomerObject, customerObject({ ...customer, tank_count: 0 })) ??
    errorInObject(NotificationSettings, notificationSettingsObject(settings))
  );
}
