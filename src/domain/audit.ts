// The audit log: who changed what and when, with the values before and after.

import { DEFAULT_TANK_ALERT_SETTINGS, type TankAlertSettings, tankAlertSettingsObject } from "./alerts/tank-alert-settings.ts";
import type { Change, CustomerState, TankState } from "./changes.ts";
import { customerObject, notificationSettingsObject } from "./customer.ts";
import type { Instant } from "./instant.ts";
import { tankObject } from "./tank.ts";

export const AUDITED_OBJECTS = ["customer", "tank", "device", "key", "alert", "channel", "notification", "user"] as const;
export const AUDITED_ACTIONS = [
  "created",
  "changed",
  "deleted",
  "restored",
  "rotated",
  "revoked",
  "acknowledged",
  "closed",
  "tested",
  "recovered",
  "retried",
  "mail_recovered",
  "link_created",
  "signed_in",
  "signed_out",
] as const;

/** `changes` has the fields that differ; never a secret. */
export type AuditedChange = {
  readonly object: (typeof AUDITED_OBJECTS)[number];
  readonly id: string;
  readonly action: (typeof AUDITED_ACTIONS)[number];
  readonly changes: Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>;
};

/** `by` is the id of a key, user or customer, or one of `ACTORS`. */
export type AuditContext = { readonly by: string; readonly at: Instant };

export type AuditEntry = AuditedChange & AuditContext & { readonly number: number };

export function auditCustomers(changes: readonly Change<CustomerState>[]): AuditedChange[] {
  return changes.flatMap((change) => auditedChange("customer", change, customerFields));
}

/** Changes of the shape and of the settings for alerts are entries of their own: they are not fields of `/v1`. */
export function auditTanks(changes: readonly Change<TankState>[]): AuditedChange[] {
  const settings = changes.flatMap(({ id, before, after }) => [
    ...auditFields("tank", id, { shape: before?.shape }, { shape: after.shape }),
    ...auditFields("tank", id, alertFields(before?.alerts), alertFields(after.alerts)),
  ]);
  return [...changes.flatMap((change) => auditedChange("tank", change, tankFields)), ...settings];
}

function alertFields(alerts: TankAlertSettings = DEFAULT_TANK_ALERT_SETTINGS): AuditedFields {
  return flattened("alerts", tankAlertSettingsObject(alerts));
}

export type AuditedFields = Readonly<Record<string, unknown>>;

/** Leaves out derived fields, and those that repeat the entry itself. */
function customerFields({ customer, notifications }: CustomerState): AuditedFields {
  const { object, id, tank_count, last_seen_at, updated_at, is_verified, ...fields } = customerObject({
    ...customer,
    tank_count: 0,
  });
  return { ...fields, ...flattened("notifications", notificationSettingsObject(notifications)) };
}

function tankFields({ tank }: TankState): AuditedFields {
  const { object, id, updated_at, location, ...fields } = tankObject(tank);
  return { ...fields, ...flattened("location", location) };
}

/** `location.city` and so on. */
function flattened(name: string, object: AuditedFields): AuditedFields {
  return Object.fromEntries(Object.entries(object).map(([field, value]) => [`${name}.${field}`, value] as const));
}

function auditedChange<S extends { readonly deleted: boolean }>(
  object: AuditedChange["object"],
  { id, before, after }: Change<S>,
  fieldsOf: (state: S) => AuditedFields,
): AuditedChange[] {
  const [old, now] = [before === undefined ? {} : fieldsOf(before), fieldsOf(after)];
  if (before === undefined) return [{ object, id, action: "created", changes: differences(old, now) }];
  if (before.deleted === after.deleted) return auditFields(object, id, old, now);
  return [{ object, id, action: after.deleted ? "deleted" : "restored", changes: differences(old, now) }];
}

/** An entry if some of the fields differ. */
export function auditFields(
  object: AuditedChange["object"],
  id: string,
  before: AuditedFields,
  after: AuditedFields,
): AuditedChange[] {
  const changes = differences(before, after);
  return Object.keys(changes).length === 0 ? [] : [{ object, id, action: "changed", changes }];
}

/** A missing field counts as null. */
export function differences(before: AuditedFields, after: AuditedFields): AuditedChange["changes"] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changed = [...names].map((name) => [name, { from: before[name] ?? null, to: after[name] ?? null }] as const);
  return Object.fromEntries(changed.filter(([, { from, to }]) => JSON.stringify(from) !== JSON.stringify(to)));
}
