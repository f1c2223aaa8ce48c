// Keys of the demo. The one that it prints is the same at every start: it is kept in a file that only its owner can read.

import { hash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { ACTORS } from "../domain/actor.ts";
import { hashSecret, keyState, type Role } from "../domain/key.ts";
import type { Store } from "../domain/store.ts";
import { ManagementService } from "../http/management.ts";
import { databaseFiles } from "../store/open.ts";
import { printMessage } from "./output.ts";

const NAMES = { read: "demo", ingest: "demo devices" } as const;
/** Of a demo on a server; that of a SQLite database is beside it. */
const FOLDER = "data";

/** `file`: as `keyFile` returns it. */
export async function reusableReadKey(store: Store, file: string): Promise<string> {
  const secret = existsSync(file) ? readFileSync(file, "utf8").trim() : "";
  const known = await store.keyByHash(hashSecret(secret));
  if (known?.role === "read" && keyState(known, Date.now()) === "active") return secret;
  const fresh = await replaceKey(store, "read");
  try {
    mkdirSync(dirname(file), { recursive: true });
    rmSync(file, { force: true });
    writeFileSync(file, `${fresh}\n`, { mode: 0o600 });
  } catch (error) {
    printMessage(
      `The key cannot be stored, so the next start has another one (${error instanceof Error ? error.message : error}).`,
    );
  }
  return fresh;
}

/** Beside a SQLite database. Of a server, it is named by a hash of the URL without the password. */
export function keyFile(databaseUrl: string): string {
  const [database] = databaseFiles(databaseUrl);
  if (database !== undefined) return `${database}.key`;
  const name = databaseUrl.replaceAll(/(?<=^\w+:\/\/[^:/?#]*):[^/?#]*(?=@)|(?<=[?&]password=)[^&]*/g, "");
  return `${FOLDER}/demo-${hash("sha256", name).slice(0, 16)}.key`;
}

/** Replaces the key of an earlier run, whose secret nobody knows any more. */
export async function replaceKey(store: Store, role: Role & keyof typeof NAMES): Promise<string> {
  const name = NAMES[role];
  const manage = new ManagementService(store, Date.now);
  for (const old of await store.keyList()) {
    if (old.name === name && old.revoked_at === null) await manage.execute({ type: "revoke_key", id: old.id }, ACTORS.demo);
  }
  return (await manage.createKey({ name, role }, ACTORS.demo)).secret ?? "";
}
