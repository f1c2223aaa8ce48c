// The paths of all screens. The service responds to each with the same page; `routes.ts` has the screen of each.

export const PATHS = [
  "/",
  "/map",
  "/tanks/:id",
  "/alerts",
  "/customers",
  "/customers/:id",
  "/devices",
  "/channels",
  "/keys",
  "/users",
  "/audit",
  "/account",
  "/sign-in",
] as const;

export type Path = (typeof PATHS)[number];
