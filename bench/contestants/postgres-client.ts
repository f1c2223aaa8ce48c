// Direct access to PostgreSQL.

import { Client, type Submittable } from "pg";
import { install, load } from "./packages.ts";

/** `rowCount` is set when it has finished. */
export type Copy = NodeJS.WritableStream & Submittable & { readonly rowCount: number };

export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

export async function copyStream(sql: string): Promise<Copy> {
  const folder = await install("copy", { "pg-copy-streams": "7.0.0" });
  return (await load<{ readonly from: (sql: string) => Copy }>(folder, "pg-copy-streams")).from(sql);
}
