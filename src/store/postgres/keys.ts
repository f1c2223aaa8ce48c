// Keys: looked up by the hash of their secret.

import type { KeyChange } from "../../domain/commands/command.ts";
import type { Instant } from "../../domain/instant.ts";
import type { Role, StoredKey } from "../../domain/key.ts";
import { type Db, type Row, statement } from "./connection.ts";
import { byId } from "./put.ts";

const SELECT = `
  SELECT k.id, k.name, k.role, k.customer_id, k.device_id, k.rate, k.created_at, k.expires_at, k.revoked_at,
    k.replaced_by, coalesce(c.deleted, false)
  FROM api_key k LEFT JOIN customer c ON c.id = k.customer_id`;

const BY_HASH = statement(`${SELECT} WHERE k.hash = $1`); // api_key's unique index on hash
const BY_ID = statement(`${SELECT} WHERE k.id = ANY ($1::text[])`);
const ALL = statement(`${SELECT} ORDER BY k.created_at DESC, k.id DESC`);
const INSERT = statement(
  `INSERT INTO api_key (id, hash, name, role, customer_id, device_id, rate, created_at, expires_at, revoked_at, replaced_by)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
);
const CHANGE = statement(
  "UPDATE api_key SET name = $2, rate = $3, expires_at = $4, revoked_at = $5, replaced_by = $6 WHERE id = $1",
);

function keyOf(row: Row): StoredKey {
  const [id, name, role, customer_id, device_id, rate, created_at, expires_at, revoked_at, replaced_by, customer_deleted] = row;
  return {
    id: id as string,
    name: name as string,
    role: role as Role,
    customer_id: customer_id as string | null,
    device_id: device_id as string | null,
    rate: rate as number | null,
    created_at: created_at as Instant,
    expires_at: expires_at as Instant | null,
    revoked_at: revoked_at as Instant | null,
    replaced_by: replaced_by as string | null,
    customer_deleted: customer_deleted as boolean,
  };
}

export function keyQuestions(db: Db) {
  return {
    async keyByHash(hash: string): Promise<StoredKey | undefined> {
      const [row] = await db.rows(BY_HASH, [hash]);
      return row === undefined ? undefined : keyOf(row);
    },
    keyList: async (): Promise<StoredKey[]> => (await db.rows(ALL)).map(keyOf),
  };
}

export async function knownKeys(db: Db, ids: readonly string[]): Promise<Map<string, StoredKey>> {
  return byId(ids, await db.rows(BY_ID, [ids]), keyOf);
}

/** Whom a key belongs to, and what it may do, stays. */
export async function writeKeys(db: Db, changes: readonly KeyChange[]): Promise<void> {
  for (const { before, after, hash } of changes) {
    const { id, name, role, customer_id, device_id, rate, created_at, expires_at, revoked_at, replaced_by } = after;
    if (before !== undefined) await db.rows(CHANGE, [id, name, rate, expires_at, revoked_at, replaced_by]);
    else {
      const made = [id, hash ?? null, name, role, customer_id, device_id, rate, created_at, expires_at, revoked_at, replaced_by];
      await db.rows(INSERT, made);
    }
  }
}
