// The screen of each path. A screen is loaded when it is first opened.

import type { ComponentType } from "preact";
import type { Path } from "./paths.ts";
import type { Role } from "./session.ts";

/** The parameters of the path, such as `id`. What a screen shows is in the query: see `location.ts`. */
export type ScreenProps = { readonly params: Readonly<Record<string, string>> };

type Screen = {
  readonly load: () => Promise<{ readonly default: ComponentType<ScreenProps> }>;
  /** Who may open it; anybody who is signed in, if it is not given. */
  readonly role?: Role;
  /** Without the frame of navigation, and without a session. */
  readonly isPublic?: true;
};

export const ROUTES: Readonly<Record<Path, Screen>> = {
  "/": { load: () => import("./fleet/fleet.tsx") },
  "/map": { load: () => import("./map/map.tsx") },
  "/tanks/:id": { load: () => import("./tank/tank.tsx") },
  "/alerts": { load: () => import("./alerts/alerts.tsx") },
  "/customers": { load: () => import("./customers/customers.tsx"), role: "viewer" },
  "/customers/:id": { load: () => import("./customers/customer.tsx"), role: "viewer" },
  "/devices": { load: () => import("./devices/devices.tsx"), role: "viewer" },
  "/channels": { load: () => import("./channels/channels.tsx"), role: "admin" },
  "/keys": { load: () => import("./keys/keys.tsx"), role: "admin" },
  "/users": { load: () => import("./users/users.tsx"), role: "admin" },
  "/audit": { load: () => import("./audit/audit.tsx"), role: "admin" },
  "/account": { load: () => import("./account/account.tsx") },
  "/sign-in": { load: () => import("./sign-in/sign-in.tsx"), isPublic: true },
};
