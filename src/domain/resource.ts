// Objects as the management API returns them: with fields that `/v1` does not have, and with an entity tag.

import { hash } from "node:crypto";
import { type Alert, alertObject } from "./alerts/alert.ts";
import { type Channel, channelObject } from "./alerts/channel.ts";
import { type Notification, notificationObject } from "./alerts/notification.ts";
import { tankAlertSettingsObject } from "./alerts/tank-alert-settings.ts";
import type { CustomerState, TankState } from "./changes.ts";
import { type CustomerWithCount, customerObject, notificationSettingsObject } from "./customer.ts";
import { type Device, deviceObject } from "./device.ts";
import { formatInstant, formatInstantOrNull } from "./instant.ts";
import { type Key, keyState, type StoredKey } from "./key.ts";
import { tankObject } from "./tank.ts";
import { type User, userObject } from "./user.ts";

export type ManagedCustomer = CustomerState & { readonly customer: CustomerWithCount };
/** A device with the numbers of pending readings, and of those dropped because there were too many. */
export type ManagedDevice = { readonly device: Device; readonly pending: number; readonly dropped: number };

/** `etag` covers the fields that a caller can change. */
export type Resource = { readonly object: Readonly<Record<string, unknown>>; readonly etag: string };

export function customerResource({ customer, deleted, ...settings }: ManagedCustomer): Resource {
  const { last_seen_at, tank_count, ...data } = customerObject(customer);
  const notifications = notificationSettingsObject(settings.notifications);
  return {
    object: { ...customerObject(customer), notifications, deleted },
    etag: etagOf({ ...data, notifications, deleted }),
  };
}

export function tankResource({ tank, shape, alerts, deleted }: TankState): Resource {
  return withEtag({ ...tankObject(tank), shape, alerts: tankAlertSettingsObject(alerts), deleted });
}

export function deviceResource({ device, pending, dropped }: ManagedDevice): Resource {
  const data = deviceObject(device);
  return { object: { ...data, pending, dropped }, etag: etagOf(data) };
}

export function keyResource(key: StoredKey, now: number): Resource {
  return withEtag({ ...keyFields(key), state: keyState(key, now) });
}

export function userResource(user: User): Resource {
  return withEtag(userObject(user));
}

export function channelResource(channel: Channel): Resource {
  return withEtag(channelObject(channel));
}

export function notificationResource(notification: Notification): Resource {
  return withEtag(notificationObject(notification));
}

/** Readings do not change the tag. */
export function alertResource(alert: Alert): Resource {
  const { latest_fill_percentage, latest_reading_at, ...data } = alertObject(alert);
  return { object: alertObject(alert), etag: etagOf(data) };
}

export function keyFields(key: Key): Readonly<Record<string, unknown>> {
  return {
    id: key.id,
    object: "key",
    name: key.name,
    role: key.role,
    customer_id: key.customer_id,
    device_id: key.device_id,
    rate: key.rate,
    created_at: formatInstant(key.created_at),
    expires_at: formatInstantOrNull(key.expires_at),
    revoked_at: formatInstantOrNull(key.revoked_at),
    replaced_by: key.replaced_by,
  };
}

function withEtag(object: Readonly<Record<string, unknown>>): Resource {
  return { object, etag: etagOf(object) };
}

/** Includes the quotes of the HTTP header. */
function etagOf(data: object): string {
  return `"${hash("sha256", JSON.stringify(data), "base64url").slice(0, 27)}"`;
}
