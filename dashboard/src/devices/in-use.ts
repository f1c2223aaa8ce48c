// What to do about a device that another tank has.

import { api } from "../api.ts";

/** The names of tanks are what people know them by. */
export async function inUseMessage(deviceId: string): Promise<string> {
  const { tank_id } = await api.manage.devices.retrieve(deviceId);
  const name = tank_id === null ? "another tank" : `the tank “${(await api.manage.tanks.retrieve(tank_id)).name}”`;
  return `Device ${deviceId} is assigned to ${name}. Assign another device to that tank first, or swap the devices of both.`;
}
