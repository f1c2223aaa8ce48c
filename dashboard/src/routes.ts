// The screen of each path. A screen is loaded when it is first opened.

import type { ComponentType } from "preact";
import type { Path } from "./paths.ts";

/** The parameters of the path, such as `id`. What a screen shows is in the query: see `location.ts`. */
export type ScreenProps = { readonly params: Readonly<Record<string, string>> };

type Screen = {
  readonly load: () => Promise<{ readonly default: ComponentType<ScreenProps> }>;
  /** Without the frame of navigation, and without a session. */
  readonly isPublic?: true;
};

export const ROUTES: Readonly<Record<Path, Screen>> = {
  "/": { load: () => import("./fleet/fleet.tsx") },
  "/map": { load: () => import("./map/map.tsx") },
  "/tanks/:id": { load: () => import("./tank/tank.tsx") },
  "/alerts": { load: () => import("./alerts/alerts.tsx") },
  "/sign-in": { load: () => import("./sign-in/sign-in.tsx"), isPublic: true },
};
