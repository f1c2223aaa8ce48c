// What an order took in of the readings that waited for it, and what of them still waits, in words.

import { isObject } from "../domain/validate.ts";
import type { Item } from "./request.ts";

/** `; 12 readings that waited are taken in, measured from … to …`, or nothing. */
export function takenWords({ taken_in }: Item): string {
  if (!isObject(taken_in)) return "";
  const { readings = 0, rejected = 0, from, to } = taken_in;
  const when = from === to ? `measured at ${from}` : `measured from ${from} to ${to}`;
  const lost = rejected === 0 ? "" : `; ${rejected} could not be read`;
  return `; ${counted(Number(readings))} that waited ${readings === 1 ? "is" : "are"} taken in, ${when}${lost}`;
}

export const counted = (readings: number): string => (readings === 1 ? "1 reading" : `${readings} readings`);

/** What keeps readings of a device waiting. */
export function needOf({ tank_id, profile, waits_because }: Item): string {
  if (tank_id === null) return "a tank";
  if (profile === null) return "a profile";
  // A list does not look at the readings themselves.
  if (waits_because === undefined) return "the shape of its tank, or the sensor_height in it";
  return String(waits_because).includes("sensor_height") ? "the sensor_height in the shape of its tank" : "the shape of its tank";
}

export function stillWaiting(device: Item): string {
  const count = Number(device["waiting"]);
  if (!(count > 0)) return "";
  return `; ${count} of its readings ${count === 1 ? "waits" : "wait"} for ${needOf(device)}`;
}
