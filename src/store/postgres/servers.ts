// The servers that DATABASE_URL names: one, or several of which one accepts writes, and another after a failover.

import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { UserError } from "../../domain/errors.ts";
import type { LogEvent } from "../../domain/log-events.ts";
import { CONNECT_MS, endClient, withVerifiedTls } from "./connection.ts";

/** `url` of one server. */
export type Server = { readonly url: string; readonly schema: string };

const SEARCH_INTERVAL_MS = 500;
const HOSTS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/;
const WRITABLE = ["read-write", "primary", "any"];

/** A URL for each host. */
export function serverUrls(databaseUrl: string): string[] {
  const [, start = "", hosts = "", end = ""] = HOSTS.exec(databaseUrl) ?? [];
  return hosts.split(",").map((host) => {
    if (!URL.canParse(`${start}${host}${end}`)) {
      throw new UserError("DATABASE_URL is not a URL: escape special characters in its password (%40 for @)", 2);
    }
    const url = `${start}${host}${end}`;
    const required = new URL(url).searchParams.get("target_session_attrs") ?? "any";
    if (WRITABLE.includes(required)) return url;
    throw new UserError(
      `DATABASE_URL must name the primary: target_session_attrs must be read-write, primary or any, not ${required}`,
      2,
    );
  });
}

/**
 * The schema of our tables: the first of the search path. Anybody who may create schemas can create one that has the name of our
 * role, which the default path begins with: it counts only if it belongs to us or an administrator, or if our tables are in it.
 */
const SCHEMA = `
  SELECT nspname FROM unnest(current_schemas(false)) WITH ORDINALITY AS path (name, place)
  JOIN pg_namespace ON nspname = name
  WHERE nspname <> current_user
    OR nspowner IN (SELECT oid FROM pg_roles WHERE rolsuper OR rolname = current_user)
    OR nspowner = (SELECT datdba FROM pg_database WHERE datname = current_database())
    OR EXISTS (SELECT FROM pg_class JOIN pg_roles ON pg_roles.oid = relowner
      WHERE relnamespace = pg_namespace.oid AND relname = 'tank_monitor' AND rolname = current_user)
  ORDER BY place LIMIT 1`;

/** Connects to the servers in turn, and returns the first; of several, the first that accepts writes. */
export async function findServer(urls: readonly string[]): Promise<Server> {
  const errors: unknown[] = [];
  for (const url of urls) {
    try {
      return { url, schema: await schemaOn(url, urls.length > 1) };
    } catch (error) {
      errors.push(error);
    }
  }
  throw cannotOpen(urls, errors);
}

/** One line for the operator, without the password. */
export function cannotOpen(urls: readonly string[], errors: readonly unknown[]): UserError {
  const known = errors.find((error) => error instanceof UserError);
  if (known !== undefined) return known;
  const reasons = urls.map(
    (url, i) => `the database ${new URL(url).host}${new URL(url).pathname} cannot be opened (${serverFailure(errors[i])})`,
  );
  return new UserError(`${reasons.join("; ")}. Check DATABASE_URL, and that PostgreSQL runs and accepts this user.`);
}

/** An error of several addresses has no message, only a code. */
export function serverFailure(error: unknown): string {
  const { message, code = "no response" } = error as NodeJS.ErrnoException;
  return message === "" ? code : message;
}

async function schemaOn(url: string, mustBeWritable: boolean): Promise<string> {
  // A pool would leave a connection open that fails because the password is missing.
  const connectionString = withVerifiedTls(url);
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: CONNECT_MS, query_timeout: CONNECT_MS });
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ transaction_read_only: string }>("SHOW transaction_read_only");
    if (mustBeWritable && rows[0]?.transaction_read_only !== "off") throw new Error("it is read-only");
    const [schema] = (await client.query<{ nspname: string }>(SCHEMA)).rows;
    if (schema === undefined) throw new UserError("no schema in the search_path of DATABASE_URL exists");
    return schema.nspname;
  } finally {
    await endClient(client);
  }
}

/** While the database is unavailable, looks for the server that accepts writes. */
export class ServerSearch {
  readonly #urls: readonly string[];
  readonly #onFound: (url: string) => void;
  readonly #lost = new Set<string>();
  #current: string;
  #searching: Promise<void> | undefined;

  constructor(urls: readonly string[], current: string, onFound: (url: string) => void) {
    this.#urls = urls;
    this.#current = current;
    this.#onFound = onFound;
  }

  observe({ kind }: LogEvent): void {
    const [, of = "", state] = /^(store|writes)_(unavailable|recovered)$/.exec(kind) ?? [];
    if (state === "recovered") this.#lost.delete(of);
    if (state !== "unavailable" || this.#urls.length === 1) return;
    this.#lost.add(of);
    this.#searching ??= this.#search().finally(() => {
      this.#searching = undefined;
    });
  }

  async close(): Promise<void> {
    this.#lost.clear();
    await this.#searching;
  }

  async #search(): Promise<void> {
    while (this.#lost.size > 0) {
      // The one in use comes first: a former primary may be back, and accept writes, too.
      const others = this.#urls.filter((url) => url !== this.#current);
      const found = await findServer([this.#current, ...others]).catch(() => undefined);
      if (found !== undefined && found.url !== this.#current && this.#lost.size > 0) {
        this.#current = found.url;
        this.#onFound(found.url);
      }
      await sleep(SEARCH_INTERVAL_MS);
    }
  }
}
