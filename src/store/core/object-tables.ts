// The tables of customers, tanks, devices, keys, the audit log and idempotency keys, in SQL for both engines.

import type { AuditContext, AuditedChange } from "../../domain/audit.ts";
import { type Change, type CustomerState, releasesDevice, type TankState } from "../../domain/changes.ts";
import type { IdempotencyKey, KeyChange } from "../../domain/commands/command.ts";
import type { DeviceAssignment } from "../../domain/device.ts";
import { DamageError } from "../../domain/errors.ts";
import { type Instant, isInstant } from "../../domain/instant.ts";
import type { ManagedDevice, Resource } from "../../domain/resource.ts";
import {
  AUDIT_COLUMNS,
  assignmentChecksum,
  CUSTOMER_FIELDS,
  customerChecksum,
  customerValues,
  deviceChecksum,
  STORED_ASSIGNMENT_COLUMNS,
  storedJson,
  storedProfile,
  TANK_VALUE_COLUMNS,
  tankChecksum,
  tankValues,
} from "../columns.ts";
import { type SqlRunner, updateExisting } from "./sql-runner.ts";

const WRITTEN_CUSTOMER_COLUMNS = ["id", ...CUSTOMER_FIELDS, "deleted", "checksum"];
const WRITTEN_TANK_COLUMNS = ["id", ...TANK_VALUE_COLUMNS, "deleted", "checksum"];
const WRITTEN_DEVICE_COLUMNS = ["id", "tank", "since", "profile", "dropped", "checksum"];
const ASSIGNMENT_COLUMNS = STORED_ASSIGNMENT_COLUMNS.split(", ");
const UPDATE_LAST_SEEN = `
  UPDATE customer SET last_seen_at = $2, checksum = checksum + $2 - coalesce(last_seen_at, 0)
  WHERE id = $1 AND (last_seen_at IS NULL OR last_seen_at < $2)`;
const INSERT_KEY = `
  INSERT INTO api_key (id, hash, name, role, customer_id, device_id, rate, created_at, expires_at, revoked_at, replaced_by)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`;
const UPDATE_KEY = "UPDATE api_key SET name = $2, rate = $3, expires_at = $4, revoked_at = $5, replaced_by = $6 WHERE id = $1";

const LAST_AUDIT_ENTRY = "SELECT number, at FROM audit ORDER BY number DESC LIMIT 1"; // primary key

const MAX_EXPIRED_REMOVED = 500;
const SAVED_RESULT = "SELECT fingerprint, resource FROM idempotency WHERE who = $1 AND key = $2 AND at > $3";
const RESULT_COLUMNS = ["who", "key", "at", "fingerprint", "resource"];
const REMOVE_EXPIRED = `
  DELETE FROM idempotency WHERE at <= coalesce(
    (SELECT at FROM idempotency WHERE at <= $1 ORDER BY at LIMIT 1 OFFSET ${MAX_EXPIRED_REMOVED - 1}), $1
  )`; // idempotency_by_time

/** The number of its pending readings is kept with them. */
export type CountedDevice = Pick<ManagedDevice, "device" | "dropped">;
type SavedResult = { readonly fingerprint: string; readonly resource: Resource };

