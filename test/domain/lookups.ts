// Lookups in memory, for planning without a database.

import type { Alert } from "../../src/domain/alerts/alert.ts";
import { type Channel, mayReceive } from "../../src/domain/alerts/channel.ts";
import type { Notification } from "../../src/domain/alerts/notification.ts";
import { DEFAULT_TANK_ALERT_SETTINGS } from "../../src/domain/alerts/tank-alert-settings.ts";
import type { TankState } from "../../src/domain/changes.ts";
import type { Device, DeviceAssignment } from "../../src/domain/device.ts";
import { deviceKey } from "../../src/domain/id.ts";
import { EARLIEST } from "../../src/domain/instant.ts";
import type { StoredKey } from "../../src/domain/key.ts";
import type { Lookups } from "../../src/domain/lookups.ts";
import type { ManagedCustomer } from "../../src/domain/resource.ts";
import type { SessionWithAccount } from "../../src/domain/session.ts";
import type { SignIn } from "../../src/domain/sign-in.ts";
import type { Tank } from "../../src/domain/tank.ts";
import { asciiLowerCase } from "../../src/domain/text.ts";
import type { User } from "../../src/domain/user.ts";
import type { EmailVerification } from "../../src/domain/verification.ts";
import { NEW_YEAR, tank } from "../store/conformance/objects.ts";

export type StoredObjects = {
  readonly customers?: readonly ManagedCustomer[];
  readonly tanks?: readonly TankState[];
  readonly devices?: readonly Device[];
  readonly assignments?: readonly DeviceAssignment[];
  readonly pending?: Readonly<Record<string, number>>;
  readonly keys?: readonly StoredKey[];
  readonly alerts?: readonly Alert[];
  readonly channels?: readonly Channel[];
  readonly notifications?: readonly Notification[];
  readonly verifications?: readonly EmailVerification[];
  readonly users?: readonly User[];
  readonly signIns?: readonly SignIn[];
  readonly sessions?: readonly SessionWithAccount[];
};

export function lookupsOf(known: StoredObjects): Lookups {
  const { customers = [], tanks = [], devices = [], assignments = [], pending = {}, keys = [] } = known;
  const { alerts = [], channels = [], notifications = [], verifications = [], users = [], signIns = [], sessions = [] } = known;
  const ofOwner = (id: string) => tanks.filter(({ tank }) => tank.owner_id === id);
  const managed = devices.map((device) => ({ device, pending: pending[device.id] ?? 0, dropped: 0 }));
  return {
    customers: async (ids) => byId(customers, ids, ({ customer }) => customer.id),
    tanks: async (ids) => byId(tanks, ids, ({ tank }) => tank.id),
    tanksOfOwner: async (id, limit) =>
      ofOwner(id)
        .filter(({ deleted }) => !deleted)
        .slice(0, limit),
    tanksDeletedAt: async (id, at, limit) =>
      ofOwner(id)
        .filter(({ deletedAt }) => deletedAt === at)
        .slice(0, limit),
    tanksDeletedWithDeviceInUse: async (id, at) =>
      ofOwner(id).filter(({ tank, deletedAt }) => {
        return deletedAt === at && devices.some((one) => one.id === deviceKey(tank.assigned_device_id) && one.tank_id !== null);
      }),
    devices: async (ids) => byId(managed, ids, ({ device }) => device.id),
    assignments: async (ids) => assignments.filter(({ device }) => ids.includes(device)),
    devicesWithPending: async (limit) => Math.min(limit, managed.filter((one) => one.pending > 0).length),
    keys: async (ids) => byId(keys, ids, ({ id }) => id),
    alerts: async (ids) => byId(alerts, ids, ({ id }) => id),
    channelsById: async (ids) => byId(channels, ids, ({ id }) => id),
    channelCount: async () => channels.length,
    notifications: async (ids) => byId(notifications, ids, ({ id }) => id),
    failedNotifications: async (channel, since, _failedBy, limit) =>
      notifications
        .map((one) => ({ ...one, ended_at: endedAt(one) }))
        .filter(({ channel_id, ended_at }) => channel_id === channel.id && ended_at >= since)
        .filter(({ about_customer }) => mayReceive(channel, about_customer))
        .filter(({ state }) => state === "failed" || state === "expired")
        .slice(0, limit),
    failedMail: async (customerId, since, _failedBy, limit) =>
      notifications
        .flatMap((one) => (one.customer_id === null ? [] : [{ ...one, customer_id: one.customer_id, ended_at: endedAt(one) }]))
        .filter(({ customer_id, ended_at }) => ended_at >= since && customer_id === (customerId ?? customer_id))
        .filter(({ state, event }) => state !== "pending" && state !== "delivered" && event !== "customer.verification")
        .slice(0, limit),
    pendingNotifications: async (channel, limit, exceptAbout) =>
      notifications
        .filter(({ channel_id, state }) => channel_id === channel.id && state === "pending")
        .filter(({ about_customer }) => exceptAbout === null || about_customer !== exceptAbout)
        .map(({ id }) => id)
        .slice(0, limit),
    verification: async (hash) => verifications.find((link) => link.hash === hash),
    verificationMailSince: async (customerId, since) =>
      notifications
        .filter(({ customer_id, created_at, event }) => {
          return customer_id === customerId && created_at > since && event === "customer.verification";
        })
        .map(({ id, created_at, state }) => ({ id, created_at, isPending: state === "pending" })),
    userList: async () => users,
    countryOf: async (id) => ofOwner(id).find(({ deleted }) => !deleted)?.tank.location.country ?? null,
    customersWithEmail: async (email, onlyId) =>
      customers
        .filter(({ customer, deleted }) => !deleted && asciiLowerCase(customer.email) === asciiLowerCase(email))
        .filter(({ customer }) => onlyId === null || customer.id === onlyId),
    signInByHash: async (hash) => signIns.find((one) => one.hash === hash),
    signInsOf: async (browser, email) =>
      signIns.filter((one) => one.browser === browser && asciiLowerCase(one.email) === asciiLowerCase(email)),
    signInsBetween: async (email, since, until) =>
      signIns
        .filter(({ browser, email: other }) => browser !== null && asciiLowerCase(other) === asciiLowerCase(email))
        .filter(({ created_at }) => created_at > since && created_at <= until).length,
    sessions: async (ids) => byId(sessions, ids, ({ id }) => id),
    sessionsOf: async ({ type, id }) => sessions.filter(({ account }) => account.type === type && account.id === id),
  };
}

/** As if it had failed at once. */
const endedAt = ({ created_at }: Notification) => created_at;

function byId<T>(all: readonly T[], ids: readonly string[], idOf: (one: T) => string): Map<string, T> {
  return new Map(all.filter((one) => ids.includes(idOf(one))).map((one) => [idOf(one), one]));
}

export const storedTank = (id: string, owner: string, fields: Partial<Tank> = {}, deleted = false): TankState => ({
  tank: tank(id, owner, fields),
  deleted,
  deletedAt: deleted ? NEW_YEAR : null,
  shape: null,
  alerts: DEFAULT_TANK_ALERT_SETTINGS,
});

export const device = (id: string, tank_id: string | null, more: Partial<Device> = {}): Device => ({
  id,
  tank_id,
  since: EARLIEST,
  profile: null,
  ...more,
});
