// Stores: one folder an engine, each answering the whole port. This file alone knows which URL means which.

import { resolve } from "node:path";
import { Complaint } from "../domain/errors.ts";
import type { Observe } from "../domain/events.ts";
import type { Store } from "../domain/store.ts";
import { openSqlite } from "./sqlite/store.ts";

export async function openStore(url: string, observe: Observe): Promise<Store> {
  if (url.startsWith("sqlite:") && url.length > "sqlite:".length)
    return openSqlite(resolve(url.slice("sqlite:".length)), observe);
  throw new Complaint(`DATABASE_URL must be sqlite:FILE, such as sqlite:data/tank-monitor.db, not ${schemeOf(url)}`, 2);
}

/** A database URL can carry a password: only its kind is ever shown. */
function schemeOf(url: string): string {
  return /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0] ?? "a text without a scheme";
}
