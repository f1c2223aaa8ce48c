// The content of imports and exports. A record replaces the object with its id, or creates it.

import type { TankAlertSettings } from "./alerts/tank-alert-settings.ts";
import type { Customer, NotificationSettings } from "./customer.ts";
import type { Device, DeviceAssignment, ProfileChoice } from "./device.ts";
import type { Instant } from "./instant.ts";
import type { Shape } from "./shape.ts";
import type { Tank } from "./tank.ts";

export type Removal = { readonly remove: string };
/** `deletedAt`: of a deleted object. Without it, the object keeps the one it has, or is deleted now. */
export type Deletion = { readonly deleted: boolean; readonly deletedAt?: Instant };
/** Without `notifications`, the customer keeps the settings it has. */
export type CustomerRecord =
  | (Deletion & { readonly customer: Customer; readonly notifications?: NotificationSettings })
  | Removal;
/** Without `shape` or `alerts`, the tank keeps what it has. */
export type TankRecord =
  | (Deletion & { readonly tank: Tank; readonly shape?: Shape | null; readonly alerts?: TankAlertSettings })
  | Removal;

/** Fields that are undefined keep their value. */
export type DeviceRecord = {
  /** As returned by `deviceKey`. */
  readonly id: string;
  readonly tank_id: string | null | undefined;
  readonly since: Instant | undefined;
  readonly profile: ProfileChoice | null | undefined;
  readonly dropped: number | undefined;
  readonly assignments: readonly DeviceAssignment[] | undefined;
};

export type DeviceWithHistory = {
  readonly device: Device;
  readonly dropped: number;
  /** Assignments in order of time. */
  readonly assignments: readonly DeviceAssignment[];
};

export type RecordOutcome = "new" | "changed" | "unchanged" | { readonly rejected: string };
