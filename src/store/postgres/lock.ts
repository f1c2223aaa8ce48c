// A lock in the database, which the server releases when the connection ends.

import pg from "pg";
import { CONNECT_MS, withVerifiedTls } from "./connection.ts";
import { findServer, serverUrls } from "./servers.ts";

const TRY_LOCK = "SELECT pg_try_advisory_lock(5522219046) AS is_ours";

/** Undefined if another process has it. */
export async function lockPostgres(databaseUrl: string): Promise<AsyncDisposable | undefined> {
  const { url } = await findServer(serverUrls(databaseUrl));
  const connectionString = withVerifiedTls(url);
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: CONNECT_MS, keepAlive: true });
  // A lost connection ends the lock, not the program.
  client.on("error", () => {});
  await client.connect();
  const { rows } = await client.query<{ is_ours: boolean }>(TRY_LOCK);
  if (rows[0]?.is_ours === true) return { [Symbol.asyncDispose]: () => client.end() };
  await client.end();
  return undefined;
}
