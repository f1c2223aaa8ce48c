// What the management routes share: their definition, responses and idempotency keys.

import { hash } from "node:crypto";
import type { Command, IdempotencyKey } from "../../../domain/commands/command.ts";
import type { Resource } from "../../../domain/resource.ts";
import { instantField, integer, nullable, object, type Schema } from "../../../domain/schema.ts";
import type { UserRole } from "../../../domain/user.ts";
import { duration, type ParameterSet } from "../../parameters.ts";
import { type Method, type RequestContent, type Route, type RouteRequest, RouteResponse, route } from "../../route.ts";

type Definition<S extends ParameterSet> = Omit<Route<S>, "method" | "path" | "tag" | "requiredRole"> & {
  /** A role of users, because customers manage nothing. */
  readonly sessionRole: UserRole;
};

export function manageRoute<S extends ParameterSet>(method: Method, path: string, definition: Definition<S>): Route {
  return route({ ...definition, method, path, tag: "Management", requiredRole: "manage" });
}

type CommandDefinition<S extends ParameterSet> = Omit<Definition<S>, "handle"> & {
  readonly command: (request: RouteRequest<S>) => Command;
};

/** A route that executes a command on one object and responds with the object. It accepts If-Match unless `headers` are given. */
export function commandRoute<S extends ParameterSet>(method: Method, path: string, definition: CommandDefinition<S>): Route {
  const { command, ...rest } = definition;
  return manageRoute<S>(method, path, {
    headers: ["If-Match"],
    ...rest,
    async handle(request) {
      const { services, id, key } = request;
      const requested = path.replace(":id", () => id);
      const idempotencyKey = idempotencyKeyOf(requested, request);
      const { resource, replayed } = await services.management.execute(command(request), key.id, idempotencyKey);
      return resourceResponse(resource, replayed);
    },
  });
}

export const MERGE_PATCH = "A JSON merge patch: fields that are given change, `null` clears an optional field.";

/** A response with one object and its ETag. */
export const objectResponse = (schema: Schema, description: string) => ({ schema, description, etag: true as const });

export const resourceResponse = ({ object, etag }: Resource, replayed = false): RouteResponse =>
  new RouteResponse(200, object, { etag, ...(replayed && REPLAYED) });

export function createdResponse(path: string, { object, etag }: Resource, replayed: boolean): RouteResponse {
  const location = `${path}/${encodeURIComponent(String(object["id"]))}`;
  return new RouteResponse(201, object, { etag, location, ...(replayed && REPLAYED) });
}

export const REPLAYED = { "idempotency-replayed": "true" };

export function idempotencyKeyOf(path: string, { headers, body }: RequestContent): IdempotencyKey | undefined {
  const { idempotencyKey: key } = headers;
  if (key === undefined) return undefined;
  return { key, fingerprint: hash("sha256", `${path} ${JSON.stringify(body)}`, "hex") };
}

/** Executes the creation once per idempotency key. */
export async function create(path: string, request: RouteRequest, command: Command): Promise<RouteResponse> {
  const { services, key } = request;
  const { resource, replayed } = await services.management.execute(command, key.id, idempotencyKeyOf(path, request));
  return createdResponse(path, resource, replayed);
}

/** For how long an old secret remains valid after a rotation. */
export const overlapParameter = (description: string) => duration({ default: "24h", description }, 24 * 3_600_000);

/** Pending readings that a command released, under `released`. */
export const ReleasedReadings = nullable(
  object(
    {
      readings: integer({ minimum: 0, description: "Number of pending readings stored for the tank", examples: [12] }),
      rejected: integer({ minimum: 0, description: "Number of pending readings that were not readable", examples: [0] }),
      from: instantField("When the first of them was measured"),
      to: instantField("When the last of them was measured"),
    },
    { description: "The pending readings that this stored; null if there were none" },
  ),
);
