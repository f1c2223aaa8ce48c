// Corruptions of devices, pending readings, the fleet and the audit log: the same statements on both engines.

import type { Corruption } from "./sample.ts";

const FLEET_MISMATCH = /^its latest reading is \d+ at 1970-01-01T[\d:.]+Z with threshold 20, the fleet says /;

type Row = readonly [name: string, sql: string, where: string, what: RegExp];
const corruptions = (rows: readonly Row[]): Corruption[] =>
  rows.map(([name, sql, where, what]) => ({ name, sql, where: [where], what }));

/** SQLite has a table for the fleet, PostgreSQL columns of the heads. */
export const FLEET_CORRUPTIONS = {
  sqlite: corruptions([
    ["a tank not in the fleet", "DELETE FROM fleet WHERE tank = 'm6'", "tank m6", /^it is not in the fleet$/],
    [
      "a deleted tank in the fleet",
      "INSERT INTO fleet (tank, threshold, at, fill) VALUES ('gone', 20, 0, 50)",
      "tank gone",
      /^it is deleted, but still in the fleet$/,
    ],
    [
      "an unknown tank in the fleet",
      "INSERT INTO fleet (tank, threshold, at, fill) VALUES ('nobody', 20, 0, 1)",
      "table fleet",
      /nobody/,
    ],
  ]),
  postgres: corruptions([
    ["a tank not in the fleet", "UPDATE head SET threshold = NULL WHERE tank = 'm6'", "tank m6", /^it is not in the fleet$/],
    [
      "a deleted tank in the fleet",
      "UPDATE head SET threshold = 20 WHERE tank = 'gone'",
      "tank gone",
      /^it is deleted, but still in the fleet$/,
    ],
    [
      "another latest instant of a deleted tank",
      "UPDATE head SET at = 5 WHERE tank = 'gone'",
      "tank gone",
      /^the latest reading stored beside its head is another one$/,
    ],
  ]),
} as const;

export const REPAIRABLE = corruptions([
  ...["fill = 7", "fill = NULL", "at = at - 1000", "threshold = 21"].map((change, i): Row => {
    return [`fleet: ${change}`, `UPDATE fleet SET ${change} WHERE tank = 'm${i}'`, `tank m${i}`, FLEET_MISMATCH];
  }),
  [
    "a device unknown",
    "DELETE FROM device WHERE id = 'device of m4'",
    "tank m4",
    /^its device device of m4 should be assigned to it, but is unknown$/,
  ],
  [
    "a device without its tank",
    "UPDATE device SET tank = NULL WHERE id = 'device of m5'",
    "tank m5",
    /^its device device of m5 should be assigned to it, but is assigned to none$/,
  ],
  [
    "a device of another device's tank",
    "UPDATE device SET tank = 'long' WHERE id = 'waits'",
    "device waits",
    /^it is assigned to tank long, which has device device of long$/,
  ],
  ...["gone", "nobody"].map((id): Row => {
    const what = new RegExp(`^it is assigned to tank ${id}, which is not a live tank$`);
    return [`a device of the tank ${id}`, `UPDATE device SET tank = '${id}' WHERE id = 'waits'`, "device waits", what];
  }),
  ...[9, 0].map((count): Row => {
    const what = new RegExp(`^it has 3 pending readings, its count says ${count}$`);
    return [`a pending count of ${count}`, `UPDATE device SET pending = ${count} WHERE id = 'queued'`, "device queued", what];
  }),
  [
    "a pending reading of an unknown device",
    "DELETE FROM device WHERE id = 'strange'",
    "device strange",
    /^it has pending readings, but is unknown$/,
  ],
]);

/** Cannot be derived from other data. */
export const UNREPAIRABLE = corruptions([
  ["an audit entry missing", "DELETE FROM audit WHERE number = 5", "the audit log", /some are missing/],
  ["the first audit entry missing", "DELETE FROM audit WHERE number = 1", "the audit log", /some are missing/],
  ["an unreadable audit entry", "UPDATE audit SET changes = '{' WHERE number = 6", "the audit log", /6/],
  ["an unreadable shape", "UPDATE tank SET shape = '{' WHERE id = 't20'", "tank t20", /shape/],
  ["an unreadable profile", "UPDATE device SET profile = '{' WHERE id = 'waits'", "device waits", /profile/],
  [
    "an unreadable payload",
    "UPDATE pending_reading SET fill = NULL, payload = '{' WHERE device = 'queued' AND created_at = 2",
    "device queued",
    /payload/,
  ],
  [
    "a past assignment to an unknown tank",
    "UPDATE device_assignment SET tank = 'nobody' WHERE device = 'moved'",
    "device moved",
    /nobody/,
  ],
  [
    "a key with an unknown role",
    "UPDATE api_key SET role = 'boss' WHERE id = 'k'",
    "key k",
    /role: must be one of .*, not boss; revoke/,
  ],
  [
    "a key without its successor",
    "UPDATE api_key SET replaced_by = 'gone' WHERE id = 'other'",
    "key other",
    /its successor gone does not exist/,
  ],
  [
    "a place that does not exist",
    "UPDATE tank SET latitude = 91 WHERE id = 't21'",
    "tank t21",
    /location.latitude: must be from -90 to 90/,
  ],
  [
    "an instant outside the calendar",
    "UPDATE tank SET updated_at = 9000000000000000 WHERE id = 't22'",
    "tank t22",
    /updated_at: 9000000000000000 is not an instant/,
  ],
  [
    "a customer changed before it was created",
    "UPDATE customer SET updated_at = -1 WHERE id = 'c7'",
    "customer c7",
    /updated_at: must not be before created_at/,
  ],
]);