/** `addHeads` adds the empty heads of new tanks. */
export function objectTables({ prepare, insert, runForIds }: SqlRunner, addHeads: (tankIds: readonly string[]) => Promise<void>) {
  return {
    async putCustomers(changes: readonly Change<CustomerState>[]): Promise<void> {
      const rows = changes.map(({ id, after }) => {
        return [id, ...customerValues(after), Number(after.deleted), customerChecksum(after)];
      });
      await insert("customer", WRITTEN_CUSTOMER_COLUMNS, rows, updateExisting(WRITTEN_CUSTOMER_COLUMNS));
    },

    async addTankCounts(deltas: ReadonlyMap<string, number>): Promise<void> {
      const add = prepare("UPDATE customer SET tank_count = tank_count + $1 WHERE id = $2");
      await Promise.all(Array.from(deltas, ([id, delta]) => add(delta, id)));
    },

    async updateLastSeen(seen: ReadonlyMap<string, Instant>): Promise<void> {
      const update = prepare(UPDATE_LAST_SEEN);
      await Promise.all(Array.from(seen, ([id, at]) => update(id, at)));
    },

    /** New tanks get an empty head. */
    async putTanks(changes: readonly Change<TankState>[]): Promise<void> {
      // tank_by_device is unique among live tanks.
      const released = changes.filter(releasesDevice).map(({ id }) => id);
      await runForIds(released, (is) => `UPDATE tank SET deleted = true WHERE ${is("id")}`);
      const rows = changes.map(({ id, after }) => {
        return [id, ...tankValues(after), Number(after.deleted), tankChecksum(after)];
      });
      await insert("tank", WRITTEN_TANK_COLUMNS, rows, updateExisting(WRITTEN_TANK_COLUMNS));
      await addHeads(changes.filter(({ before }) => before === undefined).map(({ id }) => id));
    },

    async putDevices(devices: readonly CountedDevice[]): Promise<void> {
      const rows = devices.map(({ device, dropped }) => {
        const { id, tank_id, since, profile } = device;
        return [id, tank_id, since, storedProfile(profile), dropped, deviceChecksum(device, dropped)];
      });
      await insert("device", WRITTEN_DEVICE_COLUMNS, rows, updateExisting(WRITTEN_DEVICE_COLUMNS));
    },

    async putAssignments(assignments: readonly DeviceAssignment[]): Promise<void> {
      const rows = assignments.map((assignment) => {
        const { device, until, tankId } = assignment;
        return [device, until, tankId, assignmentChecksum(assignment)];
      });
      await insert("device_assignment", ASSIGNMENT_COLUMNS, rows, updateExisting(ASSIGNMENT_COLUMNS, 2));
    },

    async removeDevices(ids: readonly string[]): Promise<void> {
      await runForIds(ids, (is) => `DELETE FROM device WHERE ${is("id")}`);
    },

    async putKeys(changes: readonly KeyChange[]): Promise<void> {
      for (const { after, hash } of changes) {
        const { id, name, role, customer_id, device_id, rate, created_at, expires_at, revoked_at, replaced_by } = after;
        if (hash === undefined) await prepare(UPDATE_KEY)(id, name, rate, expires_at, revoked_at, replaced_by);
        else {
          const columns = [role, customer_id, device_id, rate, created_at, expires_at, revoked_at, replaced_by];
          await prepare(INSERT_KEY)(id, hash, name, ...columns);
        }
      }
    },

    /** Entries never go back in time, so that a page is found by its number. */
    async appendAudit(entries: readonly AuditedChange[], { by, at }: AuditContext): Promise<void> {
      if (entries.length === 0) return;
      // Nobody else appends: everyone who does holds the lists lock.
      const [last] = await prepare(LAST_AUDIT_ENTRY)();
      const [number, before] = last === undefined ? [0, at] : [Number(last[0]), Number(last[1])];
      if (!Number.isSafeInteger(number) || !isInstant(before)) throw new DamageError("the newest audit entry is damaged");
      const rows = entries.map(({ object, id, action, changes }, i) => [
        number + 1 + i,
        Math.max(at, before),
        by,
        object,
        id,
        action,
        JSON.stringify(changes),
      ]);
      await insert("audit", AUDIT_COLUMNS.split(", "), rows);
    },

    /** Results saved after `since`. */
    async savedResult(by: string, key: string, since: Instant): Promise<SavedResult | undefined> {
      const [row] = await prepare(SAVED_RESULT)(by, key, since);
      return (
        row && {
          fingerprint: String(row[0]),
          resource: storedJson(row[1], `the saved result of Idempotency-Key ${key}`) as Resource,
        }
      );
    },

    /** Also removes some of the results saved before `expired`. */
    async saveResult(
      { key, fingerprint }: IdempotencyKey,
      { by, at }: AuditContext,
      resource: Resource,
      expired: Instant,
    ): Promise<void> {
      await prepare(REMOVE_EXPIRED)(expired);
      const row = [by, key, at, fingerprint, JSON.stringify(resource)];
      await insert("idempotency", RESULT_COLUMNS, [row], updateExisting(RESULT_COLUMNS, 2));
    },
  };
}
