// The check of devices: that the tank one serves has it, that no two tanks share one, and that what waits is counted. What is
// right stays in the database: only what is wrong is fetched.

import { displayInstant } from "../../domain/instant.ts";
import type { Finding } from "../../domain/store.ts";
import type { Look } from "../check.ts";
import { findingsOf } from "../series/fault.ts";
import { lookAtTexts } from "./check-texts.ts";
import { type Db, statement } from "./connection.ts";
import { keyOfDevice, lockDevices } from "./devices.ts";
import { lockLists } from "./lists.ts";

/** Not by tank_by_device: ids that differ in their case alone are one device. The older tank comes first. */
const SHARED = statement(`
  SELECT key, first, id FROM (
    SELECT key, id, first_value(id) OVER same AS first, row_number() OVER same AS number
    FROM (SELECT ${keyOfDevice("assigned_device_id")} AS key, created_at, id FROM tank WHERE NOT deleted) AS live
    WINDOW same AS (PARTITION BY key ORDER BY created_at, id)
  ) AS held WHERE number > 1`);

/** All by primary keys. */
const STRAYS = statement(`
  SELECT device.id, device.tank, own.assigned_device_id FROM device LEFT JOIN LATERAL (
    SELECT assigned_device_id FROM tank WHERE tank.id = device.tank AND NOT tank.deleted OFFSET 0
  ) AS own ON true
  WHERE device.tank IS NOT NULL AND ${keyOfDevice("own.assigned_device_id")} IS DISTINCT FROM device.id ORDER BY device.id`);
const COUNTED = "(SELECT count(*) FROM waiting WHERE waiting.device = device.id)";
const WRONG_COUNTS = statement(`
  SELECT id, waiting, counted.number FROM device CROSS JOIN LATERAL (SELECT ${COUNTED} AS number OFFSET 0) AS counted
  WHERE waiting <> counted.number ORDER BY id`);
/** Each device of which something waits, by a hop along the primary key, that is not known. */
const STRANGERS = `
  WITH RECURSIVE own (device) AS (
    SELECT min(device) FROM waiting
    UNION ALL SELECT (SELECT min(device) FROM waiting WHERE waiting.device > own.device) FROM own WHERE own.device IS NOT NULL
  )
  SELECT device FROM own WHERE device IS NOT NULL AND NOT EXISTS (SELECT FROM device WHERE device.id = own.device)`;
const STRANGE = statement(STRANGERS);

const LOST = statement(`
  SELECT device, tank, until FROM service WHERE NOT EXISTS (SELECT FROM tank WHERE tank.id = service.tank)
  ORDER BY device, until`);

export async function lookAtDevices(db: Db): Promise<Look[]> {
  const shared = (await db.rows(SHARED)).map(([device, one, other]) => {
    const what = `it should serve one tank, and ${one} and ${other} have it: assign another device to one of them`;
    return look(device, false, what);
  });
  const stray = (await db.rows(STRAYS)).map(([id, tank, device]) => {
    const what = device === null ? "which is no live tank" : `which has the device ${device}`;
    return look(id, true, `it serves tank ${tank}, ${what}`);
  });
  const wrong = (await db.rows(WRONG_COUNTS)).map(([id, said, waits]) =>
    look(id, true, `${waits} of its readings wait, it says ${said}`),
  );
  const strange = (await db.rows(STRANGE)).map(([id]) => look(id, true, "readings of it wait, and it is not known"));
  const lost = (await db.rows(LOST)).map(([id, tank, until]) =>
    look(id, false, `it served tank ${tank} until ${displayInstant(Number(until))}, which is not there: restore a backup`),
  );
  return [...shared, ...stray, ...wrong, ...strange, ...lost, ...(await lookAtTexts(db))];
}

function look(device: unknown, isDerived: boolean, what: string): Look {
  return { where: `device ${device}`, faults: [{ isDerived, what }] };
}

const FREE = statement("UPDATE device SET tank = NULL WHERE id = ANY ($1::text[])");
const MEET = statement(`INSERT INTO device (id) ${STRANGERS}`);
const COUNT = statement(`UPDATE device SET waiting = ${COUNTED} WHERE id = ANY ($1::text[])`);

/** Under the exclusive lock nothing comes to wait. */
export async function repairDevices(db: Db): Promise<Finding[]> {
  await lockLists(db);
  await lockDevices(db);
  const before = await lookAtDevices(db);
  await db.rows(FREE, [(await db.rows(STRAYS)).map(([id]) => String(id))]);
  await db.rows(MEET);
  await db.rows(COUNT, [(await db.rows(WRONG_COUNTS)).map(([id]) => String(id))]);
  const left = Map.groupBy(await lookAtDevices(db), ({ where }) => where);
  return before.flatMap(({ where, faults }) =>
    findingsOf(
      where,
      faults,
      (left.get(where) ?? []).flatMap((look) => look.faults),
    ),
  );
}
