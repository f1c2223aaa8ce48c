// The check of what is kept beside a tank: its row in the fleet, and that its device knows it. The same on every engine.

import { type Device, deviceKey } from "../domain/device.ts";
import { displayInstant } from "../domain/instant.ts";
import type { Reading } from "../domain/reading.ts";
import type { Tank } from "../domain/tank.ts";
import { type FleetRow, fleetRow } from "./fleet-row.ts";
import type { Fault } from "./series/fault.ts";

export type KeptFleetRow = FleetRow & { readonly threshold: number };

/** `latest` is the newest reading of the tank itself. */
export function fleetFaults(tank: Tank, isLive: boolean, latest: Reading | undefined, kept: KeptFleetRow | undefined): Fault[] {
  if (!isLive) return kept === undefined ? [] : [{ isDerived: true, what: "it is deleted, and still in the fleet" }];
  if (kept === undefined) return [{ isDerived: true, what: "it is not in the fleet" }];
  const threshold = tank.min_fill_alert_percentage;
  const { at, fill, urgency, heard } = fleetRow(threshold, latest);
  const isRight = kept.at === at && kept.fill === fill && kept.urgency === urgency && kept.heard === heard;
  if (isRight && kept.threshold === threshold) return [];
  const words = (row: Pick<KeptFleetRow, "at" | "fill">): string =>
    row.fill === null ? "none" : `${row.fill} at ${displayInstant(row.at)}`;
  return [
    {
      isDerived: true,
      what: `its latest reading is ${words({ at, fill })} with a threshold of ${threshold}, the fleet says ${words(kept)} with ${kept.threshold}`,
    },
  ];
}

/** `isElsewhere`: the tank that the device says it serves is live and has the same device; that is told once, of the device. */
export function servingFaults(tank: Tank, isLive: boolean, device: Device | undefined, isElsewhere: boolean): Fault[] {
  if (!isLive || device?.tank_id === tank.id || isElsewhere) return [];
  const serves = device === undefined ? "is not known" : device.tank_id === null ? "serves none" : `serves ${device.tank_id}`;
  return [{ isDerived: true, what: `its device ${deviceKey(tank.assigned_device_id)} should serve it, and ${serves}` }];
}
