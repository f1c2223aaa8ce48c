// All routes of the API, and the schemas they refer to.

import type { Schema } from "../domain/schema.ts";
import type { Route } from "./route.ts";
import * as account from "./routes/account.ts";
import * as alerts from "./routes/alerts.ts";
import * as auth from "./routes/auth.ts";
import * as forecasts from "./routes/forecasts.ts";
import * as ingest from "./routes/ingest.ts";
import * as insight from "./routes/insight.ts";
import * as manageAlerts from "./routes/manage/alerts.ts";
import * as audit from "./routes/manage/audit.ts";
import * as channels from "./routes/manage/channels.ts";
import * as customers from "./routes/manage/customers.ts";
import * as devices from "./routes/manage/devices.ts";
import * as keys from "./routes/manage/keys.ts";
import * as notifications from "./routes/manage/notifications.ts";
import * as provision from "./routes/manage/provision.ts";
import * as tanks from "./routes/manage/tanks.ts";
import * as users from "./routes/manage/users.ts";
import * as map from "./routes/map.ts";
import * as operations from "./routes/operations.ts";
import * as read from "./routes/read.ts";
import * as series from "./routes/series.ts";

type RouteModule = { readonly routes: readonly Route[]; readonly schemas?: Readonly<Record<string, Schema>> };

const MODULES: readonly RouteModule[] = [
  read,
  insight,
  map,
  forecasts,
  series,
  alerts,
  account,
  ingest,
  customers,
  tanks,
  devices,
  provision,
  manageAlerts,
  channels,
  notifications,
  keys,
  users,
  audit,
  auth,
  operations,
];

export const ROUTES: readonly Route[] = MODULES.flatMap(({ routes }) => routes);

export const SCHEMAS: Readonly<Record<string, Schema>> = Object.assign({}, ...MODULES.map(({ schemas }) => schemas));
