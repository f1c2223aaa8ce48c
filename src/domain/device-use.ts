// A device serves one live tank at a time. This is the only place that knows the rule; whoever plans changes of several tanks
// keeps one `DeviceUse` and tells it of each change.

import { deviceKey } from "./id.ts";
import type { ManagedDevice } from "./resource.ts";

type AssignedTank = { readonly id: string; readonly assigned_device_id: string };

export class DeviceUse {
  readonly #tankOf = new Map<string, string | null>();

  /** `devices` are those that the planned changes name. */
  constructor(devices: ReadonlyMap<string, ManagedDevice>) {
    for (const [key, { device }] of devices) this.#tankOf.set(key, device.tank_id);
  }

  /** The other live tank that uses the tank's device, or undefined. */
  conflictOf({ id, assigned_device_id }: AssignedTank): string | undefined {
    const user = this.#tankOf.get(deviceKey(assigned_device_id)) ?? null;
    return user === null || user === id ? undefined : user;
  }

  release({ id, assigned_device_id }: AssignedTank): void {
    const key = deviceKey(assigned_device_id);
    if (this.#tankOf.get(key) === id) this.#tankOf.set(key, null);
  }

  assign({ id, assigned_device_id }: AssignedTank): void {
    this.#tankOf.set(deviceKey(assigned_device_id), id);
  }
}
