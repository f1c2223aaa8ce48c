// The OpenAPI 3.1 document, from the same routes, parameters and schemas that the server works with.

import { operationOf } from "./operation.ts";
import { ProblemObject } from "./problems.ts";
import { methodOf, type Route } from "./route.ts";
import { customerSchemas } from "./routes/customers.ts";
import { ingestSchemas } from "./routes/ingest.ts";
import { auditSchemas } from "./routes/manage/audit.ts";
import { managedCustomerSchemas } from "./routes/manage/customers.ts";
import { deviceSchemas } from "./routes/manage/devices.ts";
import { fleetSchemas } from "./routes/manage/fleet.ts";
import { keySchemas } from "./routes/manage/keys.ts";
import { provisionSchemas } from "./routes/manage/provision.ts";
import { managedTankSchemas } from "./routes/manage/tanks.ts";
import { tankSchemas } from "./routes/tanks.ts";
import { telemetrySchemas } from "./routes/telemetry.ts";

type Json = Readonly<Record<string, unknown>>;

const TAGS: readonly { readonly name: Route["tag"]; readonly description: string }[] = [
  { name: "Customers", description: "Account holders who own tanks" },
  { name: "Tanks", description: "Containers with a capacity, an alert threshold, a location and a device" },
  { name: "Telemetry", description: "Fill readings of a tank" },
  { name: "Ingestion", description: "Where devices and gateways send readings" },
  { name: "Management", description: "For the operator: customers, tanks, devices and keys are made, changed and deleted" },
  { name: "Operations", description: "For those who run the service" },
];

const SCHEMAS = {
  ...customerSchemas,
  ...tankSchemas,
  ...telemetrySchemas,
  ...ingestSchemas,
  ...fleetSchemas,
  ...managedCustomerSchemas,
  ...managedTankSchemas,
  ...deviceSchemas,
  ...provisionSchemas,
  ...keySchemas,
  ...auditSchemas,
};

export function openapiDocument(routes: readonly Route[], version: string): Json {
  const document = {
    openapi: "3.1.0",
    info: {
      title: "Tank Monitor",
      version,
      summary: "Customers, tanks and their fill levels",
      description:
        "How full is every tank, and which one needs a truck next? Under /v1 all operations are reads. List parameters travel in the query string, or as a form body of the same GET.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/", description: "This service" }],
    tags: TAGS.filter(({ name }) => routes.some(({ tag }) => tag === name)),
    security: [{ key: [] }],
    paths: pathsOf(routes),
    components: {
      securitySchemes: {
        key: { type: "apiKey", in: "header", name: "X-API-Key", description: "A key that the operator handed out" },
      },
      headers: {
        RequestId: { description: "The request's id, also in the service's log", schema: { type: "string" } },
        ETag: { description: "Send it back as If-None-Match to learn that nothing changed", schema: { type: "string" } },
      },
      schemas: { ...SCHEMAS, Problem: ProblemObject },
    },
  };
  return JSON.parse(JSON.stringify(document)) as Json;
}

/** One path may have several methods. */
function pathsOf(routes: readonly Route[]): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const path = templateOf(route.path);
    paths[path] = { ...paths[path], [methodOf(route).toLowerCase()]: operationOf(route) };
  }
  return paths;
}

function templateOf(path: string): string {
  return path.replace(/:(\w+)/g, "{$1}");
}
