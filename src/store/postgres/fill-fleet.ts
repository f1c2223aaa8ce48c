// Devices and the fleet of a database that had none: from its live tanks and the latest reading of each, a bit at a time.

import { lastReading } from "../series/block.ts";
import type { Transaction } from "./connection.ts";
import { keyOfDevice } from "./devices.ts";
import { putLatest } from "./fleet.ts";

const TANKS_A_STEP = 1000;

/** Where two tanks have a device whose ids differ in their case alone, the older one keeps it. */
const FILL_DEVICES = `
  INSERT INTO device (id, tank) SELECT ${keyOfDevice("assigned_device_id")}, id FROM tank WHERE NOT deleted
  ORDER BY created_at, id ON CONFLICT DO NOTHING`;

export async function fillDevices(db: Transaction): Promise<void> {
  await db.client.query(FILL_DEVICES);
}

/** By primary keys. */
const HEADS = `
  DECLARE heads NO SCROLL CURSOR FOR
  SELECT tank.id, CASE WHEN NOT tank.deleted THEN tank.min_fill_alert_percentage END, head.data
  FROM tank CROSS JOIN LATERAL (SELECT data FROM telemetry WHERE telemetry.tank = tank.id OFFSET 0) AS head
  ORDER BY tank.id`;

export async function fillFleet(db: Transaction): Promise<void> {
  await db.client.query(HEADS);
  for (;;) {
    const { rows } = await db.client.query<[string, number | null, Uint8Array]>({
      text: `FETCH ${TANKS_A_STEP} FROM heads`,
      rowMode: "array",
    });
    if (rows.length === 0) break;
    await putLatest(
      db,
      rows.map(([tank, threshold, data]) => ({ tank, threshold, latest: lastReading(data) })),
    );
  }
  await db.client.query("CLOSE heads");
}
