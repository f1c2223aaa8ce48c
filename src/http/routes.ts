// All routes, and the schemas they refer to.

import type { Route } from "./route.ts";
import { customerRoutes, customerSchemas } from "./routes/customers.ts";
import { ingestRoutes, ingestSchemas } from "./routes/ingest.ts";
import { auditRoutes, auditSchemas } from "./routes/manage/audit.ts";
import { managedCustomerRoutes, managedCustomerSchemas } from "./routes/manage/customers.ts";
import { deviceRoutes, deviceSchemas } from "./routes/manage/devices.ts";
import { fleetRoutes, fleetSchemas } from "./routes/manage/fleet.ts";
import { keyRoutes, keySchemas } from "./routes/manage/keys.ts";
import { provisionRoutes, provisionSchemas } from "./routes/manage/provision.ts";
import { managedTankRoutes, managedTankSchemas } from "./routes/manage/tanks.ts";
import { operationRoutes } from "./routes/operations.ts";
import { tankRoutes, tankSchemas } from "./routes/tanks.ts";

export const ROUTES: readonly Route[] = [
  ...customerRoutes,
  ...tankRoutes,
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

export const SCHEMAS = {
  ...customerSchemas,
  ...tankSchemas,
  ...ingestSchemas,
  ...fleetSchemas,
  ...managedCustomerSchemas,
  ...managedTankSchemas,
  ...deviceSchemas,
  ...provisionSchemas,
  ...keySchemas,
  ...auditSchemas,
};
