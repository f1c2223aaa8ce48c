// The check of what is kept beside a tank: its row in the fleet, and its device.

import { deviceKey, EARLIEST, unknownDevice } from "../../domain/device.ts";
import type { Reading } from "../../domain/reading.ts";
import type { Tank } from "../../domain/tank.ts";
import { fleetFaults, type KeptFleetRow, servingFaults } from "../check-fleet.ts";
import { shapeFaults } from "../check-texts.ts";
import { lastReading } from "../series/block.ts";
import type { Fault } from "../series/fault.ts";
import { type Db, type Row, statement } from "./connection.ts";
import { keyOfDevice } from "./devices.ts";
import { putLatest } from "./fleet.ts";

/** By primary keys: what the head's row has beside it, the device, whether that serves another live tank which has it, too, and the shape. */
const BESIDE = statement(`
  SELECT tank.id, head.threshold, head.at, head.fill, head.urgency, head.heard, device.id, device.tank, other.id IS NOT NULL, tank.shape
  FROM tank LEFT JOIN telemetry AS head ON head.tank = tank.id
  LEFT JOIN device ON device.id = ${keyOfDevice("tank.assigned_device_id")}
  LEFT JOIN tank AS other ON other.id = device.tank AND NOT other.deleted
    AND ${keyOfDevice("other.assigned_device_id")} = device.id
  WHERE tank.id = ANY ($1::text[])`);
const HEAD = statement("SELECT data FROM telemetry WHERE tank = $1");
/** A device that another live tank has, too, is left to the operator. */
const SERVE = statement(`
  INSERT INTO device (id, tank) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET tank = excluded.tank
  WHERE NOT EXISTS (
    SELECT FROM tank WHERE tank.id = device.tank AND NOT tank.deleted AND ${keyOfDevice("tank.assigned_device_id")} = device.id
  )`);

/** What is kept beside each of these tanks. */
export async function besideTanks(db: Db, ids: readonly string[]): Promise<Map<string, Row>> {
  return new Map((await db.rows(BESIDE, [ids])).map(([tank, ...kept]) => [String(tank), kept]));
}

/** `head` is that of the tank's telemetry, where there is one. */
export function besideFaults(tank: Tank, isLive: boolean, head: Uint8Array | undefined, beside: Row): Fault[] {
  const [threshold, at, fill, urgency, heard, device, serves, isElsewhere, shape] = beside;
  const isKept = [threshold, urgency, heard].some((one) => one !== null);
  const kept = isKept ? ({ threshold, at, fill, urgency, heard } as KeptFleetRow) : undefined;
  const served = device === null ? undefined : { ...unknownDevice(String(device)), tank_id: serves as string | null };
  const latest = latestOf(head);
  const ofFleet = latest === "unreadable" ? [] : fleetFaults(tank, isLive, latest, kept);
  // Of a live tank the fleet tells.
  if (!isLive && head !== undefined && latest !== "unreadable") ofFleet.push(...latestFaults(latest, { at, fill }));
  return [...shapeFaults(shape as string | null), ...ofFleet, ...servingFaults(tank, isLive, served, isElsewhere === true)];
}

function latestFaults(latest: Reading | undefined, { at, fill }: Readonly<Record<"at" | "fill", unknown>>): Fault[] {
  if (at === (latest?.created_at ?? EARLIEST) && fill === (latest?.fill_percentage ?? null)) return [];
  return [{ isDerived: true, what: "what is kept beside its head is not its latest reading" }];
}

/** Of a head that cannot be read nothing is known. */
function latestOf(head: Uint8Array | undefined): Reading | undefined | "unreadable" {
  try {
    return head === undefined ? undefined : lastReading(head);
  } catch {
    return "unreadable";
  }
}

/** After its telemetry was mended; under the locks of those who change tanks. */
export async function mendBeside(db: Db, tank: Tank, isLive: boolean): Promise<void> {
  const { id, assigned_device_id, min_fill_alert_percentage: threshold } = tank;
  const latest = latestOf((await db.rows(HEAD, [id]))[0]?.[0] as Uint8Array | undefined);
  if (latest !== "unreadable") await putLatest(db, [{ tank: id, threshold: isLive ? threshold : null, latest }]);
  if (isLive) await db.rows(SERVE, [deviceKey(assigned_device_id), id]);
}
