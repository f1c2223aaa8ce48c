// The screen of each path.

import type { ComponentType } from "preact";
import Account from "./account/account.tsx";
import Alerts from "./alerts/alerts.tsx";
import Audit from "./audit/audit.tsx";
import Channels from "./channels/channels.tsx";
import { lazy } from "./components/lazy.tsx";
import Customer from "./customers/customer.tsx";
import Customers from "./customers/customers.tsx";
import Devices from "./devices/devices.tsx";
import Fleet from "./fleet/fleet.tsx";
import Keys from "./keys/keys.tsx";
import type { Path } from "./paths.ts";
import type { Role } from "./session.ts";
import SignIn from "./sign-in/sign-in.tsx";
import Tank from "./tank/tank.tsx";
import Users from "./users/users.tsx";

/** The parameters of the path, such as `id`. What a screen shows is in the query: see `location.ts`. */
export type ScreenProps = { readonly params: Readonly<Record<string, string>> };

type Route = {
  readonly screen: ComponentType<ScreenProps>;
  /** Who may open it; anybody who is signed in, if it is not given. */
  readonly role?: Role;
  /** Without the frame of navigation, and without a session. */
  readonly isPublic?: true;
};

export const ROUTES: Readonly<Record<Path, Route>> = {
  "/": { screen: Fleet },
  "/map": { screen: lazy(() => import("./map/map.tsx")) },
  "/tanks/:id": { screen: Tank },
  "/alerts": { screen: Alerts },
  "/customers": { screen: Customers, role: "viewer" },
  "/customers/:id": { screen: Customer, role: "viewer" },
  "/devices": { screen: Devices, role: "viewer" },
  "/channels": { screen: Channels, role: "admin" },
  "/keys": { screen: Keys, role: "admin" },
  "/users": { screen: Users, role: "admin" },
  "/audit": { screen: Audit, role: "admin" },
  "/account": { screen: Account },
  "/sign-in": { screen: SignIn, isPublic: true },
};
