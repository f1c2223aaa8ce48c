// Requests of commands and their responses, the same on the local database and on a running service.

import { type Config, managementSettings } from "../config.ts";
import { ACTORS } from "../domain/actor.ts";
import type { FieldError } from "../domain/errors.ts";
import { KEY_DEFAULTS, UNRESTRICTED } from "../domain/key.ts";
import type { Store } from "../domain/store.ts";
import { isObject } from "../domain/validate.ts";
import type { Caller } from "../http/auth.ts";
import type { LocalResponse } from "../http/dispatch.ts";
import type { Method } from "../http/route.ts";
import { retryAfterSeconds } from "../simulate/http.ts";
import { clean } from "./output.ts";

export type Item = Readonly<Record<string, unknown>>;
export type QueryParameters = Readonly<Record<string, string | undefined>>;

export type ServiceRequest = {
  readonly method: Method;
  /** A path as `pathTo` returns it. */
  readonly path: string;
  readonly query?: QueryParameters;
  readonly body?: unknown;
  /** Creates something: sent with an idempotency key, so that a retry does not create it twice. */
  readonly sendsIdempotencyKey?: true;
  /** Not retried if the first attempt may have been executed. */
  readonly notIdempotent?: true;
};

export type ServiceResponse = LocalResponse;

/** The object in the response. Error responses are thrown as `ServiceError`, an unreachable service as `UserError`. */
export type Service = (request: ServiceRequest) => Promise<Item>;

export function pathTo(...parts: readonly string[]): string {
  return `/manage/v1/${parts.map(encodeURIComponent).join("/")}`;
}

export function queryString({ query = {} }: ServiceRequest): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return new URLSearchParams(given).toString();
}

/** An error response (RFC 9457). The message is its detail. */
export class ServiceError extends Error {
  readonly status: number;
  readonly code: string;
  readonly param: string | undefined;
  readonly errors: readonly FieldError[];
  readonly retryAfter: number | undefined;

  constructor(response: ServiceResponse) {
    const { status, body, cause } = response;
    const { detail, code, param, errors } = isObject(body) ? body : {};
    super(clean(typeof detail === "string" ? detail : `The response is HTTP ${status}.`), { cause });
    this.status = status;
    this.code = typeof code === "string" ? code : "";
    this.param = typeof param === "string" ? param : undefined;
    this.errors = Array.isArray(errors) ? errors.filter(isFieldError) : [];
    this.retryAfter = retryAfter(response);
  }
}

function isFieldError(value: unknown): value is FieldError {
  return isObject(value) && typeof value["field"] === "string" && typeof value["message"] === "string";
}

/** Seconds. */
export const retryAfter = ({ headers }: ServiceResponse): number | undefined => retryAfterSeconds(headers["retry-after"] ?? null);

export function itemIn(response: ServiceResponse): Item {
  if (response.status >= 300) throw new ServiceError(response);
  return isObject(response.body) ? response.body : {};
}

/** Without --url, its order and forecasts are updated before it is read, since perhaps no service is running. */
export const FLEET = "/insight/v1/fleet";

/** Whoever can open the database may do everything. The audit log has them under this name. */
const OPERATOR: Caller = {
  key: { ...KEY_DEFAULTS, id: ACTORS.commandLine, name: ACTORS.commandLine, role: "manage" },
  scope: UNRESTRICTED,
  session: null,
};

/** For messages that depend on settings. */
const SETTINGS_NOTE = "With the settings of this command (--url uses those of the service)";

/** Commands manage objects, and read alerts and the fleet. They send no readings, and only browsers sign in. */
function unused(): never {
  throw new Error("commands send no requests that need this");
}
const NO_INGEST = { readings: unused, chirpstack: unused, tts: unused };
const NO_SIGN_IN = { request: unused, inspect: unused, signInWithToken: unused, signInWithCode: unused };

export async function localService(store: Store, config: Config): Promise<Service> {
  // Loaded late: calls with wrong usage and calls to a remote service do without the routes.
  const [{ dispatch }, { ROUTES }, { ManagementService }] = await Promise.all([
    import("../http/dispatch.ts"),
    import("../http/routes.ts"),
    import("../http/management.ts"),
  ]);
  const management = new ManagementService(store, Date.now, { ...managementSettings(config), note: SETTINGS_NOTE });
  const services = { management, ingest: NO_INGEST, signIn: NO_SIGN_IN, warnings: unused, wholeMap: unused };
  const environment = { reads: store, metrics: { text: unused }, services, caller: OPERATOR };
  let updated: Promise<void> | undefined;
  return async (request) => {
    const { method, path, body } = request;
    if (path === FLEET) {
      updated ??= import("../forecast/local.ts").then(({ updateForecasts }) => updateForecasts(store));
      await updated;
    }
    return itemIn(await dispatch(ROUTES, environment, { method, path, query: queryString(request), body }));
  };
}
