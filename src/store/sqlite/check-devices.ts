// The check of devices: that the tank one serves has it, that no two tanks share one, and that what waits is counted. And of
// the audit log, of which nothing may be missing.

import type { DatabaseSync } from "node:sqlite";
import { deviceKey } from "../../domain/device.ts";
import { displayInstant } from "../../domain/instant.ts";
import type { Finding } from "../../domain/store.ts";
import type { Look } from "../check.ts";
import { auditFaults, isReadableChange, profileFaults, waitingFault } from "../check-texts.ts";
import { WAITING_COLUMNS, waitingOf } from "../columns.ts";
import { Faults, findingsOf } from "../series/fault.ts";
import { arrayRow, arrayRows, arrayStatement, type Row } from "./rows.ts";

/** Not by tank_by_device, which is what may be wrong. */
const DEVICES = "SELECT assigned_device_id, id FROM tank NOT INDEXED WHERE deleted = 0 ORDER BY created_at, id";
const STRAYS = `SELECT d.id, d.tank, t.assigned_device_id FROM device d LEFT JOIN tank t ON t.id = d.tank AND t.deleted = 0
  WHERE d.tank IS NOT NULL`;
const COUNTS = `SELECT d.id, d.waiting, (SELECT count(*) FROM waiting w WHERE w.device = d.id) AS waits FROM device d
  WHERE d.waiting <> waits`;
const LOST = "SELECT device, tank, until FROM service WHERE tank NOT IN (SELECT id FROM tank) ORDER BY device, until";
const PROFILES = "SELECT id, profile FROM device WHERE profile IS NOT NULL";
const WAITING = `SELECT ${WAITING_COLUMNS} FROM waiting`;
const CHANGES = "SELECT number, changes FROM audit ORDER BY number";
const ENTRIES_TOLD = 5;
const STRANGERS = "SELECT DISTINCT device FROM waiting WHERE device NOT IN (SELECT id FROM device)";
const AUDIT = "SELECT count(*), coalesce(min(number), 1), coalesce(max(number), 0) FROM audit";

export function lookAtDevices(db: DatabaseSync): Look[] {
  return [...sharedDevices(db), ...strayDevices(db), ...wrongCounts(db), ...lostTanks(db), ...wrongTexts(db)];
}

function sharedDevices(db: DatabaseSync): Look[] {
  const tanks = new Map<string, string>();
  const looks: Look[] = [];
  for (const [device, id] of arrayStatement(db, DEVICES).iterate() as unknown as Iterable<readonly [string, string]>) {
    const key = deviceKey(device);
    const other = tanks.get(key);
    if (other === undefined) tanks.set(key, id);
    else
      looks.push(
        look(key, false, `it should serve one tank, and ${other} and ${id} have it: assign another device to one of them`),
      );
  }
  return looks;
}

function strayDevices(db: DatabaseSync): Look[] {
  const looks: Look[] = [];
  for (const row of arrayStatement(db, STRAYS).iterate() as unknown as Iterable<readonly [string, string, string | null]>) {
    const [id, tank, device] = row;
    if (device === null) looks.push(look(id, true, `it serves tank ${tank}, which is no live tank`));
    else if (deviceKey(device) !== id) looks.push(look(id, true, `it serves tank ${tank}, which has the device ${device}`));
  }
  return looks;
}

function wrongCounts(db: DatabaseSync): Look[] {
  const wrong = arrayRows(arrayStatement(db, COUNTS).all()).map(([id, said, waits]) =>
    look(String(id), true, `${waits} of its readings wait, it says ${said}`),
  );
  const strange = arrayRows(arrayStatement(db, STRANGERS).all()).map(([id]) =>
    look(String(id), true, "readings of it wait, and it is not known"),
  );
  return [...wrong, ...strange];
}

function lostTanks(db: DatabaseSync): Look[] {
  return arrayRows(arrayStatement(db, LOST).all()).map(([device, tank, until]) =>
    look(
      String(device),
      false,
      `it served tank ${tank} until ${displayInstant(Number(until))}, which is not there: restore a backup`,
    ),
  );
}

/** What is kept as JSON. */
function wrongTexts(db: DatabaseSync): Look[] {
  const looks: Look[] = [];
  for (const [id, profile] of arrayStatement(db, PROFILES).iterate() as unknown as Iterable<Row>) {
    const faults = profileFaults(String(profile));
    if (faults.length > 0) looks.push({ where: `device ${id}`, faults });
  }
  const waiting = new Map<string, Faults>();
  for (const row of arrayStatement(db, WAITING).iterate() as unknown as Iterable<Row>) {
    const { device, created_at, fill, payload } = waitingOf(row);
    const what = waitingFault(created_at, fill, payload);
    if (what === undefined) continue;
    const faults = waiting.get(device) ?? new Faults();
    faults.add("waiting", false, () => what);
    waiting.set(device, faults);
  }
  return [...looks, ...Array.from(waiting, ([device, faults]) => ({ where: `device ${device}`, faults: faults.list() }))];
}

function look(device: string, isDerived: boolean, what: string): Look {
  return { where: `device ${device}`, faults: [{ isDerived, what }] };
}

export function lookAtAudit(db: DatabaseSync): Look[] {
  const [count = 0, first = 1, last = 0] = (arrayRow(arrayStatement(db, AUDIT).get()) ?? []) as readonly number[];
  const unreadable: number[] = [];
  for (const [number, changes] of arrayStatement(db, CHANGES).iterate() as unknown as Iterable<Row>) {
    if (!isReadableChange(String(changes))) unreadable.push(Number(number));
    if (unreadable.length === ENTRIES_TOLD) break;
  }
  return [{ where: "the audit log", faults: auditFaults(count, first, last, unreadable) }];
}

export function deviceRepairs(db: DatabaseSync) {
  const free = db.prepare("UPDATE device SET tank = NULL WHERE id = ?");
  const meet = db.prepare(
    "INSERT INTO device (id) SELECT DISTINCT device FROM waiting WHERE device NOT IN (SELECT id FROM device)",
  );
  const count = db.prepare("UPDATE device SET waiting = (SELECT count(*) FROM waiting WHERE device = device.id)");

  return {
    repairDevices(): Finding[] {
      const before = lookAtDevices(db);
      for (const { where } of strayDevices(db)) free.run(where.slice("device ".length));
      meet.run();
      count.run();
      const left = Map.groupBy(lookAtDevices(db), ({ where }) => where);
      const after = (where: string) => (left.get(where) ?? []).flatMap(({ faults }) => faults);
      return before.flatMap(({ where, faults }) => findingsOf(where, faults, after(where)));
    },
  };
}
