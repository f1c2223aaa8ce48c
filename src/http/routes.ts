// The whole map of routes. The server mounts it, the command line dispatches to it, and the OpenAPI document is made from it.

import type { Route } from "./route.ts";
import { customerRoutes } from "./routes/customers.ts";
import { ingestRoutes } from "./routes/ingest.ts";
import { auditRoutes } from "./routes/manage/audit.ts";
import { managedCustomerRoutes } from "./routes/manage/customers.ts";
import { deviceRoutes } from "./routes/manage/devices.ts";
import { fleetRoutes } from "./routes/manage/fleet.ts";
import { keyRoutes } from "./routes/manage/keys.ts";
import { provisionRoutes } from "./routes/manage/provision.ts";
import { managedTankRoutes } from "./routes/manage/tanks.ts";
import { operationRoutes } from "./routes/operations.ts";
import { tankRoutes } from "./routes/tanks.ts";
import { telemetryRoutes } from "./routes/telemetry.ts";

export const ROUTES: readonly Route[] = [
  ...customerRoutes,
  ...tankRoutes,
  ...telemetryRoutes,
  ...ingestRoutes,
  ...fleetRoutes,
  ...managedCustomerRoutes,
  ...managedTankRoutes,
  ...deviceRoutes,
  ...provisionRoutes,
  ...keyRoutes,
  ...auditRoutes,
  ...operationRoutes,
];
