// Damage to devices, pending readings, the fleet and the audit log: the same statements on both engines.

export type SharedDamage = {
  readonly name: string;
  readonly sql: string;
  /** All the places where it is told. */
  readonly where: readonly string[];
  readonly what: RegExp;
};

const ofFleet = (name: string, sql: string, what: RegExp, where = "tank long"): SharedDamage => ({
  name,
  sql,
  where: [where],
  what,
});
const ofDevice = (name: string, sql: string, where: readonly string[], what: RegExp): SharedDamage => ({
  name,
  sql,
  where,
  what,
});

const FLEET_SAYS = /^its latest reading is \d+ at 1970-01-01T[\d:.]+Z with threshold 20, the fleet says /;

const notInFleet = (sql: string) => ofFleet("a tank that is not in the fleet", sql, /^it is not in the fleet$/);
const deletedInFleet = (sql: string) =>
  ofFleet("a deleted tank in the fleet", sql, /^it is deleted, but still in the fleet$/, "tank gone");

/** Where the fleet has a table of its own, and where it is a part of the heads. Repaired, these leave every answer as it was. */
export const FLEET_DAMAGE: Readonly<Record<"sqlite" | "postgres", readonly SharedDamage[]>> = {
  sqlite: [
    notInFleet("DELETE FROM fleet WHERE tank = 'long'"),
    deletedInFleet("INSERT INTO fleet (tank, threshold, at, fill, urgency, heard) VALUES ('gone', 20, 0, 50, 30, 0)"),
    ofDevice(
      "a tank in the fleet that is not there",
      "INSERT INTO fleet (tank, threshold, at, fill, urgency, heard) VALUES ('nobody', 20, 0, 1, -19, 0)",
      ["table fleet"],
      /nobody/,
    ),
  ],
  postgres: [
    notInFleet("UPDATE head SET threshold = NULL, urgency = NULL, heard = NULL WHERE tank = 'long'"),
    deletedInFleet("UPDATE head SET threshold = 20, urgency = 30, heard = 0 WHERE tank = 'gone'"),
    ofFleet(
      "another latest instant of a deleted tank",
      "UPDATE head SET at = 5 WHERE tank = 'gone'",
      /^the latest reading stored beside its head is another one$/,
      "tank gone",
    ),
  ],
};

/** Repaired, these leave every answer as it was. */
export const REPAIRABLE_SHARED: readonly SharedDamage[] = [
  ofFleet("another latest fill", "UPDATE fleet SET fill = 7 WHERE tank = 'long'", FLEET_SAYS),
  ofFleet("no latest reading", "UPDATE fleet SET fill = NULL WHERE tank = 'long'", FLEET_SAYS),
  ofFleet("another latest instant", "UPDATE fleet SET at = at - 1000 WHERE tank = 'long'", FLEET_SAYS),
  ofFleet("an order that does not follow from it", "UPDATE fleet SET urgency = 99 WHERE tank = 'long'", FLEET_SAYS),
  ofFleet("an hour that does not follow from it", "UPDATE fleet SET heard = 99 WHERE tank = 'long'", FLEET_SAYS),
  ofFleet("another threshold", "UPDATE fleet SET threshold = 21 WHERE tank = 'long'", FLEET_SAYS),
  ofDevice(
    "a device that is not known",
    "DELETE FROM device WHERE id = 'device of long'",
    ["tank long"],
    /^its device device of long should serve it, but is unknown$/,
  ),
  ofDevice(
    "a device that does not know its tank",
    "UPDATE device SET tank = NULL WHERE id = 'device of long'",
    ["tank long"],
    /^its device device of long should serve it, but serves none$/,
  ),
  ofDevice(
    "a device that serves another's tank",
    "UPDATE device SET tank = 'long' WHERE id = 'waits'",
    ["device waits"],
    /^it serves tank long, which has device device of long$/,
  ),
  ofDevice(
    "a device that serves a deleted tank",
    "UPDATE device SET tank = 'gone' WHERE id = 'waits'",
    ["device waits"],
    /^it serves tank gone, which is not a live tank$/,
  ),
  ofDevice(
    "a device that serves a tank that is not there",
    "UPDATE device SET tank = 'nobody' WHERE id = 'waits'",
    ["device waits"],
    /^it serves tank nobody, which is not a live tank$/,
  ),
  ofDevice(
    "a count of what waits that is too high",
    "UPDATE device SET pending = 9 WHERE id = 'waits'",
    ["device waits"],
    /^it has 3 pending readings, its count says 9$/,
  ),
  ofDevice(
    "a count of what waits that says none",
    "UPDATE device SET pending = 0 WHERE id = 'waits'",
    ["device waits"],
    /^it has 3 pending readings, its count says 0$/,
  ),
  ofDevice(
    "something that waits of a device that is not known",
    "DELETE FROM device WHERE id = 'strange'",
    ["device strange"],
    /^it has pending readings, but is unknown$/,
  ),
];

/** Nothing can be derived: each is told again after a repair. */
export const UNREPAIRABLE_SHARED: readonly SharedDamage[] = [
  ofDevice("an entry of the audit log is gone", "DELETE FROM audit WHERE number = 5", ["the audit log"], /some are missing/),
  ofDevice(
    "the first entry of the audit log is gone",
    "DELETE FROM audit WHERE number = 1",
    ["the audit log"],
    /some are missing/,
  ),
  ofDevice(
    "an entry of the audit log that cannot be read",
    "UPDATE audit SET changes = '{' WHERE number = 5",
    ["the audit log"],
    /5/,
  ),
  ofDevice("a shape that cannot be read", "UPDATE tank SET shape = '{' WHERE id = 'long'", ["tank long"], /shape/),
  ofDevice("a profile that cannot be read", "UPDATE device SET profile = '{' WHERE id = 'waits'", ["device waits"], /profile/),
  ofDevice(
    "a payload that cannot be read",
    "UPDATE pending_reading SET fill = NULL, payload = '{' WHERE device = 'waits' AND created_at = 2",
    ["device waits"],
    /payload/,
  ),
  ofDevice(
    "a device that served a tank that is not there",
    "UPDATE device_assignment SET tank = 'nobody' WHERE device = 'moved'",
    ["device moved"],
    /nobody/,
  ),
];
